import Futures
import FuturesTesting
import TestSupport
import Testing

/// Cancellation under real threads, for ThreadSanitizer: each round checks facts that hold for every winner.
///
/// Every handler, callback, transform and value of a round holds one object, which must be released after the round.
struct CancellationRaceTests {
  static let rounds = TestTier.choose(standard: 100, thorough: 300)

  /// Runs rounds of a race, each with an object that must be released after the round.
  static func rounds(_ count: Int = rounds, _ body: (Tracked) throws -> Void) rethrows {
    for round in 0..<count {
      weak var left: Tracked?
      do {
        let object = Tracked()
        left = object
        try body(object)
      }
      guard left == nil else {
        Issue.record("round \(round) did not release its object")
        return
      }
    }
  }

  /// Like `race`, but releases each body before this function returns.
  ///
  /// After `race`, a thread can keep its closure a moment longer.
  static func race(_ bodies: [@Sendable () -> Void]) {
    TestSupport.race(
      bodies.map { body in
        let slot = Locked<(@Sendable () -> Void)?>(body)
        return { slot.withLock { $0.take() }?() }
      }
    )
  }

  /// The state or the end of a future.
  enum End: Equatable { case pending, value, cancelled, broken, timedOut, other }

  static func end<Value, Failure: Error>(of future: Future<Value, Failure>) -> End {
    switch future.peek() {
    case nil: .pending
    case .success: .value
    case .failure(let error):
      switch error {
      case is CancellationError: .cancelled
      case is BrokenPromise: .broken
      case is TimeoutError: .timedOut
      default: .other
      }
    }
  }

  typealias Value = Tracked

  @Test("R15: a handler that is added while the future is cancelled runs exactly once", arguments: [false, true])
  func handlerAddedDuringCancellationRunsOnce(hasHandler: Bool) throws {
    try Self.rounds { object in
      let notified = Recorder<Int>()
      let promise = Promise<Int, TestError>()
      let future = promise.future
      if hasHandler { promise.onCancel { object.use() } }
      Self.race([
        { future.cancel() },
        {
          for number in 0..<4 {
            promise.onCancel {
              object.use()
              notified.record(number)
            }
          }
        },
        { _ = promise.cancellationToken },
      ])
      try #require(notified.events.sorted() == [0, 1, 2, 3] && promise.cancellationToken.isCancelled)
    }
  }

  @Test("R16: when several consumers leave at once, the last one stops the source, once")
  func lastOfSeveralLeavingConsumersStopsSource() throws {
    try Self.rounds { object in
      let notified = Recorder<Int>()
      let promise = Promise<Int, any Error>()
      promise.onCancel {
        object.use()
        notified.record(1)
      }
      let source = promise.future
      let derived = (0..<4).map { _ in source.map { $0 } }
      Self.race(derived.map { future in { future.cancel() } })
      try #require(notified.events == [1])
      try #require(([source] + derived).map { Self.end(of: $0) } == Array(repeating: .cancelled, count: 5))
    }
  }

  @Test("R14: linking races with the cancellation of the parent; the source is cancelled and its handlers run once")
  func linkRacesWithParentCancellation() throws {
    let (free, count) = (CancellationTokenSource().token, Self.rounds * 4)
    try Self.rounds(count) { object in
      let runs = Recorder<Int>()
      let (parent, other) = (CancellationTokenSource(), CancellationTokenSource())
      let linked = Locked<[CancellationTokenSource]>([])
      let (first, second) = (parent.token, other.token)
      Self.race([
        { parent.cancel() },
        {
          for number in 0..<8 {
            let source = CancellationTokenSource(linkedTo: free, second, free, first)
            source.token.register {
              object.use()
              runs.record(number)
            }
            linked.withLock { $0.append(source) }
          }
        },
        {
          for number in 8..<16 {
            CancellationToken.any(free, first, second).register {
              object.use()
              runs.record(number)
            }
          }
        },
      ])
      try #require(linked.withLock { $0 }.map(\.isCancelled) == Array(repeating: true, count: 8))
      try #require(runs.events.sorted() == Array(0..<16))
      other.cancel()
    }
  }

  @Test("R12: a firing timeout races with the resolution and the cancellation")
  func firingTimeoutRacesWithResolutionAndCancellation() throws {
    try Self.rounds { object in
      let manual = ManualContext()
      let (notified, runs) = (Recorder<Int>(), Recorder<Int>())
      let promise = Promise<Value, any Error>()
      promise.onCancel {
        object.use()
        notified.record(1)
      }
      let (source, future) = (promise.future, promise.future.timeout(after: .seconds(1), on: manual.context))
      future.whenResolved(on: .immediate) { _ in
        object.use()
        runs.record(1)
      }
      Self.race([{ manual.advance(by: .seconds(1)) }, { promise.succeed(object) }, { future.cancel() }])
      let end = Self.end(of: future)
      try #require([.value, .cancelled, .timedOut].contains(end) && runs.events == [1])
      try #require(manual.pendingCount == 0 && notified.events.count <= 1)
      try #require(Self.end(of: source) == .value || notified.events == [1] && end != .value)
    }
  }

  typealias Join = @Sendable ([Future<Tracked, any Error>]) -> Future<Tracked, any Error>

  static let joins: [Join] = [
    { Future.all($0).map { $0[0] } }, { Future.race($0) }, { Future.firstSuccess($0).mapError { $0 } },
    { all in Future.concurrent([0, 1, 2], limit: 2) { all[$0] }.map { $0[0] } },
    { all in Future.serial([0, 1, 2]) { all[$0] }.map { $0[0] } },
    { Future.zip($0[0], $0[1], $0[2]).map { $0.0 } },
  ]

  @Test("R12: a join that is cancelled while its inputs are resolved leaves each of them", arguments: joins.indices)
  func cancelledJoinLeavesEachInput(index: Int) throws {
    try Self.rounds { object in
      let (notified, runs) = (Recorder<Int>(), Recorder<Int>())
      let promises = (0..<3).map { _ in Promise<Value, any Error>() }
      for (number, promise) in promises.enumerated() {
        promise.onCancel {
          object.use()
          notified.record(number)
        }
      }
      let joined = Self.joins[index](promises.map(\.future))
      joined.whenResolved(on: .immediate) { _ in
        object.use()
        runs.record(1)
      }
      Self.race([
        { joined.cancel() },
        {
          promises[0].succeed(object)
          promises[1].succeed(object)
        },
        { promises[2].succeed(object) },
      ])
      try #require(runs.events == [1])
      try #require([.value, .cancelled].contains(Self.end(of: joined)))
      try #require(Set(notified.events).count == notified.events.count)
      for (number, promise) in promises.enumerated() {
        let end = Self.end(of: promise.future)
        try #require(end == .value || end == .cancelled && notified.events.contains(number))
      }
    }
  }

  @Test("R17: cancelling a recursion cancels its running step exactly once and ends the recursion")
  func cancelledRecursionStopsRunningStep() throws {
    let depth = 1_000
    try Self.rounds(Self.rounds / 5) { object in
      let (made, notified, succeeded) = (Locked(0), Locked(0), Locked(0))
      let steps = Locked<[Promise<Int, any Error>]>([])
      @Sendable func f(_ n: Int) -> Future<Int, any Error> {
        guard n > 0 else { return .succeeded(0) }
        let step = Promise<Int, any Error>()
        step.onCancel {
          object.use()
          notified.withLock { $0 += 1 }
        }
        made.withLock { $0 += 1 }
        steps.withLock { $0.append(step) }
        return step.future.flatMap { _ in f(n - 1) }
      }
      let future = f(depth)
      let resolveSteps = { @Sendable in
        while let step = steps.withLock({ $0.popLast() }) { if step.succeed(1) { succeeded.withLock { $0 += 1 } } }
      }
      Self.race([
        resolveSteps,
        {
          while made.withLock({ $0 }) < depth / 2 {}
          future.cancel()
        },
      ])
      resolveSteps()
      let count = made.withLock { $0 }
      let (notifiedCount, succeededCount) = (notified.withLock { $0 }, succeeded.withLock { $0 })
      if Self.end(of: future) == .cancelled {
        // The running step was cancelled, except if it had ended and the next step had not started.
        try #require(notifiedCount <= 1 && notifiedCount + succeededCount >= count && count <= depth)
      } else {
        try #require(Self.end(of: future) == .value && count == depth && succeededCount == depth)
        try #require(notifiedCount <= 1)
      }
    }
  }
}
