internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Tests readers of a progress in great numbers and under real threads, for ThreadSanitizer.
@Suite("R25: readers of a progress and threads", .timeLimit(.minutes(20)))
struct ProgressReaderStressTests {
  static let rounds = TestTier.choose(standard: 100, thorough: 300)

  /// Whether a reader can have seen these fractions: each more than the one before.
  static func areRising(_ fractions: [Double]) -> Bool { zip(fractions, fractions.dropFirst()).allSatisfy { $0 < $1 } }

  @Test("R25: a reader continues while a thread reports without a pause")
  func readerContinuesDuringReports() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let isEnough = Locked(false)
    let reporting = Future(on: .newThread) { [reporter = promise.progress] in
      var completed: Int64 = 0
      while !isEnough.withLock({ $0 }) {
        completed += 1
        reporter.report(completed: completed, of: .max)
      }
      return completed
    }
    var reader = future.progress.makeAsyncIterator()
    var previous: Int64 = -1
    // If the reports had to stop before the reader is notified, this loop would never end.
    for _ in 0..<100 {
      let completed = await reader.next()?.completedUnitCount ?? -1
      #expect(completed > previous, "after \(previous)")
      previous = completed
    }
    isEnough.withLock { $0 = true }
    #expect(await reporting.value >= previous)
    promise.fail(TestError(1))
    while await reader.next() != nil {}
  }

  @Test("R25: reports, new readers, cancellation and the resolution race; each reader sees fractions rise to the last")
  func reportsReadersAndEndRace() async {
    for round in 0..<Self.rounds {
      let promise = Promise<Int, any Error>()
      let future = promise.future.map { $0 }
      let tasks = Locked<[Task<[FutureProgress], Never>]>([])
      let start = { @Sendable in
        let task = Task { await read(future.progress) }
        tasks.withLock { $0.append(task) }
      }
      let report = { @Sendable (first: Int) in
        for number in stride(from: first, to: 30, by: 3) { promise.progress.report(fraction: Double(number) / 30) }
      }
      // Some readers are suspended when the race begins, and other readers are about to be.
      let cancelled = (0..<4).map { number in
        let read: @Sendable () async -> [FutureProgress] = { await FuturesAsyncTests.read(future.progress) }
        return number.isMultiple(of: 2) ? Task.immediate(operation: read) : Task(operation: read)
      }
      race([
        { report(0) }, { report(1) }, { report(2) },
        { for _ in 0..<5 { start() } },
        { for task in cancelled { task.cancel() } },
        { if round % 3 > 0 { _ = round % 3 == 1 ? promise.succeed(1) : promise.fail(TestError(1)) } },
      ])
      promise.succeed(1)
      let last = future.currentProgress
      #expect(last.isFinished == (round % 3 < 2), "round \(round)")
      for task in cancelled {
        let fractions = await task.value.map(\.fractionCompleted)
        #expect(Self.areRising(fractions), "round \(round)")
      }
      for task in tasks.withLock({ $0 }) {
        let read = await task.value
        #expect(read.last == last, "round \(round)")
        #expect(Self.areRising(read.map(\.fractionCompleted)), "round \(round)")
      }
    }
  }

  @Test("R25, R4: dropping the promise races with readers and cancellation; all readers end")
  func dropRacesWithReaders() async {
    for _ in 0..<Self.rounds {
      let (future, promise) = breakable("dropped", TestError.self)
      let derived = Future.all([future.map { $0 }])
      let tasks = (0..<3).map { number in
        Task.immediate { number == 0 ? await read(derived.progress).count : await read(future.events).count }
      }
      race([{ promise.drop() }, { tasks[2].cancel() }])
      for task in tasks { #expect(await task.value <= 1) }
    }
  }
}
