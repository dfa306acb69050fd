internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// Work that was submitted to the main queue: a job of the main actor, or a block.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct MainWork: @unchecked Sendable {
  // @unchecked: Dispatch moves such work to the main thread.
  let context: UnsafeMutableRawPointer?
  let function: @convention(c) (UnsafeMutableRawPointer?) -> Void

  /// The runtime's number of the task whose part this is; `nil` for a block.
  let task: Int?

  init(_ context: UnsafeMutableRawPointer?, _ function: @convention(c) (UnsafeMutableRawPointer?) -> Void) {
    (self.context, self.function) = (context, function)
    let isJob = cfuturestesting_is_job(function)
    task = isJob ? unsafeBitCast(context, to: UnownedJob?.self)?.taskIdentifier : nil
  }

  /// Makes work of a closure.
  ///
  /// The caller performs the work exactly once: that releases the closure.
  init(_ work: @escaping @Sendable () -> Void) {
    context = Unmanaged.passRetained(Closure(work: work)).toOpaque()
    function = { Unmanaged<Closure>.fromOpaque($0!).takeRetainedValue().work() }
    task = nil
  }

  private final class Closure: Sendable {
    let work: @Sendable () -> Void
    init(work: @escaping @Sendable () -> Void) { self.work = work }
  }
}

// The main queue is a context of the run: its items are moves, which run on the main thread while the thread of the search waits.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Whether a run gets the work that its threads submit to the main queue: on Linux, with Dispatch as a shared library.
  static var controlsMain: Bool { Int(hooks) & cfuturestesting_sees_main != 0 }

  /// Called on a thread of the run.
  func enqueue(_ work: MainWork) {
    if case .next = followUp { return followUp = .main(work) }
    // Nothing else can run before the body has reached its actor.
    if isStarting {
      isStarting = false
      return followUp = .main(work)
    }
    // On the main actor, a task with an executor preference submits itself again, at each call. Nothing else can observe that.
    if let running, running == work.task.map({ task in state.withLock { $0.number(task) } }), hasNoMainWork {
      return followUp = .main(work)
    }
    let isAdded = state.withLock { state in
      if !state.isOver { state.agenda.submit(.main(work), to: state.agenda.context(OrderNames.main)) }
      return !state.isOver
    }
    if !isAdded { cfuturestesting_on_main(work.context, work.function) }
  }

  /// Called on a thread of the run.
  func enqueue(_ work: MainWork, after delay: Duration) {
    guard delay > .zero else { return enqueue(work) }
    let source = names.source("timer \(delay.inSeconds)")
    state.withLock { state in
      if !state.isOver {
        _ = state.agenda.submit(.main(work), to: state.agenda.context(OrderNames.main), after: delay, named: source)
      }
    }
  }

  /// The context in the place of `MainContext.main`: its timers are those of the run.
  private var mainContext: ExecutionContext {
    ExecutionContext { work in
      DispatchQueue.main.async(execute: work)
    } after: { [self] delay, work in
      let source = names.source("timer \(delay.inSeconds)")
      let number = submit("has set a timer of the main queue.") {
        $0.submit(.workOnMain(work), to: $0.context(OrderNames.main), after: delay, named: source)
      }
      return { [weak self] in self?.removeTimer(number) }
    }
  }

  /// Runs moves with the timers of the main queue in virtual time.
  func withMainContext<Result>(_ body: () -> Result) -> Result {
    Self.controlsMain ? MainContext.replace(with: mainContext, for: body) : body()
  }

  private var hasNoMainWork: Bool { MainContext.isMainQueueCurrent && state.withLock { !$0.agenda.hasMainWork } }

  /// Runs work on the main thread until it returns, and then the work of the main queue that comes next.
  func perform(_ work: MainWork) {
    // The run has failed, and each further piece of work would wait a minute.
    if isMainStuck { return cfuturestesting_drop(work.context, work.function) }
    let watched = watch?.watch.exchange(nil)  // the wait for the main thread has a bound of its own
    let item = MainItem(run: self, work: work)
    cfuturestesting_on_main(Unmanaged.passRetained(item).toOpaque()) { item in
      Unmanaged<MainItem>.fromOpaque(item!).takeRetainedValue().perform()
    }
    // Wall time: in a move, the time of `DispatchTime` stands still.
    if item.hasReturned.wait(wallTimeout: .now() + .seconds(60)) == .timedOut {
      isMainStuck = true
      state.withLock { interfere("is needed: the main thread is blocked, and work of the main queue waits.", &$0) }
    }
    _ = watch?.watch.exchange(watched ?? nil)
    runFollowUp()  // a task that has left the main actor
  }

  /// Runs work on the main thread, which calls this, and the moves of the main queue that come next: a change of threads takes
  /// longer than a move.
  fileprivate func performOnMain(_ work: MainWork) {
    var next: MainWork? = work
    while let work = next {
      running = work.task.map { task in state.withLock { $0.number(task) } }
      inMove { work.function(work.context) }
      running = nil
      switch followUp {
      case .main(let following):
        followUp = .none
        turns += 1
        next = turns < turnLimit ? following : nil
        if next == nil { state.withLock { $0.agenda.submit(.main(following), to: $0.agenda.context(OrderNames.main)) } }
      case .none: next = nextMainWork()
      case .job, .next: next = nil
      }
    }
  }

  /// Waits until the main queue has run its earlier work, if the body runs there.
  ///
  /// Waits several times, because work on the main actor often enqueues more work there.
  /// - Returns: Whether the main queue runs.
  func settleMain() -> Bool {
    guard isOnMain else { return true }
    for _ in 0..<8 {
      let settled = DispatchSemaphore(value: 0)
      DispatchQueue.main.async { settled.signal() }
      guard settled.wait(timeout: .now() + .seconds(10)) == .success else { return false }
    }
    return true
  }

  /// Runs a move; if the body runs on the main queue, blocks that queue, so that work for the queue runs after the
  /// move.
  ///
  /// A move that waits for the main queue would be a deadlock. The time limit ends it.
  func withMainWaiting(_ move: () -> Void) {
    guard isOnMain else { return inMove(move) }
    let (isWaiting, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    DispatchQueue.main.async {
      isWaiting.signal()
      _ = isOver.wait(timeout: .now() + .seconds(10))
    }
    _ = isWaiting.wait(timeout: .now() + .seconds(10))
    inMove(move)
    isOver.signal()
  }
}

/// Work that a run performs on the main thread, and a semaphore that the main thread signals when the work has
/// returned.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class MainItem: Sendable {
  private let run: OrderRun
  private let work: MainWork
  let hasReturned = DispatchSemaphore(value: 0)

  init(run: OrderRun, work: MainWork) { (self.run, self.work) = (run, work) }

  func perform() {
    run.withMainContext { run.performOnMain(work) }
    hasReturned.signal()
  }
}
