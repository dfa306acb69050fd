internal import AllocationCounter
internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R25: the cost of progress readers", .enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct ProgressCostTests {
  /// The allocations of the thread while `reporter` reports a thousand times, in units and in fractions, after a
  /// warm-up.
  static func allocations(_ reporter: ProgressReporter) -> Int64 {
    for number in 0..<10 { reporter.report(completed: Int64(number), of: 10_000) }
    let before = AllocationCounts.ofThread().allocations
    for number in 10..<1_000 { reporter.report(completed: Int64(number), of: 10_000) }
    for number in 200..<300 { reporter.report(fraction: Double(number) / 1_000) }
    return AllocationCounts.ofThread().allocations - before
  }

  @Test("R25: a report allocates nothing without readers and with busy readers")
  func reportsToBusyReadersAllocateNothing() async {
    let promise = Promise<Int, any Error>()
    #expect(Self.allocations(promise.progress) == 0)
    let busy = Promise<Int, any Error>()
    let updates = busy.future.progress
    var readers = (0..<3).map { _ in updates.makeAsyncIterator() }
    var events = busy.future.events.makeAsyncIterator()
    // One reader has read nothing, the other readers everything.
    for number in 1..<readers.count { #expect(await readers[number].next() != nil) }
    _ = await events.next()
    // A report resumes this reader, whose task does not continue.
    let resumed = HeldReader(updates)
    resumed.run()
    #expect(Self.allocations(busy.progress) == 0)
    resumed.run()
    #expect(resumed.fractions == [0, 0.299])
    resumed.cancel()
    resumed.run()
    for number in readers.indices { #expect(await readers[number].next()?.fractionCompleted == 0.299) }
    withExtendedLifetime((promise, busy)) {}
  }

  @Test("R25: a report allocates nothing with busy readers of derived futures")
  func busyReadersOfDerived() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let derived = future.map { $0 }.map { $0 }.flatMap { .succeeded($0) }
    let all = Future.all([future, derived])
    var reader = derived.progress.makeAsyncIterator()
    var readerOfAll = all.progress.makeAsyncIterator()
    #expect(await reader.next()?.fractionCompleted == 0)
    #expect(await readerOfAll.next()?.fractionCompleted == 0)
    #expect(Self.allocations(promise.progress) == 0)
    #expect(await reader.next()?.fractionCompleted == 0.1495)
    #expect(await readerOfAll.next() != nil)
    withExtendedLifetime(promise) {}
  }

  @Test("R25: reading the present state allocates nothing, and does not leave the actor")
  func readingPresentStateAllocatesNothing() async {
    let promise = Promise<Int, any Error>()
    let (future, reporter) = (promise.future, promise.progress)
    let actor = ThreadActor()
    let (allocations, jobs) = await run(on: actor) { _ in
      let jobs = actor.executor.jobCount
      var reader = future.progress.makeAsyncIterator()
      var events = future.events.makeAsyncIterator()
      var before: Int64 = 0
      for number in 1...110 {
        if number == 10 { before = AllocationCounts.ofThread().allocations }
        reporter.report(completed: Int64(number), of: 1_000)
        _ = await reader.next(isolation: #isolation)
        _ = await events.next(isolation: #isolation)
        var other = future.progress.makeAsyncIterator()
        _ = await other.next(isolation: #isolation)
      }
      let allocations = AllocationCounts.ofThread().allocations - before
      promise.succeed(1)
      for await _ in future.progress {}
      for await _ in Future.succeeded(1).events {}
      while await reader.next(isolation: #isolation) != nil {}
      while await events.next(isolation: #isolation) != nil {}
      return (allocations, actor.executor.jobCount - jobs)
    }
    #expect(allocations == 0)
    #expect(jobs == 0)
  }

  @Test("R25: a report allocates nothing when it resumes a suspended reader")
  func suspendedReader() {
    let promise = Promise<Int, any Error>()
    let reporter = promise.progress
    let reader = HeldReader(promise.future.progress.map { $0.fractionCompleted }.filter { $0 < 0 })
    var allocations: Int64 = 0
    for number in 1...110 {
      reader.run()
      let before = AllocationCounts.ofThread().allocations
      reporter.report(completed: Int64(number), of: 1_000)
      if number > 10 { allocations += AllocationCounts.ofThread().allocations - before }
      #expect(reader.resumptions == 1, "report \(number)")
    }
    #expect(allocations == 0)
    reader.cancel()
    reader.run()
    withExtendedLifetime(promise) {}
  }
}
