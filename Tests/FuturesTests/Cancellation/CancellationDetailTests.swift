import AllocationCounter
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of R15, R16 and R17 in detail, and of R12 for cancelled joins and timers.
@Suite("Cancellation, in detail")
struct CancellationDetailTests {
  let producers = CancellationFlowTests.Producers()
  var notified: [String] { producers.cancelled.events }
  let log = Recorder<String>()

  func open(_ name: String) -> Promise<Int, any Error> { producers.promise(name) }
  func typed(_ name: String) -> Promise<Int, TestError> { producers.promise(name, TestError.self) }

  func isCancelled<Value>(_ future: Future<Value, any Error>) -> Bool {
    if case .failure(let error)? = future.peek() { error is CancellationError } else { false }
  }

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
      #expect(expected(promise.future.peek()))
      #expect(expected(derived.peek()))
      #expect(answers.events == [true, false])
      #expect(log.events == [1])
      #expect(promise.cancellationToken.isCancelled)
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
      #expect(log.events == [true])
      #expect(handlers.events == [0])
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
    let late = Promise<Int, any Error>()
    late.future.cancel()
    #expect(late.cancellationToken.isCancelled)
    late.cancellationToken.register { [log] in log.record("late") }
    #expect(log.events == ["late"])
  }

  @Test("R15: an onCancel handler that is added after the cancellation runs at once, for every failure type")
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
        promise.succeed(1)
        promise.onCancel { log.record(2) }
        #expect(log.events == [1, 2], "\(name), \(hasHandler)")
      }
    }
    check((any Error).self, "any Error")
    check(CancellationError.self, "CancellationError")
    check(CancellableTestError.self, "CancellableTestError")
    check(TestError.self, "TestError")
    check(Never.self, "Never")
  }

  @Test("R5, R15: the end of a future releases its onCancel handlers; after the end, a promise keeps no handler")
  func handlersReleased() {
    func check<Failure: Error>(_: Failure.Type, _ name: String, _ end: (inout Promise<Int, Failure>?) -> Void) {
      var promise: Promise<Int, Failure>? = Promise()
      let future = promise!.future
      weak var handler: Tracked?
      weak var registered: Tracked?
      weak var late: Tracked?
      let registration: Registration
      do {
        let (first, second) = (Tracked(), Tracked())
        (handler, registered) = (first, second)
        promise!.onCancel { first.use() }
        registration = promise!.cancellationToken.register { second.use() }
      }
      #expect(handler != nil && registered != nil)
      end(&promise)
      #expect(handler == nil, "\(Failure.self), \(name)")
      #expect(registered == nil, "\(Failure.self), \(name)")
      do {
        let object = Tracked()
        late = object
        promise?.onCancel { object.use() }
      }
      #expect(late == nil, "\(Failure.self), \(name)")
      withExtendedLifetime((future, registration)) {}
    }
    func checkAll<Failure: Error>(_ type: Failure.Type) {
      check(type, "resolved") { $0?.succeed(1) }
      check(type, "cancelled") { $0?.future.cancel() }
      check(type, "broken") { $0 = nil }
    }
    checkAll((any Error).self)
    checkAll(TestError.self)
    checkAll(Never.self)
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
      #expect(futures.map(\.isResolved) == Array(repeating: true, count: futures.count), "\(Failure.self)")
    }
    check((any Error).self)
    check(TestError.self)
    check(Never.self)
  }

  // MARK: - R17: transforms

  @Test("R17: a running transform finishes; the stage drops its value and cancels the future that it returns")
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
  }

  @Test("R17: the value of a map that runs during the cancellation is dropped and released")
  func valueOfRunningMapIsReleased() {
    weak var value: Tracked?
    let made = Locked<WeakTracked>(WeakTracked())
    let box = Locked<Future<Tracked, any Error>?>(nil)
    let promise = Promise<Int, any Error>()
    let mapped = promise.future.map { _ -> Tracked in
      let object = Tracked()
      made.withLock { $0.object = object }
      box.withLock { $0 }?.cancel()
      return object
    }
    box.withLock { $0 = mapped }
    promise.succeed(1)
    box.withLock { $0 = nil }
    value = made.withLock { $0.object }
    #expect(value == nil)
    guard case .failure(is CancellationError)? = mapped.peek() else {
      Issue.record("not cancelled")
      return
    }
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
    let (source, late, other) = (open("source"), open("late"), open("other"))
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
    let needed = other.future.whenResolved(on: .immediate) { _ in }
    let second = Promise<Int, any Error>()
    second.follow(other.future)
    second.future.cancel()
    #expect(notified == ["source", "late"] && isCancelled(second.future) && !other.isResolved)
    needed.remove()
    let (typedSource, typedOuter) = (typed("typed"), Promise<Int, TestError>())
    typedOuter.future.cancel()
    typedOuter.follow(typedSource.future)
    #expect(notified == ["source", "late", "typed"])
    typedSource.succeed(3)
    #expect(typedOuter.future.peek() == .success(3))
  }

  // MARK: - R12: several futures

  /// Joins that no longer need the second input once the first has resolved with `first`; `nil` is a failure.
  static let joins:
    [(name: String, first: Int?, join: @Sendable ([Future<Int, any Error>]) -> Future<Int, any Error>)] =
      [
        ("race", 1, { Future.race($0) }), ("lost race", nil, { Future.race($0) }),
        ("firstSuccess", 1, { Future.firstSuccess($0).mapError { $0 } }),
        ("all", nil, { Future.all($0).map { $0[0] } }), ("reduce", nil, { Future.reduce(0, $0, +) }),
        ("zip", nil, { Future.zip($0[0], $0[1]).map { $0.0 } }),
        ("concurrent", nil, { all in Future.concurrent([0, 1], limit: 2) { all[$0] }.map { $0[0] } }),
      ]

  /// The time at which the first input resolves: before, while or after the join attaches to it.
  enum When: CaseIterable, Sendable { case before, during, after }

  @Test(
    "R12, R16: a join cancels the inputs that it no longer needs, unless they have other consumers",
    arguments: joins.indices,
    When.allCases
  )
  func decidedJoinCancelsUnneededInputs(index: Int, when: When) {
    let (name, value, join) = Self.joins[index]
    for isNeeded in [false, true] {
      let producers = CancellationFlowTests.Producers()
      let second: Promise<Int, any Error> = producers.promise("second")
      let result = value.map { Result<Int, any Error>.success($0) } ?? .failure(TestError(1))
      let needed = isNeeded ? second.future.whenResolved(on: .immediate) { _ in } : nil
      let first = Promise<Int, any Error>()
      if when == .before { first.resolve(result) }
      // A lazy future resolves while the join attaches to it, before the join attaches to the second input.
      let lazy = Future<Int, any Error>.lazy { $0.resolve(result) }
      let joined = join([when == .during ? lazy : first.future, second.future])
      if when == .after { first.resolve(result) }
      #expect(joined.isResolved, "\(name), \(when)")
      // `concurrent` did not start the second item in the first two cases.
      let isStarted = name != "concurrent" || when == .after
      #expect(producers.cancelled.events == (isNeeded || !isStarted ? [] : ["second"]), "\(name), \(when)")
      #expect(second.isResolved == (!isNeeded && isStarted), "\(name), \(when)")
      needed?.remove()
    }
  }

  @Test("R17: serial and concurrent, cancelled in the middle, leave the running items and start no more")
  func cancelledSequenceStartsNothingMore() {
    for limit in 1...3 {
      let producers = CancellationFlowTests.Producers()
      let promises: [Promise<Int, any Error>] = (0..<6).map { producers.promise("\($0)") }
      let started = Recorder<Int>()
      weak var captured: Tracked?
      let values: Future<[Int], any Error>
      do {
        let object = Tracked()
        captured = object
        values = Future.concurrent(Array(0..<6), limit: limit) { item in
          object.use()
          started.record(item)
          return promises[item].future
        }
      }
      promises[0].succeed(1)
      values.cancel()
      #expect(isCancelled(values), "limit \(limit)")
      #expect(producers.cancelled.events.sorted() == (1...limit).map(String.init), "limit \(limit)")
      for promise in promises { promise.succeed(1) }
      #expect(started.events == Array(0...limit), "limit \(limit)")
      #expect(captured == nil, "limit \(limit)")
    }
  }

  @Test("R17: serial, cancelled by the item that it starts, leaves that item and starts no more")
  func sequenceCancelledWhileStarting() {
    let (box, promise) = (Locked<Future<[Int], any Error>?>(nil), open("item"))
    let first = Promise<Int, any Error>()
    let values = Future.serial([0, 1, 2]) { [log] item -> Future<Int, any Error> in
      log.record("\(item)")
      if item == 0 { return first.future }
      box.withLock { $0 }?.cancel()
      return promise.future
    }
    box.withLock { $0 = values }
    first.succeed(1)
    #expect(isCancelled(values) && notified == ["item"])
    #expect(log.events == ["0", "1"])
    box.withLock { $0 = nil }
  }

  // MARK: - Time

  @Test("R12: a cancelled retry cancels its attempt and never retries, for every failure type")
  func cancelledRetryStopsItsAttempt() {
    func check<Failure: Error>(_ failure: Failure) {
      let manual = ManualContext()
      let (attempts, notified) = (Recorder<Int>(), Recorder<Int>())
      let promise = Promise<Int, Failure>()
      promise.onCancel { notified.record(1) }
      let future = Future.retry(attempts: 5, on: manual.context) { () -> Future<Int, Failure> in
        attempts.record(1)
        return promise.future
      }
      future.cancel()
      #expect(notified.events == [1])
      promise.fail(failure)
      manual.advance(by: .seconds(100))
      #expect(attempts.events == [1] && future.isResolved && manual.pendingCount == 0, "\(Failure.self)")
    }
    check(TestError(1))
    check(CancellableTestError.other)
    check(TestError(1) as any Error)
  }

  @Test("R12: retry, cancelled in its delay, ends at once, frees its timer and makes no more attempts")
  func cancelledRetryFreesItsTimer() {
    func check<Failure: Error>(_ failure: Failure) {
      let manual = ManualContext()
      let attempts = Recorder<Int>()
      weak var captured: Tracked?
      let future: Future<Int, Failure>
      do {
        let object = Tracked()
        captured = object
        future = Future.retry(attempts: 5, delay: .constant(.seconds(1)), on: manual.context) {
          object.use()
          attempts.record(1)
          return .failed(failure)
        }
      }
      manual.advance(by: .seconds(1))
      #expect(attempts.events.count == 2 && manual.pendingCount == 1)
      future.cancel()
      #expect(attempts.events.count == 2, "\(Failure.self)")
      #expect(future.isResolved && manual.pendingCount == 0 && captured == nil, "\(Failure.self)")
      manual.advance(by: .seconds(100))
      #expect(attempts.events.count == 2, "\(Failure.self)")
    }
    check(TestError(1))
    check(CancellableTestError.other)
    check(TestError(1) as any Error)
  }

  @Test("R12: a cancelled after or delay frees its timer and resolves at once")
  func cancelledDelaysFreeTheirTimers() {
    let manual = ManualContext()
    let after = Future.after(.seconds(5), on: manual.context)
    let never = Future<Int, Never>.succeeded(1).delay(by: .seconds(5), on: manual.context)
    let typed = Future<Int, TestError>.succeeded(1).delay(by: .seconds(5), on: manual.context)
    let open = Future<Int, any Error>.succeeded(1).delay(by: .seconds(5), on: manual.context)
    #expect(manual.pendingCount == 4)
    after.cancel()
    never.cancel()
    typed.cancel()
    open.cancel()
    #expect(manual.pendingCount == 0)
    #expect(after.isResolved && never.peek() == .success(1) && typed.peek() == .success(1) && isCancelled(open))
    let promise = self.typed("source")
    let waiting = promise.future.delay(by: .seconds(5), on: manual.context)
    waiting.cancel()
    #expect(notified == ["source"] && !waiting.isResolved)
    promise.fail(TestError(1))
    #expect(waiting.peek() == .failure(TestError(1)) && manual.pendingCount == 0)
  }

  @Test("R12: a timeout frees its timer when it ends; a timeout that fires leaves its future")
  func endedTimeoutsFreeTheirTimers() {
    let manual = ManualContext()
    let promises = ["cancelled", "ended", "fired", "needed"].map { open($0) }
    let futures = promises.map { $0.future.timeout(after: .seconds(5), on: manual.context) }
    let needed = promises[3].future.whenResolved(on: .immediate) { _ in }
    #expect(manual.pendingCount == 4)
    futures[0].cancel()
    promises[1].succeed(1)
    #expect(manual.pendingCount == 2 && notified == ["cancelled"] && isCancelled(futures[0]))
    manual.advance(by: .seconds(5))
    #expect(futures[2].peek()?.failure is TimeoutError && futures[3].peek()?.failure is TimeoutError)
    #expect(notified == ["cancelled", "fired"] && !promises[3].isResolved)
    needed.remove()
    let typed = self.typed("typed")
    let fallback = typed.future.timeout(after: .seconds(5), on: manual.context, fallback: 7)
    fallback.cancel()
    #expect(notified == ["cancelled", "fired", "typed"] && !fallback.isResolved)
    manual.advance(by: .seconds(5))
    #expect(fallback.peek() == .success(7) && manual.pendingCount == 0)
  }

  // MARK: - Lazy futures and views

  @Test("R2b: a lazy future that is cancelled before its start never starts and releases its closure")
  func cancelledLazyFutureNeverStarts() {
    func check<Failure: Error>(_: Failure.Type, canSay: Bool) {
      let log = Recorder<Int>()
      weak var captured: Tracked?
      let lazy: Future<Int, Failure>
      do {
        let object = Tracked()
        captured = object
        lazy = .lazy { promise in
          object.use()
          log.record(1)
          promise.succeed(1)
        }
      }
      lazy.cancel()
      #expect(captured == nil, "\(Failure.self)")
      lazy.whenResolved(on: .immediate) { _ in log.record(2) }
      let derived = lazy.map { $0 }
      #expect(log.events == (canSay ? [2] : []), "\(Failure.self)")
      #expect(lazy.isResolved == canSay && derived.isResolved == canSay, "\(Failure.self)")
    }
    check((any Error).self, canSay: true)
    check(CancellationError.self, canSay: true)
    check(CancellableTestError.self, canSay: true)
    check(TestError.self, canSay: false)
    check(Never.self, canSay: false)
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
    let typed = self.typed("typed")
    let derived = Future<Int, TestError>.succeeded(1).flatMap { _ in typed.future.shielded }
    derived.cancel()
    #expect(notified == [])
    promise.succeed(2)
    typed.succeed(3)
    #expect((try? chains[1].peek()?.get()) == 2 && derived.peek() == .success(3))
  }

  @Test(
    "R16: a shielded view of a pending future costs two allocations",
    .enabled(if: AllocationCounts.areSupported)
  )
  func shieldedViewIsCheap() {
    let promise = Promise<Int, any Error>()
    let source = promise.future
    let before = AllocationCounts.ofThread().allocations
    let view = source.shielded
    let after = AllocationCounts.ofThread().allocations
    #expect(after - before == 2)
    view.cancel()
    #expect(!promise.isResolved)
  }

  @Test(
    "R16: cancelled(by:) follows its token before and while the future is pending, not after",
    arguments: [false, true]
  )
  func tokenCancelsPendingFuture(isNeeded: Bool) {
    let producers = CancellationFlowTests.Producers()
    let promises = ["before", "during", "after"].map { producers.promise($0, (any Error).self) }
    let needed = isNeeded ? promises.map { $0.future.whenResolved(on: .immediate) { _ in } } : []
    let before = promises[0].future.cancelled(by: .cancelled)
    let source = CancellationTokenSource()
    let during = promises[1].future.cancelled(by: source.token)
    let after = promises[2].future.cancelled(by: source.token)
    promises[2].succeed(1)
    #expect(isCancelled(before) && !during.isResolved)
    source.cancel()
    #expect(isCancelled(during) && (try? after.peek()?.get()) == 1)
    #expect(producers.cancelled.events == (isNeeded ? [] : ["before", "during"]))
    for registration in needed { registration.remove() }
    withExtendedLifetime(promises) {}
  }

  @Test("R16: cancelled(by:) with a cancelled token changes no result that exists or that the producer decides")
  func cancelledTokenKeepsResults() {
    let typed = self.typed("typed")
    let future = typed.future.cancelled(by: .cancelled)
    #expect(notified == ["typed"] && !future.isResolved)
    typed.succeed(1)
    #expect(future.peek() == .success(1))
    let resolved = Future<Int, any Error>.succeeded(1).cancelled(by: .cancelled)
    #expect((try? resolved.peek()?.get()) == 1)
  }

  // MARK: - Depth and reports

  @Test("R6: cancelling and releasing a long chain of maps takes no stack", arguments: [false, true])
  func longChainTakesNoStack(canRepresentCancellation: Bool) {
    @Sendable func cancel<Failure: Error>(_: Failure.Type) {
      let promise = Promise<Int, Failure>()
      let notified = Recorder<Int>()
      promise.onCancel { notified.record(1) }
      var future = promise.future
      for _ in 0..<DepthTests.count { future = future.map { $0 + 1 } }
      future.cancel()
      #expect(notified.events == [1])
      #expect(future.isResolved == canRepresentCancellation && promise.isResolved == canRepresentCancellation)
      #expect(promise.succeed(0) == !canRepresentCancellation)
      #expect(future.isResolved)
    }
    let left = CancellationTokenTests.blocksLeft {
      if canRepresentCancellation { cancel((any Error).self) } else { cancel(Never.self) }
    }
    #expect(left < 100, "\(left)")
  }

  @Test("R4: a cancelled future without consumers is no unobserved failure, and neither is its unneeded source")
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
    }
  }

  @Test("R4: a future derived from a cancelled one is no unobserved failure")
  func futureDerivedFromCancelledIsNoUnobservedFailure() async {
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.setHandler { _ in exit(1) }
      let promise = Promise<Int, any Error>()
      _ = promise.future.map { $0 }
      promise.future.cancel()
    }
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

private struct WeakTracked: Sendable { weak var object: Tracked? }
