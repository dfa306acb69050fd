internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// The executor of the task shows that an await has not resumed: resuming a task enqueues it before
// anything else.

@Suite(.timeLimit(.minutes(20)))
struct AwaitAfterProgressTests {
  /// An event of a future, in the order of the log.
  enum Note: Equatable, Sendable {
    case progress(Double)
    /// An await is resumed.
    case resumed
    /// A reader of the progress is resumed.
    case notified
    /// A callback gets the result.
    case called
  }

  /// Watches `future` with callbacks, readers and awaits, attached in turns.
  struct Watch {
    let log = Recorder<Note>()
    let inbox = Inbox<Note>()
    private let executors: [HeldExecutor]
    private let reader: HeldReader<FutureProgress>

    init<Failure>(_ future: Future<Int, Failure>, isReading: Bool = true) {
      let (log, inbox) = (log, inbox)
      let isReady = Locked(false)
      let note = { @Sendable (note: Note) in
        guard isReady.withLock({ $0 }) else { return }
        log.record(note)
        inbox.send(note)
      }
      let await = {
        let executor = HeldExecutor { note(.resumed) }
        Task(executorPreference: executor) { _ = await future.result }
        executor.runAll()
        return executor
      }
      let first = `await`()
      future.whenResolved(on: .immediate) { _ in note(.called) }
      reader = isReading ? HeldReader(future.progress) { note(.notified) } : HeldReader(Future.succeeded(1).progress)
      reader.run()
      let second = `await`()
      future.whenProgressed(on: .immediate) { note(.progress($0.fractionCompleted)) }
      executors = [first, second, `await`()]
      isReady.withLock { $0 = true }
    }

    /// Waits until the awaits and the callback have been notified of a success, and checks the log.
    func checkEnd() async {
      // Three awaits and a callback; the number of reports before them depends on the future.
      var others = 4
      while others > 0, let note = await inbox.next() {
        if note == .resumed || note == .called { others -= 1 }
      }
      check(last: 1)
      finish()
    }

    /// Lets the awaits and the reader end.
    func finish() {
      for executor in executors { executor.runAll() }
      reader.cancel()
      reader.run()
    }

    /// Checks that all three awaits were resumed after the last report, which was `last`.
    func check(last: Double?, _ sourceLocation: SourceLocation = #_sourceLocation) {
      let notes = log.events
      let resumed = notes.indices.filter { notes[$0] == .resumed }
      let reports = notes.indices.filter { if case .progress = notes[$0] { true } else { false } }
      #expect(resumed.count == 3, "\(notes)", sourceLocation: sourceLocation)
      #expect(notes.filter { $0 == .called }.count == 1, "\(notes)", sourceLocation: sourceLocation)
      if let last {
        #expect(reports.map { notes[$0] }.last == .progress(last), "\(notes)", sourceLocation: sourceLocation)
      }
      guard let lastReport = reports.last, let first = notes.firstIndex(where: { $0 == .resumed || $0 == .called })
      else { return }
      #expect(lastReport < first, "\(notes)", sourceLocation: sourceLocation)
    }
  }

  @Test(
    "R20: awaits of a promise's future and of its derived futures continue after the last report",
    arguments: Derivation.all,
    Ending.allCases
  )
  func awaitsContinueAfterLastReport(row: Derivation, ending: Ending) {
    var promise: Promise<Int, any Error>? = Promise()
    defer { withExtendedLifetime(promise) {} }
    guard let source = promise?.future else { return }
    let future = row.derive(source, .succeeded(2))
    let watch = Watch(future)
    promise?.progress.report(fraction: 0.5)
    #expect(watch.log.events.allSatisfy { if case .progress = $0 { true } else { $0 == .notified } })
    ending.happen(to: &promise, failing: TestError(1))
    if !future.isResolved { future.cancel() }  // a shielded future
    let isSuccess = future.peek()?.isSuccess ?? false
    watch.check(last: isSuccess ? 1 : nil)
    watch.finish()
  }

  @Test(
    "R20: awaits of futures that a task of the library resolves continue after the last report",
    arguments: Derivation.all,
    [false, true]
  )
  func resolvedByTask(row: Derivation, isReading: Bool) async {
    let gate = Gate()
    let promise = Promise<Int, any Error>()
    promise.resolve { [reporter = promise.progress] in
      await gate.pass()
      for number in 1...3 { reporter.report(fraction: Double(number) / 4) }
      return 1
    }
    let task = Future<Int, any Error> {
      await gate.pass()
      return 1
    }
    let watches = [promise.future, task].map { Watch(row.derive($0, .succeeded(2)), isReading: isReading) }
    gate.open()
    for watch in watches { await watch.checkEnd() }
  }

  /// The code that resolves the future while a callback of its progress runs.
  enum Resolver: CaseIterable, Sendable { case promise, task, reportingThread }

  @Test(
    "R20: if a future resolves while a thread delivers a report, earlier and later awaits continue after the report",
    arguments: Resolver.allCases,
    [Ending.success, .failure]
  )
  func resolutionDuringReport(resolver: Resolver, ending: Ending) async {
    // A failure has no report of its own.
    guard resolver != .reportingThread || ending == .success else { return }
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    future.whenProgressed(on: .immediate) { progress in
      guard resolver == .reportingThread ? progress.isFinished : progress.fractionCompleted == 0.5 else { return }
      isInside.signal()
      mayGoOn.wait()
    }
    let watches = [Watch(future), Watch(future.map { $0 })]
    let resolve = { @Sendable in _ = ending == .success ? promise.succeed(1) : promise.fail(TestError(1)) }
    let reporting = Future(on: .newThread) {
      promise.progress.report(fraction: 0.5)
      if resolver == .reportingThread { resolve() }
    }
    await Future(on: .newThread) { isInside.wait() }.value
    switch resolver {
    case .promise: resolve()
    case .task:
      let work: @Sendable () async throws -> Int = { if ending == .success { 1 } else { throw TestError(1) } }
      await promise.resolve(with: work).value
    case .reportingThread: break
    }
    #expect(promise.isResolved)
    let (executor, hasEnded) = (HeldExecutor(), Recorder<Bool>())
    let late = Task(executorPreference: executor) {
      _ = await future.result
      hasEnded.record(true)
    }
    executor.runAll()
    // All awaits are still suspended, because a callback has yet to be notified.
    #expect(hasEnded.events.isEmpty)
    for watch in watches {
      let notes = watch.log.events
      #expect(!notes.contains(.resumed) && !notes.contains(.called), "\(notes)")
    }
    mayGoOn.signal()
    await reporting.value
    executor.runAll()
    await late.value
    for watch in watches {
      watch.check(last: ending == .success ? 1 : 0.5)
      watch.finish()
    }
  }

  @Test("R20: a resolution inside progress callbacks, at any depth, resumes awaits after the last report")
  func resolutionInCallbackResumesAfterLastReport() {
    let promises = (0..<40).map { _ in Promise<Int, any Error>() }
    let watches = promises.flatMap { [Watch($0.future), Watch($0.future.map { $0 })] }
    for (promise, next) in zip(promises, promises.dropFirst()) {
      promise.future.whenProgressed(on: .immediate) { progress in
        if progress.fractionCompleted == 0.5 { next.progress.report(fraction: 0.5) }
        if progress.isFinished { next.succeed(1) }
      }
    }
    promises[0].future.whenProgressed(on: .immediate) { if $0.fractionCompleted == 0.5 { promises[0].succeed(1) } }
    promises[0].progress.report(fraction: 0.5)
    for watch in watches {
      watch.check(last: 1)
      watch.finish()
    }
  }

  @Test("R22: in a cancelled task, a resolved future gives its result, even while a thread delivers the last report")
  func cancelledMeanwhile() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let tasks = Recorder<Task<Result<Int, any Error>, Never>>()
    future.whenProgressed(on: .immediate) { progress in
      guard progress.isFinished else { return }
      for method in AwaitMethod.allCases { tasks.record(method.start(future, isCancelled: true)) }
    }
    promise.succeed(1)
    #expect(tasks.events.count == 5)
    for task in tasks.events { #expect(await task.value.isSuccess) }
  }
}
