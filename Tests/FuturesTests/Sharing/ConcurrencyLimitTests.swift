import Futures
import FuturesTesting
import TestSupport
import Testing

/// Work on a limit: its promises, and the order in which it started.
private final class Jobs<Failure: Error>: Sendable {
  let limit: ConcurrencyLimit
  let started = Recorder<String>()
  let cancelled = Recorder<String>()

  init(limit: Int) { self.limit = ConcurrencyLimit(limit) }

  func run(_ name: String, _ priority: TaskPriority = .medium) -> (Promise<Int, Failure>, Future<Int, Failure>) {
    let promise = Promise<Int, Failure>("work")
    let cancelled = cancelled
    promise.onCancel { cancelled.record(name) }
    let future = limit.run(priority: priority) { [started, work = promise.future] in
      started.record(name)
      return work
    }
    return (promise, future)
  }
}

@Suite("A limit of concurrent work")
struct ConcurrencyLimitTests {
  @Test("At most `limit` pieces of work run, and the next starts when one resolves")
  func limit() {
    let jobs = Jobs<TestError>(limit: 2)
    let work = ["a", "b", "c", "d"].map { jobs.run($0) }
    #expect(jobs.started.events == ["a", "b"])
    #expect(jobs.limit.runningCount == 2)
    #expect(jobs.limit.waitingCount == 2)
    work[1].0.succeed(1)
    #expect(jobs.started.events == ["a", "b", "c"])
    work[0].0.fail(TestError(1))
    #expect(jobs.started.events == ["a", "b", "c", "d"])
    #expect(work.map { $0.1.peek() } == [.failure(TestError(1)), .success(1), nil, nil])
    work[2].0.succeed(2)
    work[3].0.succeed(3)
    #expect(jobs.limit.runningCount == 0)
    #expect(work.suffix(2).map { $0.1.peek() } == [.success(2), .success(3)])
  }

  @Test("Waiting work starts by priority, and then by arrival")
  func priorities() {
    let jobs = Jobs<TestError>(limit: 1)
    let work = [("a", .medium), ("b", .low), ("c", .high), ("d", .medium), ("e", .high)].map { jobs.run($0, $1) }
    for index in [0, 2, 4, 3, 1] { work[index].0.succeed(1) }
    #expect(jobs.started.events == ["a", "c", "e", "d", "b"])
  }

  @Test("Raised work starts before work of lower priority, in the order of its arrival; lowering has no effect")
  func raising() {
    let jobs = Jobs<TestError>(limit: 1)
    let (a, runs) = jobs.run("a")
    let (b, first) = jobs.run("b", .low)
    let (c, _) = jobs.run("c", .high)
    let (d, _) = jobs.run("d", .medium)
    #expect(jobs.limit.raisePriority(of: first, to: .high))
    #expect(jobs.limit.raisePriority(of: first, to: .low))
    #expect(!jobs.limit.raisePriority(of: runs, to: .high))
    #expect(!jobs.limit.raisePriority(of: Future<Int, TestError>.succeeded(1), to: .high))
    for promise in [a, b, c, d] { promise.succeed(1) }
    #expect(jobs.started.events == ["a", "b", "c", "d"])
    #expect(!jobs.limit.raisePriority(of: first, to: .high))
  }

  @Test("R15: cancelled work that waits never starts, and frees no slot")
  func cancelWaiting() {
    let jobs = Jobs<any Error>(limit: 1)
    let (a, _) = jobs.run("a")
    let (_, b) = jobs.run("b")
    let (last, c) = jobs.run("c")
    b.cancel()
    #expect(isCancelled(b))
    #expect(jobs.limit.waitingCount == 1)
    a.succeed(1)
    #expect(jobs.started.events == ["a", "c"])
    last.succeed(3)
    #expect(try! c.peek()?.get() == 3)
  }

  @Test("R16: work with another consumer keeps its slot until it resolves")
  func sharedWork() {
    let limit = ConcurrencyLimit(1)
    let promise = Promise<Int, any Error>()
    let other = promise.future.map { $0 }
    let first = limit.run { promise.future }
    let second = limit.run { Future<Int, any Error>.succeeded(2) }
    first.cancel()
    #expect(limit.runningCount == 1)
    #expect(second.peek() == nil)
    promise.succeed(1)
    #expect(try! other.peek()?.get() == 1)
    #expect(try! second.peek()?.get() == 2)
  }

  @Test("R16: cancelled work that cannot represent cancellation still runs, and is left at once")
  func cancelWithoutCancelledCase() {
    let jobs = Jobs<Never>(limit: 1)
    let (a, _) = jobs.run("a")
    let (b, future) = jobs.run("b")
    future.cancel()
    #expect(jobs.limit.waitingCount == 1)
    a.succeed(1)
    #expect(jobs.started.events == ["a", "b"])
    #expect(jobs.cancelled.events == ["b"])
    b.succeed(2)
    #expect(future.peek() == .success(2))
    #expect(jobs.limit.runningCount == 0)
  }

  @Test("R4: a dropped promise of running work frees its slot, with either kind of failure type")
  func brokenWork() {
    let limit = ConcurrencyLimit(1)
    let first = limit.run { Promise<Int, any Error>("dropped").future }
    #expect(throws: BrokenPromise.self) { try first.peek()?.get() }
    let second = limit.run { Promise<Int, TestError>("dropped").future }
    #expect(second.peek() == nil)
    #expect(limit.runningCount == 0)
  }

  @Test("Work that can never resolve frees its slot, from the start or later, also when it is cancelled afterwards")
  func neverResolvingWork() {
    let limit = ConcurrencyLimit(1)
    let first = limit.run { Future<Int, any Error>.never }
    #expect(limit.runningCount == 0)
    let promise = Promise<Int, any Error>()
    let second = limit.run { promise.future.flatMap { _ in Future<Int, any Error>.never } }
    #expect(limit.runningCount == 1)
    promise.succeed(1)
    #expect(limit.runningCount == 0)
    first.cancel()
    second.cancel()
    #expect(limit.runningCount == 0)
  }

  @Test("R6: a million pieces of work that complete at once take no stack")
  func depth() {
    onThread {
      let count = TestTier.choose(standard: 20_000, thorough: 1_000_000)
      let limit = ConcurrencyLimit(1)
      let promise = Promise<Int, Never>()
      let first = limit.run { promise.future }
      let rest = (1...count).map { number in limit.run { Future<Int, Never>.succeeded(number) } }
      promise.succeed(0)
      #expect(first.peek() == .success(0))
      #expect(rest.last?.peek() == .success(count))
    }
  }

  @Test(
    "R28: a call starts its own work, a resolution what waited for it, each at most 16 pieces more; the rest is handed on"
  )
  func boundOfATurn() {
    onThread {
      let handedOn = Recorder<@Sendable () -> Void>()
      let previous = Trampoline.current.setElsewhere { handedOn.record($0) }
      let (limit, started) = (ConcurrencyLimit(1), Recorder<Int>())
      /// Stands for threads that add work meanwhile.
      @Sendable func add(_ count: Int) {
        for number in 0..<count {
          _ = limit.run {
            started.record(number)
            return Future<Int, Never>.succeeded(number)
          }
        }
      }
      _ = limit.run {
        add(100)
        return Future<Int, Never>.succeeded(0)
      }
      #expect(started.events == Array(0..<16))
      #expect(handedOn.events.count == 1)
      handedOn.events[0]()
      #expect(started.events == Array(0..<100))

      let promise = Promise<Int, Never>()
      _ = limit.run { promise.future }
      add(1_000)
      _ = limit.run(priority: .high) {
        add(100)
        return Future<Int, Never>.succeeded(0)
      }
      promise.succeed(1)
      #expect(started.events.count == 100 + 1_000 + 16)
      handedOn.events.last?()
      #expect(started.events.count == 100 + 1_000 + 100)
      #expect(limit.runningCount == 0)
      _ = Trampoline.current.setElsewhere(previous)
    }
  }

  @Test("Cancelled and raised work leaves no memory behind, while other work holds the only slot")
  func memory() {
    let limit = ConcurrencyLimit(1)
    let promise = Promise<Int, any Error>()
    let running = limit.run { promise.future }
    let bytes = leastBytesLeft(count: 3_000) { count in
      for _ in 0..<count {
        let future = limit.run(priority: .low) { Future<Int, any Error>.succeeded(1) }
        limit.raisePriority(of: future, to: .high)
        future.cancel()
      }
    }
    // Each piece of work has a turn of 32 bytes, and a second turn after its priority was raised.
    #expect(bytes < 2_000)
    #expect(limit.waitingCount == 0)
    running.cancel()
  }
}
