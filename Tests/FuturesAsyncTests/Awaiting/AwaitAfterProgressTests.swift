internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// The executor of the task shows that an await has not resumed: resuming a task enqueues it before
// anything else.

@Suite(.timeLimit(.minutes(20)))
struct AwaitAfterProgressTests {
  /// Watches `future` with awaits, a callback and a listener, attached in turns.
  struct Watch {
    /// The reported fractions; `nil` for each resumed await, and for the callback.
    let log = Recorder<Double?>()
    private let executors: [HeldExecutor]

    init<Failure>(_ future: Future<Int, Failure>) {
      let isReady = Locked(false)
      let note = { @Sendable [log] (fraction: Double?) in if isReady.withLock({ $0 }) { log.record(fraction) } }
      let await = {
        let executor = HeldExecutor { note(nil) }
        Task(executorPreference: executor) { _ = await future.result }
        executor.runAll()
        return executor
      }
      let first = `await`()
      future.whenResolved(on: .immediate) { _ in note(nil) }
      let second = `await`()
      future.whenProgressed(on: .immediate) { note($0.fractionCompleted) }
      executors = [first, second, `await`()]
      isReady.withLock { $0 = true }
    }

    /// Checks that the callback and the awaits were notified after the last report, which was `last`, and ends the tasks.
    func check(last: Double?, _ sourceLocation: SourceLocation = #_sourceLocation) {
      let notes = log.events
      #expect(notes.drop { $0 != nil } == [nil, nil, nil, nil], "\(notes)", sourceLocation: sourceLocation)
      if let last { #expect(notes.dropLast(4).last == last, "\(notes)", sourceLocation: sourceLocation) }
      for executor in executors { executor.runAll() }
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
    #expect(!watch.log.events.contains(nil))
    ending.happen(to: &promise, failing: TestError(1))
    if !future.isResolved { future.cancel() }  // a shielded future
    watch.check(last: future.peek()?.isSuccess == true ? 1 : nil)
  }

  @Test("R20: awaits of a future that a task resolves continue after the last report", arguments: Derivation.all)
  func resolvedByTask(row: Derivation) async {
    let gate = Gate()
    let future = row.derive(
      Future {
        await gate.pass()
        return 1
      },
      .succeeded(2)
    )
    let watch = Watch(future)
    let last = Task.immediate { await future.result }  // attached after the others
    gate.open()
    _ = await last.value
    watch.check(last: 1)
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
    for watch in watches { #expect(!watch.log.events.contains(nil)) }
    mayGoOn.signal()
    await reporting.value
    executor.runAll()
    await late.value
    for watch in watches { watch.check(last: ending == .success ? 1 : 0.5) }
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
