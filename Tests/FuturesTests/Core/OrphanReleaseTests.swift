import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// A future that only its own cancellation resolves.
private typealias Source = Future<Int, any Error>

extension Future {
  /// A stage that captures an object.
  fileprivate func using(_ captured: Tracked) -> Future {
    map { value in
      captured.use()
      return value
    }
  }
}

/// A pending future that its user keeps.
private enum Kept: CaseIterable, CustomTestStringConvertible, Sendable {
  case pending, never, follower, stage

  /// Returns the future with a permanent consumer, so that no departure cancels it.
  func make() -> Source {
    let future: Source =
      switch self {
      // The handler holds the promise until the cancellation.
      case .pending: Future { promise in promise.onCancel { withExtendedLifetime(promise) {} } }
      case .never: .never
      case .follower: Future { $0.follow(.never) }
      case .stage: Source.never.map { $0 }
      }
    future.whenResolved(on: .immediate) { _ in }
    return future
  }

  var testDescription: String {
    switch self {
    case .pending: "a pending promise"
    case .never: "never"
    case .follower: "a promise that follows never"
    case .stage: "a stage of never"
    }
  }
}

/// Tests of consumers that leave a future that never resolves.
struct OrphanReleaseTests {
  @Test(
    "R5, R16: detaching an operation from a kept future releases it and leaves no memory behind",
    arguments: Kept.allCases,
    Operation.leaving
  )
  fileprivate func leavesNothing(kept: Kept, operation: Operation) {
    let source = kept.make()
    weak var captured: Captured?
    do {
      let it = Surroundings()
      captured = it.captured
      it.captured.keep(operation.apply(source.using(Tracked()), it))
      it.captured.leave()
    }
    #expect(captured == nil)
    let left = leastBlocksLeft(count: 100) { count in
      for _ in 0..<count { operation.apply(source, Surroundings())() }
    }
    #expect(left <= 0 && !source.isResolved)
    source.cancel()
    #expect(throws: CancellationError.self) { try source.peek()?.get() }
  }

  @Test("R2a, R4: a context that drops the work of an orphan's stage, once the orphan is cancelled, breaks the stage")
  func droppedWork() {
    let never = Source.never
    let derived = never.recover(on: ExecutionContext { _ in }) { _ in 1 }
    never.cancel()
    #expect("\(derived)" == "Future(broken)")
  }

  @Test("R5: an operation that a token, a deadline, a winner or a failure ends leaves a future that never resolves")
  func lost() {
    let never = Source.never
    let (captured, _) = withTracked { object in
      let (it, winner, failing) = (Surroundings(), Promise<Int, any Error>(), Promise<Int, any Error>())
      @Sendable func stage() -> Source { never.using(object) }
      let ended = [
        stage().cancelled(by: it.tokens.token), stage().timeout(after: .seconds(1), on: it.context, fallback: 7),
        .race([stage(), winner.future]), .race([stage(), .succeeded(7)]),
        Source.all([stage(), failing.future]).map { $0[0] },
        Source.concurrent([0, 1], limit: 2) { $0 == 0 ? stage() : failing.future }.map { $0[0] },
      ]
      it.tokens.cancel()
      it.manual.advance(by: .seconds(1))
      winner.succeed(7)
      failing.fail(TestError())
      #expect(ended.allSatisfy { $0.isResolved })
    }
    #expect(captured.isReleased)
    #expect(!never.isResolved)
  }

  @Test("R5, R6: an orphan whose last handle goes away in deeply nested callbacks releases its callbacks")
  func deeplyNested() {
    let kept = Locked<Source?>(nil)
    let (captured, _) = withTracked { object in
      let future = Source { $0.follow(.never) }
      for _ in 0..<2 { future.whenResolved(on: .immediate) { _ in object.use() } }
      kept.withLock { $0 = future }
    }
    nestDeliveries(16) { _ = kept.withLock { $0.take() } }  // the maximum depth, so the release is deferred
    #expect(captured.isReleased)
  }

  @Test("R5: a cancelled stage of `never` is released, although its failure type has no cancelled case")
  func typed() {
    let never = Future<Int, TestError>.never
    let (captured, _) = withTracked { object in
      never.using(object).cancel()
      never.using(object).using(object).cancel()
      Future.race([never.using(object), .succeeded(1)]).cancel()
    }
    #expect(captured.isReleased)
    #expect(!never.isResolved)
  }

  @Test("R5, R16: a cancelled recover of never stays until never is cancelled or released", arguments: [true, false])
  func silent(isCancelled: Bool) {
    weak var captured: Tracked?
    do {
      let never = Source.never
      let recovered: Future<Int, Never>
      let materialized: Future<Result<Int, any Error>, Never>
      do {
        let object = Tracked()
        captured = object
        recovered = never.recover { _ in
          object.use()
          return 1
        }
        materialized = never.materialize()
      }
      recovered.cancel()
      materialized.cancel()
      #expect(captured != nil)
      #expect(!never.isResolved && !recovered.isResolved && !materialized.isResolved)
      if isCancelled {
        never.cancel()
        #expect(captured == nil)
        #expect(recovered.peek() == .success(1))
        #expect(throws: CancellationError.self) { try materialized.peek()?.get().get() }
      }
    }
    #expect(captured == nil)
  }

  @Test("R5: stages, callbacks and waiters of a broken promise are released, before and after it is dropped")
  func broken() {
    _ = brokenPromises(madeIn: #fileID) {
      weak var captured: Tracked?
      var promise: Promise<Int, TestError>? = Promise()
      let future = promise!.future
      for isBroken in [false, true] {
        do {
          let object = Tracked()
          captured = object
          if isBroken { promise = nil }
          future.using(object).using(object).whenResolved(on: .immediate) { _ in object.use() }
          future.using(object).cancel()
          future.whenResolved(on: .global()) { _ in object.use() }
          Future.all([future.using(object), .never]).whenResolved(on: .immediate) { _ in object.use() }
          _ = future.using(object).wait(timeout: .zero)
          promise = nil
        }
        #expect(captured == nil)
      }
    }
  }

  @Test("R5, R12: a join that breaks leaves its inputs that never resolve")
  func brokenJoin() {
    let never = Future<Int, TestError>.never
    let (captured, _) = withTracked { object in
      _ = Future.all([never.using(object), Promise().future])
      _ = Future.concurrent([0, 1], limit: 2) { $0 == 0 ? never.using(object) : Promise().future }
    }
    #expect(captured.isReleased)
  }

  @Test("R16: consumers that leave cancel a stage and a promise that never resolve, but not `never` itself")
  func cancelsUpwards() {
    let never = Source.never
    let notified = Recorder<Int>()
    let promise = Promise<Int, any Error>()
    promise.onCancel { notified.record(1) }
    let stage = never.map { $0 }
    promise.follow(stage)
    let derived = promise.future.map { $0 }
    let other = promise.future.map { $0 }
    derived.cancel()
    #expect(derived.isResolved && !promise.isResolved && notified.events == [])
    other.cancel()
    #expect(promise.isResolved && stage.isResolved && notified.events == [1])
    #expect(!never.isResolved)
  }

  /// Ways to join a future; each returns a closure that cancels the join.
  private static let joins: [@Sendable (Source) -> () -> Void] = [
    { Source.all([$0, Self.pending.future.shielded]).cancel },
    { Source.all([$0, $0]).cancel },
    { Source.allSettled([$0, Self.pending.future.shielded]).cancel },
    { Source.allSettled([$0, .never]).cancel },
    { Source.race([$0, Self.pending.future.shielded]).cancel },
    { source in Source.concurrent([0, 1], limit: 2) { $0 == 0 ? source : Self.pending.future.shielded }.cancel },
    { source in Source.concurrent([0, 1], limit: 2) { $0 == 0 ? source : .never }.cancel },
    { $0.map { $0 }.cancel },
  ]

  // Outlives the tests.
  private static let pending = Promise<Int, any Error>()

  @Test("R16: a cancelled join does not cancel a future that another consumer has", arguments: [true, false])
  func joins(isOrphanBefore: Bool) {
    for (first, second) in Self.joins.flatMap({ first in Self.joins.map { (first, $0) } }) {
      let notified = Recorder<Int>()
      let promise = Promise<Int, any Error>()
      promise.onCancel { notified.record(1) }
      let source = promise.future
      if isOrphanBefore { promise.follow(Source.never.map { $0 }) }
      let cancels = [first(source), second(source)]
      if !isOrphanBefore { promise.follow(Source.never.map { $0 }) }
      cancels[0]()
      #expect(!source.isResolved && notified.events == [])
      cancels[1]()
      #expect(source.isResolved && notified.events == [1])
      withExtendedLifetime(promise) {}
    }
  }

  @Test("R16: a released join does not keep a future that never resolves from its cancellation")
  func releasedJoin() {
    let source = Source.never.map { $0 }
    let stage = source.map { $0 }
    _ = Source.all([source, source])
    stage.cancel()
    #expect(source.isResolved)
  }

  @Test(
    "R12, R16: a timeout whose source never resolves, and was released, can be cancelled; without a cancelled case it ends"
  )
  func timeoutWithoutSource() {
    let manual = ManualContext()
    let open = Source.never.map { $0 }.timeout(after: .seconds(1), on: manual.context, fallback: 3)
    let typed = Future<Int, TestError>.never.map { $0 }.timeout(after: .seconds(1), on: manual.context, fallback: 3)
    open.cancel()
    typed.cancel()
    #expect(isCancelled(open) && !typed.isResolved && manual.pendingCount == 1)
    manual.advance(by: .seconds(1))
    #expect(typed.peek() == .success(3))
  }

  @Test("R15: cancelling never still cancels its derived futures, and an orphan outlives never")
  func downwards() {
    var never: Source? = Source.never
    let stage = never?.map { $0 }.flatMap { .succeeded($0) }
    never?.cancel()
    #expect(throws: CancellationError.self) { try stage?.peek()?.get() }
    never = .never
    let orphan = never?.map { $0 }
    let joined = Source.all([orphan!, orphan!])
    never = nil
    joined.cancel()
    #expect(joined.isResolved && orphan?.isResolved == true)
  }
}
