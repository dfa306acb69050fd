import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// A future that only its own cancellation resolves.
private typealias Source = Future<Int, any Error>

/// A way to attach to a future that never resolves, and to detach again.
private struct Departure: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let run: @Sendable (_ source: Source, _ captured: Tracked) -> Void

  init(_ name: String, _ run: @escaping @Sendable (Source, Tracked) -> Void) {
    testDescription = name
    self.run = run
  }

  /// Cancels a future that is derived from a stage of the source.
  init<Value, Failure>(
    cancelling name: String,
    _ derive: @escaping @Sendable (_ stage: Source, _ captured: Tracked) -> Future<Value, Failure>
  ) {
    self.init(name) { source, captured in derive(source.using(captured), captured).cancel() }
  }

  static let all: [Departure] = removed + cancelled + lost

  private static let removed = [
    Departure("a callback") { source, captured in
      source.whenResolved(on: .immediate) { _ in captured.use() }.remove()
    },
    Departure("a callback on a context") { source, captured in
      source.whenResolved(on: .global()) { _ in captured.use() }.remove()
    },
    Departure("a listener to the progress") { source, captured in
      source.whenProgressed(on: .immediate) { _ in captured.use() }.remove()
    },
    Departure("a blocked thread") { source, _ in _ = source.wait(timeout: .zero) },
  ]

  private static let cancelled = [
    Departure(cancelling: "map") { stage, _ in stage },
    Departure(cancelling: "map, twice") { stage, captured in stage.using(captured) },
    Departure(cancelling: "map on a context") { stage, captured in
      stage.map(on: .global()) { value -> Int in
        captured.use()
        return value
      }
    },
    Departure(cancelling: "flatMap") { stage, captured in
      stage.flatMap { value -> Source in
        captured.use()
        return .succeeded(value)
      }
    },
    Departure(cancelling: "a stage that flatMap returns") { stage, _ in
      Source.succeeded(1).map { $0 }.flatMap { _ in stage }
    },
    Departure(cancelling: "tap") { stage, captured in stage.tap(on: .immediate) { _ in captured.use() } },
    Departure(cancelling: "delay") { stage, _ in stage.delay(by: .seconds(1000)) },
    Departure(cancelling: "mapError") { stage, captured in
      stage.mapError { error -> any Error in
        captured.use()
        return error
      }
    },
    Departure(cancelling: "timeout") { stage, captured in
      stage.timeout(
        after: .seconds(1000),
        on: manual.context,
        fallback: {
          captured.use()
          return 1
        }()
      )
    },
    Departure(cancelling: "cancelled(by:)") { stage, _ in stage.cancelled(by: CancellationTokenSource().token) },
    Departure(cancelling: "all") { stage, _ in Source.all([stage, stage]) },
    Departure(cancelling: "all with one that is pending") { stage, _ in Source.all([stage, pending.future]) },
    Departure(cancelling: "zip") { stage, _ in Future.zip(stage, stage) },
    Departure(cancelling: "allSettled") { stage, _ in Source.allSettled([stage]) },
    Departure(cancelling: "race") { stage, _ in Source.race([stage, stage.using(Tracked())]) },
    Departure(cancelling: "serial") { stage, _ in Source.serial([1, 2]) { _ in stage } },
    Departure(cancelling: "concurrent") { stage, _ in Source.concurrent([1, 2], limit: 3) { _ in stage } },
    Departure(cancelling: "retry") { stage, _ in Source.retry(attempts: 2) { stage } },
    Departure(cancelling: "a promise that follows") { stage, _ in Source { $0.follow(stage) } },
    Departure("shared work") { source, captured in
      let shared = PendingPromises<Int, Int, any Error>()
      shared.future(sharing: 1) { source.using(captured) }.cancel()
      withExtendedLifetime(shared) {}
    },
    Departure("a stage of a shielded view") { source, captured in source.shielded.using(captured).cancel() },
  ]

  // These outlive the tests.
  private static let pending = Promise<Int, any Error>()
  private static let manual = ManualContext()

  private static let lost = [
    Departure("a token") { source, captured in
      let token = CancellationTokenSource()
      let derived = source.using(captured).cancelled(by: token.token)
      token.cancel()
      #expect(derived.isResolved)
    },
    Departure("a callback of a token") { source, captured in
      let token = CancellationTokenSource()
      source.forward(on: .immediate, cancelledBy: token.token) { (_: Result<Int, any Error>) in captured.use() }
      token.cancel()
    },
    Departure("a timeout that fires") { source, captured in
      let manual = ManualContext()
      let derived = source.using(captured).timeout(after: .seconds(1), on: manual.context, fallback: 7)
      manual.advance(by: .seconds(1))
      #expect((try? derived.peek()?.get()) == 7)
    },
    Departure("a lost race") { source, captured in
      let winner = Promise<Int, any Error>()
      let race = Source.race([source.using(captured), winner.future])
      winner.succeed(7)
      #expect((try? race.peek()?.get()) == 7)
    },
    Departure("a race that is won already") { source, captured in
      #expect((try? Source.race([source.using(captured), .succeeded(7)]).peek()?.get()) == 7)
    },
    Departure("a join that fails") { source, captured in
      let failing = Promise<Int, any Error>()
      let all = Source.all([source.using(captured), failing.future])
      let queue = Source.concurrent([0, 1], limit: 2) { $0 == 0 ? source.using(captured) : failing.future }
      failing.fail(TestError())
      #expect(all.isResolved && queue.isResolved)
    },
  ]
}

extension Future {
  /// A stage that captures an object.
  fileprivate func using(_ captured: Tracked) -> Future {
    map { value in
      captured.use()
      return value
    }
  }
}

/// A future that never resolves, and that its user keeps.
private enum Kept: CaseIterable, CustomTestStringConvertible, Sendable {
  case never, follower, stage

  /// Returns the future with a permanent consumer, so that no departure cancels it.
  func make() -> Source {
    let future: Source =
      switch self {
      case .never: .never
      case .follower: Future { $0.follow(.never) }
      case .stage: Source.never.map { $0 }
      }
    future.whenResolved(on: .immediate) { _ in }
    return future
  }

  var testDescription: String {
    switch self {
    case .never: "never"
    case .follower: "a promise that follows never"
    case .stage: "a stage of never"
    }
  }
}

@Suite("R5: consumers that leave a future that never resolves")
struct OrphanReleaseTests {
  @Test("R5, R16: detaching from a kept future leaves no memory behind", arguments: Kept.allCases, Departure.all)
  fileprivate func leavesNothing(kept: Kept, departure: Departure) {
    let source = kept.make()
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      departure.run(source, object)
    }
    #expect(captured == nil)
    let object = Tracked()
    let left = leastBlocksLeft(count: 100) { count in
      for _ in 0..<count { departure.run(source, object) }
    }
    #expect(left <= 0)
    #expect(!source.isResolved)
    source.cancel()
    #expect(throws: CancellationError.self) { try source.peek()?.get() }
  }

  @Test("R5: a cancelled stage of `never` is released, although its failure type has no cancelled case")
  func typed() {
    let never = Future<Int, TestError>.never
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      never.using(object).cancel()
      never.using(object).using(object).cancel()
      Future.race([never.using(object), .succeeded(1)]).cancel()
    }
    #expect(captured == nil)
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
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      _ = Future.all([never.using(object), Promise().future])
      _ = Future.concurrent([0, 1], limit: 2) { $0 == 0 ? never.using(object) : Promise().future }
    }
    #expect(captured == nil)
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

  @Test("R12, R16: a join that fails leaves a future that never resolves, which the last consumer then cancels")
  func failedJoin() {
    let source = Source.never.map { $0 }
    let stage = source.map { $0 }
    let failing = Promise<Int, any Error>()
    let joined = Source.all([source, failing.future])
    failing.fail(TestError())
    #expect(joined.isResolved && !source.isResolved)
    stage.cancel()
    #expect(source.isResolved)
  }

  @Test("R16: a released join does not keep a future that never resolves from its cancellation")
  func releasedJoin() {
    let source = Source.never.map { $0 }
    let stage = source.map { $0 }
    _ = Source.all([source, source])
    stage.cancel()
    #expect(source.isResolved)
  }

  @Test("R16: a shielded view of a stage that never resolves does not cancel it")
  func shielded() {
    let stage = Source.never.map { $0 }
    let view = stage.shielded
    let derived = stage.shielded.map { $0 }
    view.cancel()
    derived.cancel()
    #expect(view.isResolved && derived.isResolved && !stage.isResolved)
  }

  @Test("R16: a cancelled timeout of never without a cancelled case still ends")
  func silentTimeout() {
    let manual = ManualContext()
    let late = Future<Int, TestError>.never.timeout(after: .seconds(1), on: manual.context, fallback: 3)
    late.cancel()
    #expect(!late.isResolved)
    manual.advance(by: .seconds(1))
    #expect(late.peek() == .success(3))
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
