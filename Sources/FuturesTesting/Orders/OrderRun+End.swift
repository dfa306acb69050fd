internal import CFuturesTesting
internal import Futures

// The end of a run, after its body.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Describes work that the body left behind, and that has several orders.
  static let leftWork = """
    the work that the body left behind (release what the body holds, and then end the work by `try await orders.runAll()`)
    """

  /// Ends the body, runs its remaining work without choices, and drops its timers, so that its tasks can end.
  /// - Returns: Whether nothing is left to run.
  func unwind(_ task: Task<Void, Never>, after verdict: Verdict) -> Bool {
    state.withLock { $0.isUnwinding = true }
    if case .returned = verdict {} else { task.cancel() }
    turnLimit = turns + Self.maximumTurnsOfTheRest
    var patience = Self.patience
    var isTearingDown = false
    while turns < turnLimit {
      turns += 1
      guard settleMain() else { return false }
      waitForOutside()
      let (place, hasEnded) = state.withLock { ($0.agenda.oldest, $0.result != nil) }
      if !isTearingDown, case .returned = verdict, state.withLock(\.agenda.hasChoice) { hasLeftChoices = true }
      if resumeWaitersOfRunAll() { continue }  // before other work: endless work must not keep the body waiting
      if let place {
        perform(place)
      } else if case .uncontrolled = verdict, !hasEnded, waitForOthers(&patience) {
        continue
      } else if dropTimers() {
        // From now on, futures break because the run ends. That is no work of the body.
        isTearingDown = true
      } else if state.withLock({ $0.agenda.hasTimers }) {
        perform(.timer)  // a sleeping task: it has to end
      } else {
        return true
      }
    }
    return false
  }

  /// Drops the timers, which breaks their futures.
  /// - Returns: Whether there were any.
  private func dropTimers() -> Bool {
    var timers = state.withLock { $0.agenda.removeTimers() }
    guard !timers.isEmpty else { return false }
    withMainWaiting {
      for case .main(let work) in timers.map(\.action) { cfuturestesting_drop(work.context, work.function) }
      excuse { timers = [] }
    }
    return true
  }

  /// Releases the work that never runs.
  func close() {
    var left: (OrderAgenda, [VirtualQueue])? = state.withLock { state in
      defer { (state.agenda, state.queues) = (OrderAgenda(), [:]) }
      state.closing.isClosed = true
      return (state.agenda, Array(state.queues.values))
    }
    if left?.0.hasWork == true || left?.1.isEmpty == false { excuse { left = nil } }
  }

  /// Runs `body`, which drops work: its futures break, and nothing is reported, because the user has made no mistake.
  private func excuse(_ body: () -> Void) {
    FuturesDiagnostics.breakObservers.excuse(onThreadsWhere: { [self] in isOnOwnThread }, during: body)
  }
}
