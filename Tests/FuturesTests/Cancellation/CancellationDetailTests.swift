import AllocationCounter
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of R15, R16 and R17 in detail.
struct CancellationDetailTests {
  let producers = CancellationFlowTests.Producers()
  var notified: [String] { producers.cancelled.events }
  let log = Recorder<String>()

  func open(_ name: String) -> Promise<Int, any Error> { producers.promise(name) }
  func typed(_ name: String) -> Promise<Int, TestError> { producers.promise(name, TestError.self) }

  // MARK: - R15: the producer

  @Test("R15: the future keeps the result of an onCancel handler, and later handlers still run")
  func handlerResultIsKept() {
    func check<Failure: Error>(_ result: Result<Int, Failure>, is expected: (Result<Int, Failure>?) -> Bool) {
      let promise = Promise<Int, Failure>()
      let log = Recorder<Int>()
      let answers = Recorder<Bool>()
      promise.onCancel { [weak promise] in answers.record(promise?.resolve(result) == true) }
      promise.onCancel { [weak promise] in answers.record(promise?.resolve(result) == true) }
      let derived = promise.future.map { $0 }
      promise.future.whenResolved(on: .immediate) { _ in log.record(1) }
      promise.future.cancel()
      #expect(expected(promise.future.peek()) && expected(derived.peek()))
      #expect(answers.events == [true, false])
      #expect(log.events == [1] && promise.cancellationToken.isCancelled)
    }
    func isOne<Failure>(_ result: Result<Int, Failure>?) -> Bool { (try? result?.get()) == 1 }
    func isError<Failure>(_ result: Result<Int, Failure>?) -> Bool { result?.failure is TestError }
    check(Result<Int, any Error>.success(1), is: isOne)
    check(Result<Int, any Error>.failure(TestError(1)), is: isError)
    check(Result<Int, TestError>.success(1), is: isOne)
    check(Result<Int, TestError>.failure(TestError(1)), is: isError)
    check(Result<Int, Never>.success(1), is: isOne)
    check(Result<Int, CancellableTestError>.failure(.other)) { $0?.failure == .other }
  }

  @Test("R4, R15: a promise that its stopped work drops is cancelled, not broken")
  func droppedPromiseOfStoppedWorkIsCancelled() {
    func check<Failure: Error>(_: Failure.Type, is expected: @escaping @Sendable (Failure) -> Bool) {
      let (log, handlers) = (Recorder<Bool>(), Recorder<Int>())
      let held = Locked<Promise<Int, Failure>?>(Promise())
      guard let future = held.withLock({ $0?.future }) else { return }
      held.withLock { $0 }?.onCancel { _ = held.withLock { $0.take() } }
      held.withLock { $0 }?.onCancel { handlers.record(future.isResolved ? 1 : 0) }
      future.whenFailed(on: .immediate) { log.record(expected($0)) }
      future.cancel()
      #expect(log.events == [true] && handlers.events == [0])
    }
    check((any Error).self) { $0 is CancellationError }
    check(CancellationError.self) { _ in true }
    check(CancellableTestError.self) { $0 == .cancelled }
  }

  @Test("R15: a pending promise has one token; cancelling the future cancels the token, resolving does not")
  func promiseHasOneToken() {
    let promise = Promise<Int, any Error>()
    let token = promise.cancellationToken
    #expect(token == promise.cancellationToken && token != Promise<Int, any Error>().cancellationToken)
    #expect(!token.isCancelled)
    promise.succeed(1)
    promise.future.cancel()
    #expect(!token.isCancelled && !promise.cancellationToken.isCancelled)
    let other = Promise<Int, any Error>()
    let before = other.cancellationToken
    other.future.cancel()
    #expect(before.isCancelled && other.cancellationToken.isCancelled)
  }

  @Test("R15: a handler of a promise or its token that is added after the cancellation runs at once, for every failure")
  func lateHandlerRunsAtOnce() {
    func check<Failure: Error>(_: Failure.Type, _ name: String) {
      for hasHandler in [false, true] {
        let promise = Promise<Int, Failure>()
        let log = Recorder<Int>()
        if hasHandler { promise.onCancel {} }
        promise.future.cancel()
        promise.onCancel { log.record(1) }
        #expect(log.events == [1], "\(name), \(hasHandler)")
        #expect(promise.cancellationToken.isCancelled, "\(name), \(hasHandler)")
        promise.cancellationToken.register { log.record(2) }
        promise.succeed(1)
        promise.onCancel { log.record(3) }
        #expect(log.events == [1, 2, 3], "\(name), \(hasHandler)")
      }
    }
    check((any Error).self, "any Error")
    check(CancellableTestError.self, "CancellableTestError")
    check(TestError.self, "TestError")
  }

  // MARK: - R16: the remaining consumers

  @Test("R16: a stage cancelled during the delivery of its source still resolves if its failure has no cancelled case")
  func cancelledDuringDelivery() {
    func check<Failure: Error>(_: Failure.Type) {
      let promise = Promise<Int, Failure>()
      let box = Locked<[Future<Int, Failure>]>([])
      promise.future.whenResolved(on: .immediate) { _ in for future in box.withLock({ $0 }) { future.cancel() } }
      let futures = [
        promise.future.map { $0 + 1 }, promise.future.flatMap { .succeeded($0 + 1) }, Future.race([promise.future]),
        promise.future.cancelled(by: CancellationTokenSource().token), promise.future.shielded,
        promise.future.timeout(after: .seconds(1_000), fallback: 2),
      ]
      box.withLock { $0 = futures }
      promise.succeed(1)
      box.withLock { $0 = [] }
      #expect(futures.allSatisfy { $0.isResolved }, "\(Failure.self)")
    }
    check((any Error).self)
    check(TestError.self)
    check(Never.self)
  }

  @Test("R16: cancelled futures that cannot represent cancellation resolve after the others, in order of cancellation")
  func orderOfResultOnly() {
    let source = Promise<Int, Never>()
    let derived = (0..<4).map { index in source.future.map { _ in log.record("\(index)") } }
    source.future.whenResolved(on: .immediate) { _ in log.record("callback") }
    derived[2].cancel()
    derived[0].cancel()
    source.future.whenResolved(on: .immediate) { _ in log.record("late callback") }
    source.succeed(1)
    #expect(log.events == ["1", "3", "callback", "late callback", "2", "0"])
  }

  // MARK: - R17: transforms

  @Test("R17: a running transform finishes; the stage releases its value, or cancels the future that it returns")
  func runningTransformFinishes() {
    let held = HeldContext()
    let inner = [open("inline"), open("queued"), open("error")]
    let box = Locked<Future<Int, any Error>?>(nil)
    @Sendable func cancelInside(_ index: Int) -> Future<Int, any Error> {
      box.withLock { $0 }?.cancel()
      log.record("\(index)")
      return inner[index].future
    }
    let source = Promise<Int, any Error>()
    let failing = Promise<Int, any Error>()
    let derived = [
      source.future.flatMap { _ in cancelInside(0) },
      source.future.flatMap(on: held.context) { _ in cancelInside(1) },
      failing.future.flatMapError { _ in cancelInside(2) },
    ]
    box.withLock { $0 = derived[0] }
    source.succeed(1)
    #expect(notified == ["inline"])
    box.withLock { $0 = derived[1] }
    held.runAll()
    box.withLock { $0 = derived[2] }
    failing.fail(TestError(1))
    #expect(log.events == ["0", "1", "2"])
    #expect(notified == ["inline", "queued", "error"])
    #expect(derived.map(isCancelled) == [true, true, true])

    let values = Locked<[Tracked]>([])
    let valueSource = Promise<Int, any Error>()
    let mapped = valueSource.future.map { _ -> Tracked in
      box.withLock { $0 }?.cancel()
      return values.withLock { $0.removeLast() }
    }
    box.withLock { $0 = mapped.map { _ in 1 } }
    let (value, _) = withTracked { object in values.withLock { $0 = [object] } }
    valueSource.succeed(1)
    #expect(value.isReleased)
    if case .failure(is CancellationError)? = mapped.peek() {} else { Issue.record("not cancelled") }
  }

  @Test(
    "R17: a cancelled flatMap or flatMapError cancels the future that runs at that moment",
    arguments: [false, true],
    0..<4
  )
  func flatMapCancelsRunningFuture(innerIsShared: Bool, phase: Int) {
    let producers = CancellationFlowTests.Producers()
    let promises: [Promise<Int, any Error>] = ["outer", "inner", "last"].map { producers.promise($0) }
    let derived = promises[0].future
      .flatMap { _ in innerIsShared ? promises[1].future : promises[1].future.map { $0 } }
      .flatMapError { _ in innerIsShared ? promises[2].future : promises[2].future.map { $0 } }
    if phase > 0 { promises[0].succeed(1) }
    if phase > 1 { promises[1].fail(TestError(1)) }
    if phase > 2 { promises[2].succeed(1) }
    derived.cancel()
    #expect(producers.cancelled.events == (phase < 3 ? [["outer", "inner", "last"][phase]] : []))
    #expect(isCancelled(derived) == (phase < 3))
    withExtendedLifetime(promises) {}
  }

  @Test("R17: follow passes cancellation on, also an earlier one, and through chains without promises")
  func followPassesCancellationOn() {
    let (source, late) = (open("source"), open("late"))
    let outer = Promise<Int, any Error>()
    do {
      let (middle, inner) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      outer.follow(middle.future)
      middle.follow(inner.future)
      inner.follow(source.future.map { $0 + 1 }.flatMap { .succeeded($0) })
    }
    outer.future.cancel()
    #expect(notified == ["source"])
    #expect(isCancelled(outer.future))
    let cancelled = Promise<Int, any Error>()
    cancelled.future.cancel()
    cancelled.follow(late.future)
    #expect(notified == ["source", "late"])
    let (typedSource, typedOuter) = (typed("typed"), Promise<Int, TestError>())
    typedOuter.future.cancel()
    typedOuter.follow(typedSource.future)
    #expect(notified == ["source", "late", "typed"])
    typedSource.succeed(3)
    #expect(typedOuter.future.peek() == .success(3))
  }

  // MARK: - Lazy futures and views

  @Test("R2b: a lazy future that is cancelled before its start never starts and releases its closure")
  func cancelledLazyFutureNeverStarts() {
    func check<Failure: Error>(_: Failure.Type, canSay: Bool) {
      let log = Recorder<Int>()
      let (captured, lazy) = withTracked { object in
        Future<Int, Failure>.lazy { promise in
          object.use()
          log.record(1)
          promise.succeed(1)
        }
      }
      lazy.cancel()
      #expect(captured.isReleased, "\(Failure.self)")
      lazy.whenResolved(on: .immediate) { _ in log.record(2) }
      let derived = lazy.map { $0 }
      #expect(log.events == (canSay ? [2] : []), "\(Failure.self)")
      #expect(lazy.isResolved == canSay && derived.isResolved == canSay, "\(Failure.self)")
    }
    check((any Error).self, canSay: true)
    check(CancellableTestError.self, canSay: true)
    check(TestError.self, canSay: false)
  }

  @Test("R16: a shielded view that a flatMap returns stops the cancellation of the flatMap", arguments: [false, true])
  func shieldedViewOfFlatMap(isOuterPending: Bool) {
    let promise = open("source")
    let first = Promise<Int, any Error>()
    if !isOuterPending { first.succeed(1) }
    let chains = (0..<2).map { _ in first.future.flatMap { _ in promise.future.shielded } }
    first.succeed(1)
    chains[0].cancel()
    #expect(isCancelled(chains[0]) && notified == [] && !promise.isResolved)
    // Without another consumer.
    let lone = open("lone")
    first.future.flatMap { _ in lone.future.shielded }.cancel()
    #expect(notified == [] && !lone.isResolved)
    promise.succeed(2)
    #expect((try? chains[1].peek()?.get()) == 2)
  }

  @Test(
    "R16: a shielded view of a pending future costs two allocations",
    .enabled(if: AllocationCounts.areSupported)
  )
  func shieldedViewIsCheap() {
    let promises = (0..<5).map { _ in Promise<Int, any Error>() }
    let counts = promises.map { promise in
      let (source, before) = (promise.future, AllocationCounts.ofThread().allocations)
      let view = source.shielded
      defer { view.cancel() }
      return AllocationCounts.ofThread().allocations - before
    }
    #expect(counts.min() == 2)  // a first use can allocate more
    #expect(promises.allSatisfy { !$0.isResolved })
  }

  // MARK: - Depth and reports

  @Test(
    "R4: a cancelled future without consumers, its unneeded source and its derived future are no unobserved failures"
  )
  func cancelledFutureIsNoUnobservedFailure() async {
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.setHandler { _ in exit(1) }
      let promises = (0..<6).map { _ in Promise<Int, any Error>() }
      promises[0].future.cancel()
      promises[1].future.map { $0 }.flatMap { .succeeded($0) }.cancel()
      Future.all([promises[2].future, promises[3].future]).cancel()
      _ = promises[4].future.cancelled(by: .cancelled)
      promises[5].future.whenResolved(on: .immediate) { _ in }.remove()
      promises[5].future.cancel()
      precondition(promises.allSatisfy { $0.isResolved })
      Future<Int, any Error>.lazy { _ in }.cancel()
      let promise = Promise<Int, any Error>()
      _ = promise.future.map { $0 }
      promise.future.cancel()
      let typed = Promise<Int, CancellableTestError>()
      _ = typed.future.map { $0 }
      typed.future.cancel()
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
