import Futures
import FuturesTesting
import TestSupport
import Testing

struct FollowingTests {
  @Test("R2: a future that moves on in the place of a dropped promise keeps that place among the derived futures")
  func dropKeepsOrder() {
    let source = Promise<Int, Never>()
    let last = Promise<Int, Never>()
    let log = Recorder<Int>()
    source.future.map { $0 }.whenSucceeded(on: .immediate) { _ in log.record(1) }
    do {
      let dropped = Promise<Int, Never>()
      last.follow(dropped.future)
      dropped.follow(source.future)
      source.future.map { $0 }.whenSucceeded(on: .immediate) { _ in log.record(3) }
    }
    last.future.whenSucceeded(on: .immediate) { _ in log.record(2) }
    source.succeed(0)
    #expect(log.events == [1, 2, 3])
  }

  @Test(
    "Dropping promises that follow each other in a circle releases them",
    arguments: [2, 3, 10]
  )
  func circleOfFollowersIsReleased(count: Int) {
    func makeCircle() {
      let promises = (0..<count).map { _ in Promise<Int, any Error>() }
      for index in 0..<count { promises[index].follow(promises[(index + 1) % count].future) }
    }
    #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { makeCircle() } } <= 0)
  }

  @Test("R2a: resolving either future, following twice and attaching agree with the model in every order")
  func everyOrderOfFollowing() {
    enum Event: CaseIterable { case follow, followOther, resolveFollower, resolveSource, attach, dropFollower }
    for order in permutations(of: Event.allCases) {
      let source = Promise<Int, TestError>()
      let other = Promise<Int, TestError>()
      other.succeed(99)
      var follower: Promise<Int, TestError>? = Promise()
      let future = follower!.future
      let log = Recorder<Int>()
      var expected: Int?
      var isFollowing = false
      for event in order {
        switch event {
        case .follow:
          guard let follower else { continue }
          follower.follow(source.future)
          if expected == nil, !isFollowing {
            isFollowing = true
            if source.isResolved { expected = 1 }
          }
        case .followOther:
          guard let follower else { continue }
          follower.follow(other.future)
          if expected == nil, !isFollowing { expected = 99 }
        case .resolveFollower:
          guard let follower else { continue }
          let wins = expected == nil && !isFollowing
          #expect(follower.succeed(2) == wins, "\(order)")
          if wins { expected = 2 }
        case .resolveSource:
          source.succeed(1)
          if isFollowing, expected == nil { expected = 1 }
        case .attach:
          future.whenSucceeded(on: .immediate) { log.record($0) }
        case .dropFollower: _ = brokenPromises(madeIn: #fileID) { follower = nil }
        }
        #expect(future.peek() == expected.map { .success($0) }, "\(order)")
        #expect(future.isResolved == (expected != nil), "\(order)")
      }
      #expect(log.events == (expected.map { [$0] } ?? []), "\(order)")
    }
  }
}
