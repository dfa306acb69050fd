internal import CFuturesTesting
internal import Futures

// The work that arrives: items of contexts, timers, steps, and calls of `runAll()`.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  func context(_ name: String) -> ExecutionContext { context(names.source(name, isContext: true), name) }

  /// The context of the clock.
  var clockContext: ExecutionContext { context(OrderNames.clock, "clock") }

  private func context(_ source: Int32, _ name: String) -> ExecutionContext {
    let index = state.withLock { $0.agenda.context(source) }
    return ExecutionContext { [self] work in
      submit("has submitted work to the context “\(name)”.") { $0.submit(.work(work), to: index) }
    } after: { [self] delay, work in
      let source = names.source("timer \(delay.inSeconds)")
      let number = submit("has set a timer of the context “\(name)”.") {
        $0.submit(.work(work), to: index, after: delay, named: source)
      }
      return { [weak self] in self?.removeTimer(number) }
    }
  }

  /// Removes a timer that has not fired.
  func removeTimer(_ number: Int?) {
    guard let number else { return }
    let removed = state.withLock { $0.agenda.removeTimer(number) }
    _ = removed  // released here, outside the lock
  }

  /// Adds work to the agenda, unless the run is over.
  func submit<Number>(
    _ interference: @autoclosure () -> String,
    _ add: (inout OrderAgenda) -> Number
  ) -> Number? {
    let isOwn = isOnOwnThread
    if isShown, isOwn { nameCurrentTask() }
    let number = state.withLock { state -> Number? in
      if state.closing.claimDrop() { return nil }
      if !isOwn { interfere(interference(), &state) }
      return add(&state.agenda)
    }
    if number == nil { noteLateWork() }
    signalArrival()
    return number
  }

  /// Keeps that another thread has submitted work to this run, which is over: the orders of that work are not explored.
  func noteLateWork() {
    // The main thread and outside work of this search are no strangers: the run of the main thread knows its work, and the report
    // names outside work.
    let isStranger = cfuturestesting_run() == nil && cfuturestesting_origin() == nil
    if let watch, isStranger, thread != cfuturestesting_thread_number() { watch.watch.hasLateWork = true }
  }

  func step(_ continuation: UnsafeContinuation<Void, Never>, _ name: String) {
    let isAdded: Void? = submit("has reached the step “\(name)”.") {
      $0.submit(.step(continuation), named: names.source(name))
    }
    if isAdded == nil { continuation.resume() }
  }

  /// Resumes `continuation` when nothing is left to run.
  func resumeWhenIdle(_ continuation: UnsafeContinuation<Void, Never>) {
    let isAdded = state.withLock { state in
      if state.closing.claimDrop() { return false }
      state.waitersOfRunAll.append(continuation)
      return true
    }
    if !isAdded { continuation.resume() }
    signalArrival()
  }

  /// Keeps a note for the present move.
  func note(_ text: String) {
    guard isOnOwnThread else { return }  // other threads do not know the present move
    let place = trace.count - 1
    state.withLock { $0.notes[place, default: []].append(text) }
  }

  var now: Duration { state.withLock { $0.agenda.now } }
  var isUnwinding: Bool { state.withLock { $0.isUnwinding } }
}
