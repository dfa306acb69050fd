internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// The executor of the task shows that an await has not resumed: resuming a task enqueues it before
// anything else.

@Suite("R20: the last report comes before an await continues", .timeLimit(.minutes(20)))
struct ProgressBeforeAwaitTests {
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

  /// Returns futures that depend on `future` in different ways.
  static func derived(_ future: Future<Int, any Error>) -> [Future<Int, any Error>] {
    [
      future, future.map { $0 }, future.map { $0 }.flatMap { .succeeded($0) }, future.shielded,
      future.flatMap { _ in Future<Int, any Error> { promise in promise.succeed(2) } },
      Future.all([future, future.map { $0 }]).map { $0[0] }, Future.race([future, .never]),
      Future.zip(future, Future<Int, any Error>.succeeded(2)).map { $0.0 },
      future.timeout(after: .seconds(1_000)), future.recover { _ in 0 }.setFailureType(to: (any Error).self),
      future.tap(on: .immediate) { _ in }, future.receive(on: .immediate),
      Future { $0.follow(future) }, Future.lazy { $0.follow(future) },
      Future.retry(attempts: 1) { future }, Future.serial([1]) { _ in future }.map { $0[0] },
    ]
  }

  @Test(
    "R20: awaits of a promise's future and of its derived futures continue after the last report",
    arguments: Ending.allCases
  )
  func awaitsContinueAfterLastReport(ending: Ending) {
    for number in Self.derived(.succeeded(1)).indices {
      var promise: Promise<Int, any Error>? = Promise()
      defer { withExtendedLifetime(promise) {} }
      guard let source = promise?.future else { return }
      let future = Self.derived(source)[number]
      let watch = Watch(future)
      promise?.progress.report(fraction: 0.5)
      #expect(watch.log.events.allSatisfy { if case .progress = $0 { true } else { $0 == .notified } }, "\(number)")
      ending.happen(to: &promise, failing: TestError(1))
      if !future.isResolved { future.cancel() }  // a shielded future
      let isSuccess = future.peek()?.isSuccess ?? false
      watch.check(last: isSuccess ? 1 : nil)
      watch.finish()
    }
  }

  @Test(
    "R20: awaits of futures that a task of the library resolves continue after the last report",
    arguments: [false, true]
  )
  func resolvedByTask(isReading: Bool) async {
    for number in Self.derived(.succeeded(1)).indices {
      for isPromise in [false, true] {
        let gate = Gate()
        let source: Future<Int, any Error>
        if isPromise {
          let promise = Promise<Int, any Error>()
          promise.resolve { [reporter = promise.progress] in
            await gate.pass()
            for number in 1...3 { reporter.report(fraction: Double(number) / 4) }
            return 1
          }
          source = promise.future
        } else {
          source = Future {
            await gate.pass()
            return 1
          }
        }
        let watch = Watch(Self.derived(source)[number], isReading: isReading)
        gate.open()
        // Three awaits and a callback; the number of reports before them depends on the future.
        var others = 4
        while others > 0, let note = await watch.inbox.next() {
          if note == .resumed || note == .called { others -= 1 }
        }
        watch.check(last: 1)
        watch.finish()
      }
    }
  }

  @Test(
    "R20: a resolution during a progress callback, in a task or not, resumes awaits after that callback",
    arguments: [false, true],
    [Ending.success, .failure]
  )
  func duringCallback(isTask: Bool, ending: Ending) async {
    let promise = Promise<Int, any Error>()
    let future = promise.future.map { $0 }
    let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    promise.future.whenProgressed(on: .immediate) { progress in
      guard progress.fractionCompleted == 0.5 else { return }
      isInside.signal()
      mayGoOn.wait()
    }
    let (watch, derivedWatch) = (Watch(promise.future), Watch(future))
    let reporting = Future(on: .newThread) { [reporter = promise.progress] in reporter.report(fraction: 0.5) }
    await blocking { isInside.wait() }
    if isTask {
      let work: @Sendable () async throws -> Int = { if ending == .success { 1 } else { throw TestError(1) } }
      await promise.resolve(with: work).value
    } else {
      var unowned: Promise<Int, any Error>? = promise
      ending.happen(to: &unowned, failing: TestError(1))
    }
    // The future is resolved. Its waiters are still suspended, because a callback has yet to be notified.
    #expect(promise.isResolved)
    for (index, notes) in [watch.log.events, derivedWatch.log.events].enumerated() {
      #expect(!notes.contains(.resumed) && !notes.contains(.called), "notes \(index)")
    }
    mayGoOn.signal()
    #expect(await reporting.value)
    watch.check(last: ending == .success ? 1 : 0.5)
    derivedWatch.check(last: ending == .success ? 1 : 0.5)
    watch.finish()
    derivedWatch.finish()
  }

  /// The report that a thread is delivering when an await begins.
  enum Place: CaseIterable, Sendable { case inAReport, inTheLastReport }

  @Test(
    "R20: an await that begins while a thread delivers the last report continues after it",
    arguments: Place.allCases,
    [false, true]
  )
  func awaitDuringReportContinuesAfterIt(place: Place, isTyped: Bool) async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    let (isInside, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let log = Recorder<Note>()
    future.whenProgressed(on: .immediate) { progress in
      guard progress.isFinished == (place == .inTheLastReport), progress.fractionCompleted > 0 else { return }
      isInside.signal()
      mayGoOn.wait()
    }
    future.whenProgressed(on: .immediate) { log.record(.progress($0.fractionCompleted)) }
    let working = Future(on: .newThread) {
      promise.progress.report(fraction: 0.5)
      if place == .inTheLastReport { promise.succeed(1) }
      return 1
    }
    await blocking { isInside.wait() }
    if place == .inAReport { promise.succeed(1) }
    let executor = HeldExecutor()
    let task = Task(executorPreference: executor) {
      if isTyped { _ = await future.result } else { _ = try? await future.value }
      log.record(.resumed)
    }
    // An await that does not wait for the report would continue here.
    executor.runAll()
    mayGoOn.signal()
    #expect(await working.value == 1)
    executor.runAll()
    await task.value
    #expect(
      log.events
        == [.progress(0), .progress(0.5), .progress(1), .resumed].filter {
          place == .inTheLastReport || $0 != .progress(0.5)
        }
    )
  }

  /// Runs `body`, which blocks its thread, on a thread without a task.
  private func blocking(_ body: @escaping @Sendable () -> Void) async {
    await Future(on: .newThread, body).value
  }

  @Test("R20: a resolution inside a progress callback resumes awaits after the last report")
  func resolutionInCallbackResumesAfterLastReport() {
    let promise = Promise<Int, any Error>()
    promise.future.whenProgressed(on: .immediate) { if $0.fractionCompleted == 0.5 { promise.succeed(1) } }
    let watch = Watch(promise.future)
    let derivedWatch = Watch(promise.future.map { $0 })
    promise.progress.report(fraction: 0.5)
    watch.check(last: 1)
    derivedWatch.check(last: 1)
    watch.finish()
    derivedWatch.finish()
  }

  @Test("R20: a resolution deep inside deliveries, which defer callbacks, resumes awaits after the last report")
  func deepResolutionResumesAfterLastReport() {
    let promises = (0..<40).map { _ in Promise<Int, any Error>() }
    let watches = promises.map { Watch($0.future) }
    for (promise, next) in zip(promises, promises.dropFirst()) {
      promise.future.whenProgressed(on: .immediate) { progress in
        if progress.fractionCompleted == 0.5 { next.progress.report(fraction: 0.5) }
        if progress.isFinished { next.succeed(1) }
      }
    }
    promises[0].progress.report(fraction: 0.5)
    promises[0].succeed(1)
    for watch in watches {
      watch.check(last: 1)
      watch.finish()
    }
  }

  @Test("R20: reports, the resolution and new awaits race; no await continues before the last report")
  func noAwaitContinuesBeforeLastReport() async {
    for round in 0..<150 {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let watches = [Watch(future), Watch(future.map { $0 })]
      let last = Locked(0.0)
      future.whenProgressed(on: .immediate) { progress in last.withLock { $0 = progress.fractionCompleted } }
      let tasks = Locked<[Task<Double, Never>]>([])
      TestSupport.race([
        { for number in 1..<10 { promise.progress.report(fraction: Double(number) / 20) } },
        { for number in 1..<10 { promise.progress.report(completed: Int64(number), of: 20) } },
        {
          if round.isMultiple(of: 2) { promise.succeed(1) } else { promise.resolve { 1 } }
        },
        {
          for _ in 0..<5 {
            let task = Task.detached {
              _ = await future.result
              return last.withLock { $0 }
            }
            tasks.withLock { $0.append(task) }
          }
        },
      ])
      for watch in watches {
        var others = 4
        while others > 0, let note = await watch.inbox.next() {
          if note == .resumed || note == .called { others -= 1 }
        }
        watch.check(last: 1)
        watch.finish()
      }
      for task in tasks.withLock({ $0 }) { #expect(await task.value == 1) }
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
