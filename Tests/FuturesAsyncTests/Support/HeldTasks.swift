internal import Futures
internal import FuturesAsync
internal import TestSupport

/// A task executor that runs its jobs when the test asks for it, so a test decides when a resumed task continues.
final class HeldExecutor: TaskExecutor {
  private let jobs = Locked<[UnownedJob]>([])
  private let whenEnqueued: @Sendable () -> Void

  /// - Parameter whenEnqueued: Runs on the thread that resumes a task, before that thread continues.
  init(whenEnqueued: @escaping @Sendable () -> Void = {}) { self.whenEnqueued = whenEnqueued }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    whenEnqueued()
  }

  /// The number of enqueued jobs, one for each task that can continue.
  var jobCount: Int { jobs.withLock { $0.count } }

  /// Runs the enqueued tasks until each is suspended or has ended.
  func runAll() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}

/// A task that reads a sequence to its end and continues when the test asks for it.
final class HeldReader<Element: Sendable>: Sendable {
  private let executor: HeldExecutor
  private let log = Recorder<Element?>()
  private let task: Task<Void, Never>

  init(
    _ sequence: some AsyncSequence<Element, Never> & Sendable,
    whenEnqueued: @escaping @Sendable () -> Void = {}
  ) {
    executor = HeldExecutor(whenEnqueued: whenEnqueued)
    task = Task(executorPreference: executor) { [log] in
      for await element in sequence { log.record(element) }
      log.record(nil)
    }
  }

  /// Runs the task until it is suspended or has ended.
  func run() { executor.runAll() }

  func cancel() { task.cancel() }

  /// Cancels the task and runs it to its end.
  func end() {
    cancel()
    run()
  }

  /// The number of starts and resumptions since the last run; more than one is a fault.
  var resumptions: Int { executor.jobCount }

  /// The elements read so far; `nil` stands for the end.
  var elements: [Element?] { log.events }
}

extension HeldReader {
  /// The elements read so far, as text; "end" stands for the end.
  var words: [String] { elements.map { $0.map { word(for: $0) } ?? "end" } }
}

/// Returns an element as text: a fraction or the result.
func word(for element: some Sendable) -> String {
  switch element {
  case let progress as FutureProgress: "\(progress.fractionCompleted)"
  case let event as FutureEvents<Int, any Error>.Event: word(for: event)
  case let event as FutureEvents<Int, TestError>.Event: word(for: event)
  default: "\(element)"
  }
}

private func word<Failure>(for event: FutureEvents<Int, Failure>.Event) -> String {
  switch event {
  case .progress(let progress): word(for: progress)
  case .resolved(.success(let value)): "success \(value)"
  case .resolved(.failure(let error)): "failure \(type(of: error as any Error))"
  }
}

/// The ways in which a future ends.
enum Ending: CaseIterable, Sendable {
  case success, failure, cancellation, brokenPromise

  /// Ends the future of `promise`, whose only reference the caller holds.
  func happen<Failure>(to promise: inout Promise<Int, Failure>?, failing failure: Failure) {
    switch self {
    case .success: promise?.succeed(1)
    case .failure: promise?.fail(failure)
    case .cancellation: promise?.future.cancel()
    case .brokenPromise: promise = nil
    }
  }

  /// The last element, as text, that a reader of the events gets if the failure type is `any Error`.
  var word: String {
    switch self {
    case .success: "success 1"
    case .failure: "failure TestError"
    case .cancellation: "failure CancellationError"
    case .brokenPromise: "failure BrokenPromise"
    }
  }
}

/// A minimal model of a reader: the elements that the reader has to read.
struct ReaderModel {
  /// The events of a reader.
  enum Step: CaseIterable, Sendable { case run, report, cancel, end }

  /// The newest state and its number.
  private var fraction = 0.0
  private var version = 1
  /// Whether the future has ended, and the text of the result for a reader of the events.
  private var hasEnded = false
  private var result: [String]

  private var seen = 0
  private var isCancelled = false
  private var isOver = false
  private(set) var isResumed = true
  private(set) var words: [String] = []

  init(result: [String] = []) { self.result = result }

  mutating func report(_ fraction: Double) {
    guard !hasEnded else { return }
    self.fraction = fraction
    version += 1
    isResumed = !isOver
  }

  mutating func end(_ ending: Ending) {
    guard !hasEnded else { return }
    if ending == .success { report(1) }
    hasEnded = true
    isResumed = !isOver
  }

  mutating func cancel() {
    isCancelled = true
    isResumed = !isOver
  }

  mutating func run() {
    guard isResumed else { return }
    isResumed = false
    if isCancelled { return finish([]) }
    if seen < version { words.append("\(fraction)") }
    seen = version
    if hasEnded { finish(result) }
  }

  private mutating func finish(_ last: [String]) {
    words += last + ["end"]
    isOver = true
  }
}
