import Futures
import FuturesTesting
import TestSupport
import Testing

/// Compares every order of the events of one future with a model.
///
/// Each event is one step under the lock of the state. A delivery has as many steps as callbacks; `ObservingTests` and
/// `RegistrationTests` put other events between these. So the orders of the events are all interleavings that threads
/// can produce.
struct InterleavingTests {
  enum Event: CaseIterable, Sendable {
    case attachA, attachB, removeA, succeed, fail, dropPromise
  }

  /// A minimal model of a correct future.
  struct Model {
    var result: Result<Int, TestError>?
    var attached: [String] = []
    var log: [String] = []
    var isDropped = false

    mutating func attach(_ name: String) {
      if let result { log.append("\(name) \(result)") } else if !isDropped { attached.append(name) }
    }

    mutating func resolve(_ result: Result<Int, TestError>) -> Bool {
      guard self.result == nil, !isDropped else { return false }
      self.result = result
      log += attached.map { "\($0) \(result)" }
      attached = []
      return true
    }

    mutating func remove(_ name: String) -> Bool {
      defer { attached.removeAll { $0 == name } }
      return attached.contains(name)
    }
  }

  @Test("R1, R2, R4, R5, R7: attaching, removing, resolving twice and dropping agree with the model in every order")
  func everyOrder() {
    for order in permutations(of: Event.allCases) { run(order) }
  }

  private func run(_ order: [Event]) {
    var model = Model()
    let log = Recorder<String>()
    var promise: Promise<Int, TestError>? = Promise()
    let future = promise!.future
    var registrationA: Registration?
    weak var capturedByB: Tracked?
    for event in order {
      switch event {
      case .attachA:
        registrationA = future.whenResolved(on: .immediate) { log.record("A \($0)") }
        model.attach("A")
      case .attachB:
        let object = Tracked()
        capturedByB = object
        future.whenResolved(on: .immediate) {
          object.use()
          log.record("B \($0)")
        }
        model.attach("B")
      case .removeA:
        if let registrationA {
          let expected = model.remove("A")
          // A callback of a broken promise was released unrun. The result of removing it does not matter.
          let answer = registrationA.remove()
          if !model.isDropped || model.result != nil { #expect(answer == expected, "\(order)") }
        }
      case .succeed:
        if let promise { #expect(promise.succeed(1) == model.resolve(.success(1)), "\(order)") }
      case .fail:
        if let promise { #expect(promise.fail(TestError(2)) == model.resolve(.failure(TestError(2))), "\(order)") }
      case .dropPromise:
        _ = brokenPromises(madeIn: #fileID) { promise = nil }
        model.isDropped = true
        if model.result == nil { model.attached = [] }
      }
      #expect(log.events == model.log, "\(order)")
      #expect(future.peek() == model.result, "\(order)")
      #expect(future.isResolved == (model.result != nil), "\(order)")
      #expect((capturedByB != nil) == model.attached.contains("B"), "\(order)")
    }
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
      var isEnded = false
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
        case .dropFollower:
          _ = brokenPromises(madeIn: #fileID) { follower = nil }
          if expected == nil, !isFollowing { isEnded = true }
        }
        #expect(future.peek() == expected.map { .success($0) }, "\(order)")
        #expect(future.isResolved == (expected != nil), "\(order)")
        _ = isEnded
      }
      #expect(log.events == (expected.map { [$0] } ?? []), "\(order)")
    }
  }
}
