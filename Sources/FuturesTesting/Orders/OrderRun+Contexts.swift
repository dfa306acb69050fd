internal import CFuturesTesting
internal import Dispatch
internal import Futures

// The work that arrives: items of contexts, timers, steps, and calls of `runAll()`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Returns the context whose work and timers are items of `source`; a submission by another thread fails the run.
  func context(_ source: OrderSource) -> ExecutionContext {
    ExecutionContext { [self] work in
      submit(outside: "has submitted work to the context “\(source.name)”.") {
        $0.add(.work(work), named: source, in: source)
      }
    } after: { [self] delay, work in
      let number = submit(outside: "has set a timer of the context “\(source.name)”.") {
        $0.add(.work(work), named: .timer(delay), in: source, after: delay)
      }
      return { [weak self] in  // weak, because the run owns `work`, which can own this closure
        guard let self, let number else { return }
        let removed = state.withLock { $0.agenda.take(number, asMove: false) }  // no move, so the time of the run stays
        _ = removed  // released here, outside the lock
      }
    }
  }

  /// Adds work to the agenda by `add`; for another thread, also fails the run with a sentence that ends with `interference`.
  /// - Returns: The item's number; `nil` if the run is over, which drops the work.
  @discardableResult
  func submit(outside interference: @autoclosure () -> String = "", _ add: (inout OrderAgenda) -> Int) -> Int? {
    let isOwn = isOnOwnThread
    if isShown, isOwn { nameCurrentTask() }  // for the shown order: only a running task can read its name
    let number = state.withLock { state -> Int? in
      if state.closing.mustDropNewWork() { return nil }  // the run is over
      if !isOwn { noteInterference(interference(), &state) }  // still adds the work: it can let tasks of the run end
      return add(&state.agenda)
    }
    if !isOwn { arrivals.signal() }  // the search can be waiting for work from outside
    return number
  }

  func step(_ continuation: UnsafeContinuation<Void, Never>, _ name: String) {  // called by `Orders.step(_:)`
    let number = submit(outside: "has reached the step “\(name)”.") { $0.add(.step(continuation), named: .other(name)) }
    if number == nil { continuation.resume() }  // the run is over
  }

  /// Resumes `continuation`, of a call of `runAll()`, when nothing is left to run, or now if the run is over.
  func resumeWhenIdle(_ continuation: UnsafeContinuation<Void, Never>) {
    let isAdded = state.withLock { state in
      if state.closing.mustDropNewWork() { return false }  // the run is over
      state.waitersOfRunAll.append(continuation)
      return true
    }
    if !isAdded { continuation.resume() }
  }

  func note(_ text: String) {  // called by `Orders.note(_:)`
    guard isOnOwnThread else { return }  // a note of another thread has no move, and no lock protects `trace`
    let place = max(trace.count - 1, 0)  // of the last move in `trace`; the body begins before the first one
    state.withLock { $0.notes[place, default: []].append(text) }
  }

  var now: Duration { state.withLock { $0.agenda.now } }

  // MARK: - The main queue: its items are moves, which run there while the search waits

  /// Adds a block that a move submits to the main queue; after the run, the real queue gets the block, but a timer is dropped.
  func enqueueOnMain(_ block: @escaping @Sendable () -> Void, after delay: Duration) {
    let isTimer = delay > .zero  // dropped after the run, because the end of a run drops the timers that are left
    let number = submit {  // needs no `outside`, because only a move calls this function
      $0.add(.work(block), named: isTimer ? .timer(delay) : .main, in: .main, after: isTimer ? delay : nil)
    }
    if number == nil, !isTimer { Self.withoutRun { DispatchQueue.main.async(execute: block) } }  // no hook gets `block`
  }

  /// Runs a move on the main queue, and waits until it has returned.
  ///
  /// If the main queue has no thread of its own, as after `dispatchMain()`, `sync` runs the move here, and saves a thread change.
  /// The main thread lacks the task-local value that `perform(_:)` has set, so `replace` sets it there.
  func runOnMain(_ move: () -> Void) {
    nonisolated(unsafe) let move = move  // safe: this thread waits meanwhile
    let context = MainContext.main.context  // from `perform(_:)`
    DispatchQueue.main.sync { MainContext.replace(with: context, for: move) }
  }
}
