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
    #expect(Self.allocations(busy.progress) == 0)
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

  @Test("R25: reading the present state allocates nothing")
  func readingPresentStateAllocatesNothing() async {
    let promise = Promise<Int, any Error>()
    let updates = promise.future.progress
    let reporter = promise.progress
    let allocations = await run(on: ThreadActor()) { actor in
      var reader = updates.makeAsyncIterator()
      var count: Int64 = 0
      for number in 1...110 {
        if number == 10 { count = AllocationCounts.ofThread().allocations }
        reporter.report(completed: Int64(number), of: 1_000)
        _ = await reader.next(isolation: actor)
        var other = updates.makeAsyncIterator()
        _ = await other.next(isolation: actor)
      }
      return AllocationCounts.ofThread().allocations - count
    }
    #expect(allocations == 0)
    withExtendedLifetime(promise) {}
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

  // MARK: - In processes of their own, where nothing else allocates

  /// Less than the smallest object for each of 10,000.
  static let tolerance: Int64 = 100_000

  /// The bytes that `body` leaves behind, in the best of three rounds, after one to warm up.
  ///
  /// A leak shows in each round, the memory of a new system thread only in one.
  static func bytesLeft(_ body: () async -> Void) async -> Int64 {
    await body()
    var least = Int64.max
    for _ in 0..<3 {
      let before = AllocationCounts.ofProcess().liveBytes
      await body()
      least = min(least, AllocationCounts.ofProcess().liveBytes - before)
    }
    return least
  }

  @Test("R25: 100,000 cancelled reads of one pending future leave no memory behind")
  func cancelledReads() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let future = promise.future.map { $0 }
      let other = Task { await read(future.progress).last?.fractionCompleted }
      let bytes = await Self.bytesLeft {
        for number in 0..<25_000 {
          let task = Task.immediate {
            if number % 3 == 0 { withUnsafeCurrentTask { $0?.cancel() } }
            return number.isMultiple(of: 2) ? await read(future.progress).count : await read(future.events).count
          }
          task.cancel()
          let count = await task.value
          precondition(count == (number % 3 == 0 ? 0 : 1))
        }
      }
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
      promise.succeed(1)
      #expect(await other.value == 1)
    }
  }

  @Test("R25: loops left by `break` leave no memory behind")
  func abandonedLoops() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let bytes = await Self.bytesLeft {
        for _ in 0..<10_000 {
          for await _ in future.progress { break }
          for await _ in future.events { break }
          _ = future.progress.makeAsyncIterator()
        }
      }
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
      withExtendedLifetime(promise) {}
    }
  }

  @Test("R25: busy readers, and resumed readers that have not continued, hold O(1) memory")
  func slowReaders() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let reporter = promise.progress
      let updates = promise.future.progress
      var busy = updates.makeAsyncIterator()
      #expect(await busy.next()?.fractionCompleted == 0)
      let resumed = (0..<10).map { _ in HeldReader(updates) }
      for reader in resumed { reader.run() }
      var completed: Int64 = 0
      let bytes = await Self.bytesLeft {
        for _ in 0..<50_000 {
          completed += 1
          reporter.report(completed: completed, of: 1_000_000)
        }
      }
      #expect(bytes < 1_000, "\(bytes) bytes")
      #expect(await busy.next()?.completedUnitCount == 200_000)
      promise.succeed(1)
      #expect(await busy.next()?.isFinished == true)
      for (index, reader) in resumed.enumerated() {
        reader.run()
        #expect(reader.fractions == [0, 1, nil], "reader \(index)")
      }
    }
  }

  @Test("R25: a future keeps nothing of 10,000 readers that were suspended and resumed")
  func resumedReadersLeaveNothing() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let reporter = promise.progress
      let reader = HeldReader(promise.future.progress.map { $0.fractionCompleted }.filter { $0 < 0 })
      reader.run()
      var completed: Int64 = 0
      let bytes = await Self.bytesLeft {
        for _ in 0..<10_000 {
          completed += 1
          reporter.report(completed: completed, of: 1_000_000)
          reader.run()
        }
      }
      #expect(bytes < 1_000, "\(bytes) bytes")
      promise.succeed(1)
      reader.run()
      #expect(reader.elements == [nil])
    }
  }
}
