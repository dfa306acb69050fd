internal import CFuturesTesting
internal import Dispatch
internal import Futures

// The work that arrives: items of contexts, timers, steps, and calls of `runAll()`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  func context(_ name: String) -> ExecutionContext { context(.context(name)) }

  func context(_ source: OrderSource) -> ExecutionContext {
    let name = source.name
    return ExecutionContext { [self] work in
      submit("has submitted work to the context “\(name)”.") { $0.add(.work(work), named: source, in: source) }
    } after: { [self] delay, work in
      let number = submit("has set a timer of the context “\(name)”.") {
        $0.add(.work(work), named: .timer(delay), in: source, after: delay)
      }
      return { [weak self] in self?.remove(number) }
    }
  }

  /// Removes a timer that has not fired.
  private func remove(_ number: Int?) {
    guard let number else { return }
    let removed = state.withLock { $0.agenda.take(number, asMove: false) }
    _ = removed  // released here, outside the lock
  }

  /// Adds work to the agenda, unless the run is over.
  /// - Returns: The item's number.
  @discardableResult
  func submit(_ interference: @autoclosure () -> String, _ add: (inout OrderAgenda) -> Int) -> Int? {
    let isOwn = isOnOwnThread
    if isShown, isOwn { nameCurrentTask() }
    let number = state.withLock { state -> Int? in
      if state.closing.claimDrop() { return nil }
      if !isOwn { interfere(interference(), &state) }
      return add(&state.agenda)
    }
    if !isOwn { arrivals.signal() }
    return number
  }

  func step(_ continuation: UnsafeContinuation<Void, Never>, _ name: String) {
    let number = submit("has reached the step “\(name)”.") { $0.add(.step(continuation), named: .other(name)) }
    if number == nil { continuation.resume() }
  }

  /// Resumes `continuation` when nothing is left to run.
  func resumeWhenIdle(_ continuation: UnsafeContinuation<Void, Never>) {
    let isAdded = state.withLock { state in
      if state.closing.claimDrop() { return false }
      state.waitersOfRunAll.append(continuation)
      return true
    }
    if !isAdded { continuation.resume() }
  }

  func note(_ text: String) {
    guard isOnOwnThread else { return }  // other threads do not know the present move
    let place = trace.count - 1
    state.withLock { $0.notes[place, default: []].append(text) }
  }

  var now: Duration { state.withLock { $0.agenda.now } }

  // MARK: - The main queue: its items are moves, which run on the main thread while the thread of the search waits

  /// Gets the work that this thread submits to the main queue.
  func enqueueOnMain(_ action: OrderAgenda.Action, after delay: Duration) {
    if delay > .zero {
      return _ = submit("") { $0.add(action, named: .timer(delay), in: .main, after: delay) }
    }
    var task: Int32?
    if case .job(let job) = action, let identifier = job.taskIdentifier {
      keepTask(of: job)
      task = state.withLock { $0.number(identifier) }
    }
    let move = OrderMove(source: task == nil ? .main : .onMain, ordinal: task ?? 0)
    if awaitsFollowUp || task != nil && task == running && isNextOnMain {
      awaitsFollowUp = false
      return followUp = Item(number: 0, move: move, lane: .main, due: nil, action: action)
    }
    let number = submit("") { agenda in
      task == nil ? agenda.add(action, named: .main, in: .main) : agenda.add(action, as: move, in: .main)
    }
    if number == nil { Self.withoutRun { DispatchQueue.main.async { Self.runOnMain(action) } } }
  }

  /// Whether the running task needs no decision to go on, on the main thread.
  ///
  /// On the main actor, a task with an executor preference submits itself again, at each call. Nothing else can observe that.
  private var isNextOnMain: Bool {
    let hasOthers = state.withLock { $0.agenda.possible.contains { $0.isOnMain && $0.due == nil } }
    return !hasOthers && MainContext.isMainQueueCurrent
  }

  private static func runOnMain(_ action: OrderAgenda.Action) {
    switch action {
    case .work(let work): work()
    case .job(let job): job.runSynchronously(on: MainActor.sharedUnownedExecutor)
    case .step: break  // no work of the main queue
    }
  }

  /// Runs moves with callbacks and timers of `.main` in the run.
  func withMainContext<Result>(_ body: () -> Result) -> Result {
    MainContext.replace(with: context(.main), for: body)
  }

  /// Runs `moves` on the main thread, and waits until they have returned.
  ///
  /// A main thread that does not begin counts as a move that does not return.
  func runOnMain(_ moves: @escaping () -> Void) {
    let hasReturned = DispatchSemaphore(value: 0)
    // Safe: this thread waits meanwhile.
    nonisolated(unsafe) let moves = moves
    watch.change(isInMove: true)
    DispatchQueue.main.async { [self] in
      withMainContext(moves)
      hasReturned.signal()
    }
    hasReturned.wait()
    watch.change(isInMove: false)
  }
}
