import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the path of cancellations, R12, R16 and R17, for each operator.
struct CancellationFlowTests {
  /// Promises that note when their futures are cancelled.
  final class Producers: Sendable {
    let cancelled = Recorder<String>()

    func promise<Failure: Error>(_ name: String, _: Failure.Type = (any Error).self) -> Promise<Int, Failure> {
      let promise = Promise<Int, Failure>(name)
      promise.onCancel { [cancelled] in cancelled.record(name) }
      return promise
    }
  }

  let producers = Producers()
  var cancelled: [String] { producers.cancelled.events }

  func open(_ name: String) -> Promise<Int, any Error> { producers.promise(name) }
  func typed(_ name: String) -> Promise<Int, TestError> { producers.promise(name, TestError.self) }

  @Test(
    "R15, R16: a cancelled operator ends, leaves its source, and cancels it if no consumer remains; listeners are none",
    arguments: Operator.leavingSource,
    [false, true]
  )
  func cancelledOperatorLeavesSource(operation: Operator, isNeeded: Bool) {
    let it = Surroundings()
    let promise = producers.promise("source")
    let other = isNeeded ? promise.future.whenResolved(on: .immediate) { _ in } : nil
    promise.future.whenProgressed(on: .immediate) { _ in }
    let derived = operation.derive(promise.future, it)
    let log = derived.log()
    promise.progress.report(fraction: 0.25)
    let reported = log.events
    let (isTyped, isShield) = (operation.traits.contains(.typed), operation.traits.contains(.shields))
    let stopsSource = operation.traits.contains(.same) || !isShield && !isNeeded
    derived.cancel()
    #expect(cancelled == (stopsSource ? ["source"] : []))
    #expect(promise.isResolved == stopsSource)
    #expect(it.manual.pendingCount == 0)
    #expect(derived.isCancelled() == !isTyped)
    #expect(derived.isResolved() == (!isTyped || stopsSource))
    promise.progress.report(fraction: 0.5)
    // A cancelled future keeps its progress (R19).
    #expect(isTyped || log.events == reported)
    promise.succeed(3)
    it.manual.advance(by: .seconds(10))
    #expect(derived.isResolved())
    #expect(derived.isCancelled() == !isTyped)
    other?.remove()
  }

  @Test(
    "R16, R17: work that is queued when its stage is cancelled never runs, is released, and leaves the source alone",
    arguments: Operator.queueing
  )
  func queuedWorkOfCancelledStageNeverRuns(operation: Operator) {
    let promise = producers.promise("source")
    promise.succeed(1)
    let manual = ManualContext()
    weak var captured: Captured?
    let uses: Recorder<Int>
    let derived: AnyFuture
    do {
      let it = Surroundings(manual: manual)
      (captured, uses) = (it.captured, it.captured.uses)
      derived = operation.derive(promise.future, it)
    }
    let before = uses.events.count
    #expect(manual.pendingCount == 1 && !derived.isResolved())
    derived.cancel()
    #expect(derived.isCancelled() && captured == nil && cancelled == [])
    manual.advance(by: .seconds(10))
    #expect(uses.events.count == before)
  }

  @Test("R17: an effect that is queued when its stage is cancelled never runs, for every failure type")
  func queuedEffectOfCancelledStageNeverRuns() {
    let held = HeldContext()
    let log = Recorder<String>()
    let promise = Promise<Int, TestError>()
    let needed = promise.future.whenResolved(on: .immediate) { _ in }
    let queued = promise.future.tap(on: held.context) { _ in log.record("queued") }
    let later = [held.context, .immediate].map { promise.future.tap(on: $0) { _ in log.record("later") } }
    let received = promise.future.receive(on: held.context)
    later.forEach { $0.cancel() }
    promise.succeed(1)
    #expect(later.map { $0.peek() } == [.success(1), .success(1)])
    #expect(queued.peek() == nil && received.peek() == nil)
    queued.cancel()
    received.cancel()
    #expect(queued.peek() == .success(1) && received.peek() == .success(1))
    held.runAll()
    nestDeliveries(16) {  // the maximum depth, so the effect is deferred
      promise.future.tap(on: .immediate) { _ in log.record("deferred") }.cancel()
    }
    #expect(log.events == [])
    needed.remove()
  }

  // MARK: - Several futures

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
      let producers = Producers()
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

  @Test("R17: serial, cancelled by the item that it starts, leaves that item and starts no more")
  func sequenceCancelledWhileStarting() {
    let (box, promise) = (Locked<Future<[Int], any Error>?>(nil), open("item"))
    let first = Promise<Int, any Error>()
    let log = Recorder<Int>()
    let values = Future.serial([0, 1, 2]) { item -> Future<Int, any Error> in
      log.record(item)
      if item == 0 { return first.future }
      box.withLock { $0 }?.cancel()
      return promise.future
    }
    box.withLock { $0 = values }
    first.succeed(1)
    #expect(isCancelled(values) && cancelled == ["item"])
    #expect(log.events == [0, 1])
    box.withLock { $0 = nil }
  }

  @Test(
    "R12: a cancelled retry cancels its attempt, or ends its delay at once and frees the timer, and makes no more attempts",
    arguments: [false, true]
  )
  func cancelledRetryMakesNoMoreAttempts(isDelay: Bool) {
    func check<Failure: Error>(_ failure: Failure) {
      let manual = ManualContext()
      let (attempts, notified) = (Recorder<Int>(), Recorder<Int>())
      let promise = Promise<Int, Failure>()
      promise.onCancel { notified.record(1) }
      let (captured, future) = withTracked { object in
        Future<Int, Failure>.retry(attempts: 5, delay: .constant(.seconds(1)), on: manual.context) {
          object.use()
          attempts.record(1)
          return isDelay || attempts.events.count == 1 ? .failed(failure) : promise.future
        }
      }
      manual.advance(by: .seconds(1))
      #expect(attempts.events.count == 2 && manual.pendingCount == (isDelay ? 1 : 0), "\(Failure.self)")
      future.cancel()
      #expect(notified.events == (isDelay ? [] : [1]), "\(Failure.self)")
      if !isDelay { promise.fail(failure) }
      #expect(attempts.events.count == 2 && future.isResolved, "\(Failure.self)")
      #expect(manual.pendingCount == 0 && captured.isReleased, "\(Failure.self)")
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
    #expect(cancelled == ["source"] && !waiting.isResolved)
    promise.fail(TestError(1))
    #expect(waiting.peek() == .failure(TestError(1)) && manual.pendingCount == 0)
  }
}

/// Whether the future has failed with a `CancellationError`.
func isCancelled<Value>(_ future: Future<Value, any Error>) -> Bool { AnyFuture(future).isCancelled() }
