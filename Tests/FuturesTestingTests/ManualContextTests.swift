import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("ManualContext")
struct ManualContextTests {
  private let manual = ManualContext()
  private let log = Recorder<String>()

  private func submit(_ name: String, _ work: @escaping @Sendable () -> Void = {}) {
    manual.context.submit { [log] in
      log.record(name)
      work()
    }
  }

  private func submit(_ name: String, after delay: Duration, _ work: @escaping @Sendable () -> Void = {}) {
    Future.after(delay, on: manual.context).whenSucceeded(on: .immediate) { [log] in
      log.record(name)
      work()
    }
  }

  @Test("Nothing runs by itself, and a new context has nothing to do")
  func runsNothing() {
    #expect(manual.pendingCount == 0)
    #expect(!manual.runNext())
    #expect(manual.runAll() == 0)
    manual.advance(by: .seconds(1_000))
    submit("work")
    submit("late", after: .milliseconds(1))
    #expect(log.events.isEmpty)
    #expect(manual.pendingCount == 2)
    manual.advance(by: .milliseconds(1))
    #expect(log.events == ["work", "late"])
  }

  @Test("runNext runs the piece of work whose turn it is, and answers whether there was one")
  func runNext() {
    for name in ["a", "b", "c"] { submit(name) }
    submit("late", after: .seconds(1))
    #expect(manual.runNext())
    #expect(log.events == ["a"])
    #expect(manual.pendingCount == 3)
    #expect(manual.runNext())
    #expect(manual.runNext())
    #expect(!manual.runNext())
    #expect(log.events == ["a", "b", "c"])
    #expect(manual.pendingCount == 1)
    manual.advance(by: .seconds(1))
    #expect(log.events == ["a", "b", "c", "late"])
  }

  @Test("runAll runs what is ready and what that hands over, in order, but no timer, and counts it")
  func runAll() {
    submit("a") { submit("c") { submit("d") } }
    submit("b") { submit("late", after: .nanoseconds(1)) }
    #expect(manual.runAll() == 4)
    #expect(log.events == ["a", "b", "c", "d"])
    #expect(manual.runAll() == 0)
    #expect(manual.pendingCount == 1)
    manual.advance(by: .nanoseconds(1))
    #expect(log.events == ["a", "b", "c", "d", "late"])
  }

  @Test("Many timers, some of them cancelled, run in order of time, then of age")
  func manyTimers() {
    var expected: [(delay: Int, name: String)] = []
    for number in 0..<2_000 {
      let delay = 1 + number * 7_919 % 101
      let cancel = manual.context.schedule(afterNanoseconds: Int64(delay) * 1_000_000_000) { [log] in
        log.record("\(number)")
      }
      if number * 31 % 5 < 3 { cancel() } else { expected.append((delay, "\(number)")) }
    }
    #expect(manual.pendingCount == expected.count)
    // `sorted` is stable: pieces of work with equal delays keep their order.
    let names = expected.sorted { $0.delay < $1.delay }.map(\.name)
    manual.advance(by: .seconds(50))
    #expect(log.events == Array(names.prefix(expected.count { $0.delay <= 50 })))
    manual.advance(by: .seconds(51))
    #expect(log.events == names)
    #expect(manual.pendingCount == 0)
  }

  @Test("Cancelled timers do not stay in the context, in whatever order they are cancelled", arguments: [false, true])
  func cancelledTimers(newestFirst: Bool) {
    let context = manual.context
    let kept = context.schedule(afterNanoseconds: 1_000_000_000_000) {}
    let cancels = (1...3_000).map { context.schedule(afterNanoseconds: $0 * 1_000_000_000) {} }
    for cancel in newestFirst ? cancels.reversed() : cancels { cancel() }
    #expect(manual.pendingCount == 1)
    kept()
    #expect(manual.pendingCount == 0)
    manual.advance(by: .seconds(4_000))
  }

  @Test("Timers run by time, those of the same time by age")
  func orderOfTimers() {
    for (name, seconds) in [("3", 3), ("1", 1), ("2", 2), ("1b", 1), ("3b", 3), ("2b", 2), ("1c", 1)] {
      submit(name, after: .seconds(seconds))
    }
    #expect(manual.pendingCount == 7)
    manual.advance(by: .seconds(3))
    #expect(log.events == ["1", "1b", "1c", "2", "2b", "3", "3b"])
    #expect(manual.pendingCount == 0)
  }

  @Test("A delay counts from when it was asked for")
  func delaysCountFromNow() {
    submit("a", after: .seconds(3))
    manual.advance(by: .seconds(2))
    submit("b", after: .seconds(1))
    submit("c", after: .milliseconds(500))
    manual.advance(by: .seconds(1))
    #expect(log.events == ["c", "a", "b"])
  }

  @Test("advance runs what is due until its end, no more, and what is ready before that")
  func advance() {
    submit("late", after: .seconds(1))
    submit("later", after: .seconds(2))
    submit("ready")
    manual.advance(by: .milliseconds(1_999))
    #expect(log.events == ["ready", "late"])
    #expect(manual.pendingCount == 1)
    manual.advance(by: .milliseconds(1))
    #expect(log.events == ["ready", "late", "later"])
  }

  @Test("advance by nothing, or less, runs what is ready, and does not move the time", arguments: [0, -1, Int64.min])
  func advanceByNothing(seconds: Int64) {
    submit("late", after: .seconds(1))
    submit("a") { submit("b") }
    manual.advance(by: .seconds(seconds))
    #expect(log.events == ["a", "b"])
    manual.advance(by: .seconds(1) - .nanoseconds(1))
    #expect(log.events == ["a", "b"])
    manual.advance(by: .nanoseconds(1))
    #expect(log.events == ["a", "b", "late"])
  }

  @Test("Within advance, work finds the time at which it is due, and its own delays start there")
  func nestedDelays() {
    submit("1", after: .seconds(1)) {
      submit("1 now")
      submit("2", after: .seconds(1)) { submit("4", after: .seconds(2)) }
    }
    submit("1.5", after: .milliseconds(1_500))
    submit("2.5", after: .milliseconds(2_500))
    manual.advance(by: .seconds(3))
    #expect(log.events == ["1", "1 now", "1.5", "2", "2.5"])
    manual.advance(by: .milliseconds(999))
    #expect(log.events.count == 5)
    manual.advance(by: .milliseconds(1))
    #expect(log.events.last == "4")
  }

  @Test("A timer that is due comes before work that was handed over at that very time, and after older work")
  func timersAndWork() {
    submit("late", after: .seconds(1)) { submit("handed over") }
    submit("also late", after: .seconds(1))
    submit("old")
    manual.advance(by: .seconds(1))
    #expect(log.events == ["old", "late", "also late", "handed over"])
  }

  @Test("Work may run other work and move the time")
  func reentrancy() {
    submit("1", after: .seconds(1)) { [manual] in
      submit("inner")
      #expect(manual.runAll() == 2)
      submit("2", after: .seconds(1))
      manual.advance(by: .seconds(1))
      #expect(!manual.runNext())
    }
    submit("1b", after: .seconds(1))
    submit("3", after: .seconds(3))
    submit("4", after: .seconds(4))
    manual.advance(by: .seconds(3))
    #expect(log.events == ["1", "1b", "inner", "2", "3"])
    submit("still at 3", after: .seconds(1))
    manual.advance(by: .seconds(1))
    #expect(log.events.suffix(2) == ["4", "still at 3"])
  }

  @Test("Work that moves the time beyond the end of advance leaves it there")
  func reentrancyBeyondTheEnd() {
    submit("1", after: .seconds(1)) { [manual] in manual.advance(by: .seconds(9)) }
    submit("5", after: .seconds(5))
    manual.advance(by: .seconds(2))
    #expect(log.events == ["1", "5"])
    submit("11", after: .seconds(1))
    manual.advance(by: .milliseconds(999))
    #expect(log.events.count == 2)
    manual.advance(by: .milliseconds(1))
    #expect(log.events == ["1", "5", "11"])
  }

  @Test("R12: a cancelled timer is gone at once, with what it holds; the others keep their turns")
  func cancelledTimers() {
    let promises = (0..<5).map { _ in Promise<Int, TestError>() }
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      for (index, promise) in promises.enumerated() {
        let error = { @Sendable [log] in
          if index == 2 { object.use() }
          log.record("\(index)")
          return TestError(index)
        }
        _ = promise.future.timeout(after: .seconds(1 + index % 3), on: manual.context, failingWith: error())
      }
    }
    for index in [2, 0, 3] { promises[index].succeed(1) }
    #expect(manual.pendingCount == 2)
    for index in [1, 4] { #expect(!promises[index].isResolved) }
    manual.advance(by: .seconds(3))
    #expect(log.events == ["1", "4"])
    #expect(captured == nil)
  }

  @Test(
    "R5: cancelled timers leave no memory behind while an earlier timer waits",
    .enabled(if: AllocationCounts.areSupported)
  )
  func cancelledTimersLeaveNothing() {
    let cancelFirst = manual.context.schedule(afterNanoseconds: 1_000_000_000) {}
    let left = leastBytesLeft(count: 1_000) { count in
      for _ in 0..<count { manual.context.schedule(afterNanoseconds: 2_000_000_000) {}() }
    }
    #expect(left <= 0)
    cancelFirst()
  }

  @Test("R5: what a timer holds is released when it is cancelled, and when it has run", arguments: [false, true])
  func releases(isCancelled: Bool) {
    let promise = Promise<Int, TestError>()
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      let error = { @Sendable in
        object.use()
        return TestError()
      }
      _ = promise.future.timeout(after: .seconds(1), on: manual.context, failingWith: error())
    }
    #expect(captured != nil)
    if isCancelled { promise.succeed(1) } else { manual.advance(by: .seconds(1)) }
    #expect(captured == nil)
    #expect(manual.pendingCount == 0)
  }

  /// Releases a manual context with pending work, and returns how the derived futures ended, in order.
  private func ends(of submit: (ExecutionContext, Recorder<String>) -> Void) -> [String] {
    let log = Recorder<String>()
    weak var object: ManualContext?
    do {
      let manual = ManualContext()
      object = manual
      submit(manual.context, log)
      withExtendedLifetime(manual) {}
    }
    #expect(object == nil)
    return log.events
  }

  @Test("R5: a manual context with a pending timer goes away, and releases the timer and its work")
  func releasedTimer() {
    weak var captured: Tracked?
    let ends = ends { context, log in
      let object = Tracked()
      captured = object
      Future.after(.seconds(1), on: context).whenResolved(on: .immediate) { _ in object.use() }
      context.submit { object.use() }
      _ = context.schedule(afterNanoseconds: 1_000_000_000) { object.use() }
    }
    #expect(ends == [])
    #expect(captured == nil)
  }

  @Test("R2a: the futures that waited for a manual context break when it goes away")
  func brokenByTheEnd() {
    let value = Future<Int, any Error>.succeeded(1)
    let ends = ends { context, log in
      for (name, future) in [
        ("map", value.map(on: context) { $0 + 1 }), ("delay", value.delay(by: .seconds(1), on: context)),
        ("timeout", Future<Int, any Error>.never.timeout(after: .seconds(1), on: context)),
        ("work", Future(on: context) { 1 }),
      ] {
        future.whenFailed(on: .immediate) { log.record("\(name) \(($0 as? BrokenPromise)?.cause == .workDropped)") }
      }
    }
    #expect(Set(ends) == ["map true", "delay true", "timeout true", "work true"])
    #expect(ends.count == 4)
  }

  @Test("R2a: a context whose manual context has gone drops the work that it is given")
  func contextWithoutItsObject() {
    let context: ExecutionContext
    do {
      let manual = ManualContext()
      context = manual.context
      withExtendedLifetime(manual) {}
    }
    let value = Future<Int, any Error>.succeeded(1)
    for future in [value.map(on: context) { $0 }, value.delay(by: .seconds(1), on: context)] {
      guard case .failure(let error)? = future.peek() else {
        Issue.record("R2a: the future is \(String(describing: future.peek())), not broken")
        continue
      }
      #expect((error as? BrokenPromise)?.cause == .workDropped)
    }
  }

  @Test("R3: the work of a manual context that goes away, and cancelled work, is released outside its lock")
  func releasedOutsideTheLock() {
    let log = Recorder<String>()
    // Uses the context in its deinitializer. If the context released it under the lock, this would wait for ever.
    final class User: Sendable {
      let (context, log): (ExecutionContext, Recorder<String>)
      init(_ context: ExecutionContext, _ log: Recorder<String>) { (self.context, self.log) = (context, log) }
      func use() {}
      deinit {
        context.submit {}
        log.record("released")
      }
    }
    let cancel: @Sendable () -> Void
    do {
      let (user, other) = (User(manual.context, log), ManualContext())
      cancel = manual.context.schedule(afterNanoseconds: 1_000_000_000) { user.use() }
      let own = User(other.context, log)
      other.context.submit { own.use() }
      _ = other.context.schedule(afterNanoseconds: 1_000_000_000) { own.use() }
      withExtendedLifetime(other) {}
    }
    #expect(log.events == ["released"])
    cancel()
    #expect(log.events == ["released", "released"])
  }

  @Test(
    "A loop that goes on when its timer breaks does not keep the manual context from going away",
    .unlessSanitized
  )
  func endlessLoop() {
    let count = Locked(0)
    let ends = ends { context, log in
      @Sendable func poll() {
        count.withLock { $0 += 1 }
        Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context)
          .whenResolved(on: .immediate) { _ in poll() }
      }
      poll()
    }
    #expect(ends == [])
    #expect((1...20_000).contains(count.withLock(\.self)))
  }

  @Test(
    "R5: manual contexts that go away with pending work leave no memory",
    .enabled(if: AllocationCounts.areSupported)
  )
  func goneContextsLeaveNothing() async {
    // Runs in a process of its own. A process has one list of break observers: when contexts go away on two threads at
    // the same time, one thread frees a list that the other has allocated.
    await #expect(processExitsWith: .success) {
      let left = leastBytesLeft(count: 200) { count in
        for _ in 0..<count {
          let manual = ManualContext()
          let late = Future<Int, any Error>.never.timeout(after: .seconds(1), on: manual.context)
          late.whenResolved(on: manual.context) { _ in }
          Future.after(.seconds(1), on: manual.context).whenResolved(on: .immediate) { _ in }
          withExtendedLifetime(manual) {}
        }
      }
      #expect(left <= 0)
    }
  }

  @Test("Absurd times do not trap")
  func absurdTimes() {
    submit("late", after: .seconds(Int64.max))
    manual.advance(by: .seconds(1_000))
    #expect(log.events.isEmpty)
    for _ in 0..<3 {
      manual.advance(by: .seconds(Int64.max))
      submit("again", after: .seconds(Int64.max))
    }
    #expect(log.events == ["late", "again", "again"])
    manual.advance(by: .seconds(Int64.max))
    #expect(manual.pendingCount == 0)
  }

  @Test("Any thread may hand over work, and run it; each piece runs once")
  func threads() {
    let (count, runs) = (500, Recorder<Int>())
    let context = manual.context
    let producers = (0..<3).map { producer in
      { @Sendable in
        for index in 0..<count {
          let number = producer * count + index
          if index.isMultiple(of: 2) {
            context.submit { runs.record(number) }
          } else {
            Future.after(.seconds(index), on: context).whenSucceeded(on: .immediate) { runs.record(number) }
          }
        }
      }
    }
    let runners = [0, 1].map { runner in
      { @Sendable [manual] in
        for _ in 0..<count { if runner == 0 { manual.runNext() } else { manual.advance(by: .milliseconds(100)) } }
      }
    }
    race(producers + runners)
    manual.advance(by: .seconds(2 * count))
    #expect(runs.events.sorted() == Array(0..<3 * count))
    #expect(manual.pendingCount == 0)
  }
}
