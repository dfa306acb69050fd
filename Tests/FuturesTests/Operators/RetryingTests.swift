import AllocationCounter
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

struct RetryingTests {
  /// Work that fails with the number of each attempt, and succeeds at the given attempt.
  private final class Work: Sendable {
    private let started = Locked(0)
    private let success: Int

    init(succeedingAt success: Int = .max) { self.success = success }

    var count: Int { started.withLock { $0 } }

    @Sendable func attempt() -> Future<Int, TestError> {
      let number = started.withLock { count in
        count += 1
        return count
      }
      return number == success ? .succeeded(number) : .failed(TestError(number))
    }
  }

  // MARK: - Attempts

  @Test("R12: the first attempt starts at once on the calling thread, and later attempts start on the context")
  func firstAttempt() {
    let manual = ManualContext()
    let work = Work(succeedingAt: 3)
    let threads = Recorder<ObjectIdentifier>()
    let future = Future.retry(attempts: 5, on: manual.context) {
      threads.record(ObjectIdentifier(Thread.current))
      return work.attempt()
    }
    #expect(work.count == 1)
    #expect(threads.events == [ObjectIdentifier(Thread.current)])
    #expect(manual.pendingCount == 1)
    manual.runNext()
    #expect(work.count == 2)
    #expect(future.peek() == nil)
    manual.runNext()
    #expect(future.peek() == .success(3))
    #expect(manual.pendingCount == 0)
    #expect(work.count == 3)
  }

  @Test("R12: retry stops after the given number of attempts, and fails with the last error", arguments: [1, 2, 3, 10])
  func retryStopsAtMaximum(count: Int) {
    for (index, context) in [ExecutionContext.immediate, ExecutionContext { work in work() }].enumerated() {
      let (failing, succeeding, tooLate) = (Work(), Work(succeedingAt: count), Work(succeedingAt: count + 1))
      let retry = { (work: Work) in Future.retry(attempts: count, on: context, work.attempt) }
      #expect(retry(failing).peek() == .failure(TestError(count)), "context \(index)")
      #expect(retry(succeeding).peek() == .success(count), "context \(index)")
      #expect(retry(tooLate).peek() == .failure(TestError(count)), "context \(index)")
      #expect([failing, succeeding, tooLate].map(\.count) == [count, count, count], "context \(index)")
    }
  }

  @Test("R12: retry fails with an error that its condition rejects")
  func conditionStopsRetry() {
    let manual = ManualContext()
    let work = Work()
    let asked = Recorder<Int>()
    let future = Future.retry(
      attempts: 4,
      on: manual.context,
      while: { error in
        asked.record(error.number)
        return error.number < 3
      },
      work.attempt
    )
    manual.runAll()
    #expect(future.peek() == .failure(TestError(3)))
    #expect(work.count == 3)
    #expect(asked.events == [1, 2, 3])
  }

  @Test("R12: a retry that its condition or its attempt cancels starts nothing more", arguments: [false, true])
  func cancellationFromWithin(isInCondition: Bool) {
    let manual = ManualContext()
    for context in [.immediate, manual.context] {
      let first = Promise<Int, TestError>()
      let (attempts, asked) = (Recorder<Int>(), Recorder<Int>())
      let running = Locked<Future<Int, TestError>?>(nil)
      let future = Future<Int, TestError>.retry(
        attempts: 5,
        on: context,
        while: { error in
          asked.record(error.number)
          if isInCondition { running.withLock { $0 }?.cancel() }
          return true
        },
        {
          attempts.record(attempts.events.count + 1)
          guard attempts.events.count > 1 else { return first.future }
          running.withLock { $0 }?.cancel()
          return .failed(TestError(2))
        }
      )
      running.withLock { $0 = future }
      first.fail(TestError(1))
      manual.runAll()
      #expect(attempts.events == (isInCondition ? [1] : [1, 2]))
      #expect(asked.events == [1])
      #expect(future.peek() == .failure(TestError(isInCondition ? 1 : 2)))
    }
  }

  @Test("R2a: a context that drops an attempt breaks the future; a context that runs it twice makes one attempt")
  func contextThatMisbehaves() {
    let held = HeldContext()
    let (dropped, repeated) = (Recorder<Int>(), Work(succeedingAt: 2))
    let future = Future<Int, any Error>.retry(attempts: 3, on: held.context) {
      dropped.record(1)
      return .failed(TestError())
    }
    held.dropAll()
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
    #expect(dropped.events == [1])
    let success = Future.retry(attempts: 5, on: held.context, repeated.attempt)
    held.runFirst(times: 3)
    #expect(success.peek() == .success(2))
    #expect(repeated.count == 2)
    #expect(held.count == 0)
  }

  // MARK: - Delays

  /// Returns the times of the attempts, in virtual seconds.
  private func times(attempts: Int, _ delay: RetryDelay) -> [Double] {
    let (manual, work) = (ManualContext(), Work())
    let (clock, times) = (Locked(0.0), Recorder<Double>())
    let future = Future.retry(attempts: attempts, delay: delay, on: manual.context) {
      times.record(clock.withLock { $0 })
      return work.attempt()
    }
    while !future.isResolved {
      manual.runAll()
      clock.withLock { $0 += 0.25 }
      manual.advance(by: .milliseconds(250))
    }
    #expect(manual.pendingCount == 0)
    return times.events
  }

  @Test("R12: the attempts keep the delays of each policy")
  func attemptsKeepDelaysOfPolicy() {
    let exponential = RetryDelay.exponential(initial: .seconds(1), multiplier: 2, maximum: .seconds(5))
    let custom = Recorder<Int>()
    let table: [(policy: RetryDelay, times: [Double])] = [
      (.none, [0, 0, 0, 0]), (.constant(.seconds(3)), [0, 3, 6, 9]), (.constant(.seconds(-3)), [0, 0, 0, 0]),
      (exponential, [0, 1, 3, 7, 12, 17, 22]), (exponential.jittered(0.5) { 1 }, [0, 1.5, 4.5, 10.5, 18, 25.5, 33]),
      (exponential.jittered(0.5) { -1 }, [0, 0.5, 1.5]),
    ]
    for (policy, expected) in table {
      let times = times(attempts: expected.count, policy)
      #expect(times == expected)
    }
    let policy = RetryDelay.custom { attempt in
      custom.record(attempt)
      return .seconds(attempt == 2 ? -1 : attempt)
    }
    let times = times(attempts: 4, policy)
    #expect(times == [0, 1, 1, 4])
    #expect(custom.events == [1, 2, 3])
  }

  @Test("An exponential delay that outgrows every duration is its maximum, and one that shrinks vanishes")
  func exponentialLimits() {
    let (first, last) = (Duration.milliseconds(100), Duration.seconds(30))
    let table: [(multiplier: Double, attempt: Int, delay: Duration)] = [
      (2, 1, first), (0, 1, first), (-3, 1, first), (.infinity, 1, first), (2, 10, last), (2, 72, last),
      (2, .max, last),
      (.infinity, 2, last), (0, 2, .zero), (-3, 2, .zero), (.nan, 2, .zero), (0.5, 2, .milliseconds(50)),
      (0.5, 5_000, .zero),
    ]
    for (multiplier, attempt, expected) in table {
      let delay = RetryDelay.exponential(initial: first, multiplier: multiplier, maximum: last).delay(after: attempt)
      #expect(delay == expected, "\(multiplier) after \(attempt)")
    }
    let negative = RetryDelay.exponential(initial: .seconds(-1), multiplier: 2, maximum: .seconds(-5))
    #expect(negative.delay(after: 3) <= .zero)
  }

  @Test("R12: jittered delays spread evenly over ± the fraction, which is clamped to 0...1")
  func jitterStaysWithinItsFraction() {
    let constant = RetryDelay.constant(.seconds(10))
    for (fraction, range) in [
      (0.2, 8.0...12.0), (1, 0...20), (7, 0...20), (0, 10...10), (-1, 10...10), (.nan, 10...10),
    ] {
      for number in [-1.0, -0.5, 0, 0.5, 1] {
        let seconds = (constant.jittered(fraction) { number }.delay(after: 1)) / .seconds(1)
        #expect(abs(seconds - (10 + number * (range.upperBound - 10))) < 1e-6, "random number \(number)")
      }
      let delays = (0..<5_000).map { attempt in constant.jittered(fraction).delay(after: attempt) / .seconds(1) }
      #expect(delays.allSatisfy { range.contains($0) })
      guard range.upperBound > 10 else { continue }
      // Each tenth of the range gets 500 delays, with a standard deviation of 21. Fewer than 300 are practically
      // impossible.
      var counts = Array(repeating: 0, count: 10)
      for delay in delays {
        counts[min(9, Int((delay - range.lowerBound) / (range.upperBound - range.lowerBound) * 10))] += 1
      }
      #expect(counts.allSatisfy { $0 > 300 })
    }
    let numbers = Recorder<Int>()
    let custom = RetryDelay.custom {
      numbers.record($0); return .seconds($0)
    }.jittered(0.5) { 1 }.jittered(0.5) { -1 }
    #expect(custom.delay(after: 4) == .seconds(3))
    #expect(numbers.events == [4])
    #expect(RetryDelay.constant(.seconds(Int64.max)).jittered(1) { 1 }.delay(after: 1) > .seconds(Int64.max / 4))
    #expect(RetryDelay.constant(.seconds(-1)).jittered(1).delay(after: 1) <= .zero)
  }

  // MARK: - By the error

  @Test("R12: the delay of retry gets the number and the error of each failed attempt, in order")
  func delayGetsAttemptAndError() {
    let (manual, work) = (ManualContext(), Work(succeedingAt: 3))
    let asked = Recorder<[Int]>()
    let future = Future.retry(
      attempts: 5,
      on: manual.context,
      delay: { attempt, error in
        asked.record([attempt, error.number])
        return .seconds(error.number * 10)
      },
      work.attempt
    )
    manual.advance(by: .seconds(9))
    let early = work.count
    manual.advance(by: .seconds(1))
    let second = work.count
    manual.advance(by: .seconds(20))
    let counts = [early, second, work.count]
    let expectedCounts = [1, 2, 3]
    #expect(counts == expectedCounts)
    #expect(future.peek() == .success(3))
    let expected = [[1, 1], [2, 2]]
    #expect(asked.events == expected)
  }

  /// A budget, the delay of each attempt and the time that each attempt takes, in seconds, with the number of attempts.
  struct Budget: Sendable {
    let (seconds, delay, duration, attempts): (Int, Int, Int, Int)

    static let rows = [
      Budget(seconds: 10, delay: 3, duration: 0, attempts: 4),
      Budget(seconds: 9, delay: 3, duration: 0, attempts: 4),
      Budget(seconds: 8, delay: 3, duration: 0, attempts: 3),
      Budget(seconds: 10, delay: 3, duration: 2, attempts: 3),
      Budget(seconds: 10, delay: 0, duration: 4, attempts: 3),
      Budget(seconds: 10, delay: 11, duration: 0, attempts: 1),
      Budget(seconds: 0, delay: 1, duration: 1, attempts: 1),
      Budget(seconds: -1, delay: 0, duration: 0, attempts: 1),
    ]
  }

  @TaskLocal private static var local = 0

  @Test(
    "R12: no attempt of retry starts after its budget, none is cut short, and it fails at once with the last error",
    arguments: Budget.rows,
    [false, true]
  )
  func budget(row: Budget, carries: Bool) {
    let (manual, work) = (ManualContext(), Work())
    let future = Future.retry(
      attempts: 100,
      within: .seconds(row.seconds),
      on: carries ? manual.context.carrying(Self.$local) : manual.context,
      delay: { _, _ in .seconds(row.delay) },
      {
        work.attempt().flatMapError { error in
          Future.after(.seconds(row.duration), on: manual.context).flatMap { Future<Int, TestError>.failed(error) }
        }
      }
    )
    let last = (row.delay + row.duration) * (row.attempts - 1) + row.duration
    manual.runAll()
    for _ in 0..<last { manual.advance(by: .seconds(1)) }
    #expect(work.count == row.attempts)
    #expect(future.peek() == .failure(TestError(row.attempts)))
    #expect(manual.pendingCount == 0)
  }

  @Test("R12: a retry whose context starts an attempt too late fails with the last error")
  func lateContext() {
    let (clock, held, work) = (Locked(Int64(0)), HeldContext(), Work())
    let context = ExecutionContext.custom(
      execute: { held.context.submit($0) },
      afterNanoseconds: { _, work in
        held.context.submit(work)
        return {}
      },
      now: { clock.withLock { $0 } }
    )
    let second = { @Sendable (_: Int, _: TestError) in Duration.seconds(1) }
    let future = Future.retry(attempts: 9, within: .seconds(2), on: context, delay: second, work.attempt)
    clock.withLock { $0 = 2_000_000_001 }
    held.runFirst(times: 1)
    #expect(work.count == 1)
    #expect(future.peek() == .failure(TestError(1)))
  }

  @Test("R12: on a clock that only measures delays, the delays of retry count for its budget")
  func clockWithoutTime() {
    let (manual, work) = (ManualContext(), Work())
    let context = ExecutionContext(execute: { work in manual.context.submit(work) }) { delay, work in
      let timer = Future<Void, any Error>.after(delay, on: manual.context)
      timer.whenSucceeded(on: .immediate) { work() }
      return { timer.cancel() }
    }
    let hour = Duration.seconds(3_600)
    let future = Future.retry(attempts: 9, within: hour * 2, on: context, delay: { _, _ in hour }, work.attempt)
    manual.advance(by: hour * 2)
    #expect(work.count == 3)
    #expect(future.peek() == .failure(TestError(3)))
  }

  // MARK: - Depth

  static let count = TestTier.choose(standard: 5_000, thorough: 200_000)

  /// The context on which attempts run, and the way in which they fail.
  enum Place: CaseIterable, Sendable { case immediate, inline, manual, manualWithDelay }

  @Test("R6: many attempts take neither stack nor memory", arguments: Place.allCases, [false, true])
  func manyAttempts(place: Place, isAsynchronous: Bool) {
    onThread {
      let (manual, memory, failing) = (ManualContext(), MemoryGrowth(), ManualContext())
      let context =
        switch place {
        case .immediate: ExecutionContext.immediate
        case .inline: ExecutionContext { work in work() }
        case .manual, .manualWithDelay: manual.context
        }
      let policy = place == .manualWithDelay ? RetryDelay.constant(.seconds(1)) : .none
      let future = Future<Int, TestError>.retry(attempts: Self.count, delay: policy, on: context) {
        memory.note()
        guard isAsynchronous else { return .failed(TestError(1)) }
        let promise = Promise<Int, TestError>()
        failing.context.submit { promise.fail(TestError(1)) }
        return promise.future
      }
      while !future.isResolved {
        failing.runAll()
        manual.advance(by: .seconds(1))
      }
      #expect(future.peek() == .failure(TestError(1)))
      #expect(memory.calls == Self.count)
      #expect(memory.growth < 64 * 1024)
    }
  }
}
