import Futures
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
}
