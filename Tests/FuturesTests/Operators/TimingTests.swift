import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

struct TimingTests {
  /// The three forms of `timeout`.
  enum Form: CaseIterable, Sendable {
    case failing, fallback, timeoutError

    func timeout(
      _ source: Future<Int, any Error>,
      after duration: Duration,
      on context: ExecutionContext = .global()
    ) -> Future<Int, any Error> {
      switch self {
      case .failing: source.timeout(after: duration, on: context, failingWith: TestError(9))
      case .fallback: source.timeout(after: duration, on: context, fallback: 9)
      case .timeoutError: source.timeout(after: duration, on: context)
      }
    }

    /// The outcome when the time is over, as text.
    func late(_ duration: Duration) -> String {
      switch self {
      case .failing: "\(TestError(9))"
      case .fallback: "9"
      case .timeoutError: "\(TimeoutError(duration: duration))"
      }
    }
  }

  static let never: [Duration] = [.seconds(Int64.max), .seconds(300 * 366 * 86_400)]
  static let atOnce: [Duration] = [.zero, .nanoseconds(-1), .seconds(-5), .seconds(Int64.min)]

  @Test("after with a failure type that holds CancellationError fails when it is cancelled, and frees its timer")
  func throwingAfter() {
    let manual = ManualContext()
    let sleep = Future<Void, any Error>.after(.seconds(2), on: manual.context)
    let other = Future<Void, any Error>.after(.seconds(2), on: manual.context)
    #expect(manual.pendingCount == 2)
    sleep.cancel()
    #expect(manual.pendingCount == 1)
    #expect(throws: CancellationError.self) { try sleep.peek()?.get() }
    manual.advance(by: .seconds(2))
    #expect((try? other.peek()?.get()) != nil)
    #expect(Future<Void, any Error>.after(.zero).isResolved)
    // Without a type annotation, the compiler selects the overload that cannot fail.
    let untyped = Future.after(.zero)
    #expect(type(of: untyped) == Future<Void, Never>.self)
  }

  @Test(
    "R12: a delay counts in nanoseconds: rounded up, none for zero or less, endless from 292 years on",
    arguments: [
      (.seconds(1) + .nanoseconds(1), 1_000_000_001), (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
      (Duration(secondsComponent: 2, attosecondsComponent: 1_000_000_001), 2_000_000_002), (.zero, 0),
      (.nanoseconds(-1), 0), (.seconds(Int64.min), 0), (.nanoseconds(Int64.max - 1), .max - 1),
      (.nanoseconds(Int64.max), .max), (.seconds(Int64.max), .max),
      (.nanoseconds(Int64.max) - Duration(secondsComponent: 0, attosecondsComponent: 1), .max),
    ] as [(Duration, Int64)]
  )
  func delaysInNanoseconds(duration: Duration, nanoseconds: Int64) {
    #expect(duration.nanoseconds == nanoseconds)
  }

  // MARK: - after and delay

  @Test("R12: delay holds a value back for its duration and passes a failure on at once", arguments: [false, true])
  func delayHoldsValueBack(isReady: Bool) {
    for result in [.success(1), .failure(TestError(2))] as [Result<Int, TestError>] {
      let manual = ManualContext()
      let source = Promise<Int, TestError>()
      let delayed = (isReady ? .resolved(result) : source.future).delay(by: .seconds(2), on: manual.context)
      if !isReady { manual.advance(by: .seconds(100)) }
      source.resolve(result)
      guard case .success = result else {
        #expect(delayed.peek() == result, "\(result)")
        #expect(manual.pendingCount == 0, "\(result)")
        continue
      }
      #expect(manual.pendingCount == 1, "\(result)")
      manual.advance(by: .milliseconds(1_999))
      #expect(delayed.peek() == nil, "\(result)")
      manual.advance(by: .milliseconds(1))
      #expect(delayed.peek() == result, "\(result)")
      #expect(manual.pendingCount == 0, "\(result)")
    }
  }

  @Test("R12: a context made by init(_:) uses Dispatch's clock, and resolves on itself")
  func contextWithoutClock() {
    onThread {
      let uses: [@Sendable (ExecutionContext) -> Future<Int, any Error>] = [
        { Future<Int, any Error>.succeeded(1).delay(by: .milliseconds(1), on: $0) },
        { Future.after(.milliseconds(1), on: $0).map { 1 }.setFailureType() },
        { Future<Int, any Error>.never.timeout(after: .milliseconds(1), on: $0, fallback: 1) },
      ]
      for (index, use) in uses.enumerated() {
        let held = HeldContext()
        let handedOver = Promise<Void, Never>()
        let derived = use(
          ExecutionContext { work in
            held.context.submit(work)
            handedOver.succeed()
          }
        )
        _ = handedOver.future.wait()
        #expect(!derived.isResolved, "use \(index)")
        held.runAll()
        #expect(outcome(of: derived) == "1", "use \(index)")
      }
    }
  }

  // MARK: - timeout

  @Test(
    "R12: a timeout passes on a result that comes before the deadline, and frees its timer",
    arguments: Form.allCases
  )
  func resultBeforeDeadlinePassesOn(form: Form) {
    for result in [.success(1), .failure(TestError(2))] as [Result<Int, any Error>] {
      let manual = ManualContext()
      let source = Promise<Int, any Error>()
      let derived = form.timeout(source.future, after: .seconds(5), on: manual.context)
      #expect(manual.pendingCount == 1, "\(result)")
      manual.advance(by: .milliseconds(4_999))
      source.resolve(result)
      #expect(outcome(of: derived) == outcome(of: .resolved(result)), "\(result)")
      #expect(manual.pendingCount == 0, "\(result)")
      manual.advance(by: .seconds(5))
      #expect(outcome(of: derived) == outcome(of: .resolved(result)), "\(result)")
    }
  }

  @Test("R12: a timeout ends at its deadline and ignores a later result", arguments: Form.allCases)
  func resultAfterDeadlineIsIgnored(form: Form) {
    let manual = ManualContext()
    let source = Promise<Int, any Error>()
    let derived = form.timeout(source.future, after: .seconds(5), on: manual.context)
    manual.advance(by: .seconds(5) - .nanoseconds(1))
    #expect(outcome(of: derived) == "unresolved")
    manual.advance(by: .nanoseconds(1))
    #expect(outcome(of: derived) == form.late(.seconds(5)))
    #expect(manual.pendingCount == 0)
    source.succeed(1)
    #expect(outcome(of: derived) == form.late(.seconds(5)))
  }

  @Test(
    "R12: if the deadline and a result come at the same time, the older one wins",
    arguments: [false, true]
  )
  func atTheDeadline(resultIsFirst: Bool) {
    let manual = ManualContext()
    let source = Promise<Int, any Error>()
    let succeed = { Future.after(.seconds(5), on: manual.context).whenSucceeded(on: .immediate) { source.succeed(1) } }
    if resultIsFirst { _ = succeed() }
    let derived = source.future.timeout(after: .seconds(5), on: manual.context)
    if !resultIsFirst { _ = succeed() }
    manual.advance(by: .seconds(5))
    #expect(outcome(of: derived) == (resultIsFirst ? "1" : Form.timeoutError.late(.seconds(5))))
    #expect(manual.pendingCount == 0)
  }

  @Test("R12: a timeout of a resolved source makes no timer, for every duration", arguments: Form.allCases)
  func resolvedSource(form: Form) {
    let manual = ManualContext()
    let promise = Promise<Int, any Error>()
    promise.succeed(1)
    for source in [Future.succeeded(1), promise.future] {
      for duration in [.seconds(5)] + Self.never + Self.atOnce {
        #expect(outcome(of: form.timeout(source, after: duration, on: manual.context)) == "1", "duration \(duration)")
      }
    }
    #expect(outcome(of: form.timeout(.failed(TestError(2)), after: .zero, on: manual.context)) == "\(TestError(2))")
    #expect(manual.pendingCount == 0)
  }

  @Test(
    "R12: a timeout, a delay and after of zero or less end at once, without a timer",
    arguments: Form.allCases,
    atOnce
  )
  func zeroTimeoutEndsAtOnce(form: Form, duration: Duration) {
    let manual = ManualContext()
    let source = Promise<Int, any Error>()
    source.future.whenResolved(on: .immediate) { _ in }  // another consumer
    #expect(outcome(of: form.timeout(source.future, after: duration, on: manual.context)) == form.late(duration))
    #expect(outcome(of: form.timeout(source.future, after: duration)) == form.late(duration))
    let delayed = source.future.delay(by: duration, on: manual.context)
    source.succeed(2)
    #expect(outcome(of: delayed) == "2")
    #expect(Future.after(duration, on: manual.context).isResolved && Future.after(duration).isResolved)
    #expect(manual.pendingCount == 0)
  }

  @Test(
    "A timeout of centuries waits for its source, on any clock; after and delay do not end",
    arguments: Form.allCases,
    never
  )
  func endlessTimeout(form: Form, duration: Duration) {
    onThread {
      let manual = ManualContext()
      let source = Promise<Int, any Error>()
      let contexts = [manual.context, .global(), .immediate]
      let derived = contexts.map { form.timeout(source.future, after: duration, on: $0) }
      let after = Future.after(duration, on: manual.context)
      manual.advance(by: .seconds(292 * 365 * 86_400))
      _ = Future.after(.milliseconds(2)).wait()
      #expect(derived.allSatisfy { outcome(of: $0) == "unresolved" } && !after.isResolved)
      source.succeed(1)
      #expect(derived.allSatisfy { outcome(of: $0) == "1" })
      after.cancel()
      #expect(manual.pendingCount == 0)
    }
  }

  @Test(
    "R12: a source that never resolves, or breaks without a failure case for the break, still times out",
    arguments: 0..<4
  )
  func brokenSource(kind: Int) {
    // Recorded by `brokenPromises`, because the timeout of a dropped promise causes a report (R4).
    let broken = brokenPromises(madeIn: #fileID) {
      let manual = ManualContext()
      var promise: Promise<Int, TestError>? = kind == 0 ? Promise("timing \(kind)") : nil
      let source: Future<Int, TestError> =
        switch kind {
        case 0: promise!.future
        case 1: Promise("timing \(kind)").future
        case 2: .never
        default: .lazy { _ in }
        }
      let derived = source.timeout(after: .seconds(5), on: manual.context, failingWith: TestError(9))
      let log = Recorder<TestError>()
      derived.whenFailed(on: .immediate) { log.record($0) }
      promise = nil
      manual.advance(by: .seconds(4))
      #expect(log.events.isEmpty)
      manual.advance(by: .seconds(1))
      #expect(log.events == [TestError(9)])
      #expect(derived.peek() == .failure(TestError(9)))
      withExtendedLifetime(promise) {}
    }
    #expect(broken.count { $0.label == "timing \(kind)" } == (kind < 2 ? 1 : 0))
  }

  // MARK: - Lifetimes

  @Test("R12: a timeout that has fired leaves nothing with its source")
  func firedTimeoutsLeaveNothing() {
    onThread {
      let manual = ManualContext()
      let source = Promise<Int, TestError>()
      let needed = source.future.whenResolved(on: .immediate) { _ in }
      func use() {
        let derived = source.future.timeout(after: .seconds(1), on: manual.context, failingWith: TestError(1))
        manual.advance(by: .seconds(1))
        if !derived.isResolved { Issue.record("The timeout has not fired.") }
      }
      #expect(leastBlocksLeft(count: 1_000) { for _ in 0..<$0 { use() } } <= 0)
      #expect(!source.isResolved)
      needed.remove()
    }
  }

  @Test("R6: a chain of timeouts resolves without taking stack, and leaves no memory behind")
  func chainOfTimeoutsTakesNoStack() {
    onThread {
      let context = ExecutionContext(execute: { work in work() }, after: { _, work in { _ = work } })
      let before = AllocationCounts.ofThread().liveBlocks
      do {
        let source = Promise<Int, TestError>()
        var future = source.future
        for _ in 0..<DepthTests.count { future = future.timeout(after: .seconds(1), on: context, fallback: 0) }
        source.succeed(1)
        #expect(future.peek() == .success(1))
      }
      #expect(AllocationCounts.ofThread().liveBlocks - before < 100)
    }
  }
}

/// Returns the outcome of `future` as text.
func outcome(of future: Future<Int, any Error>) -> String {
  switch future.peek() {
  case .success(let value)?: "\(value)"
  case .failure(let error)?: "\(error)"
  case nil: "unresolved"
  }
}
