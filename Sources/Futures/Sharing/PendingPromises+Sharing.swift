// Work that the callers of a key share, as a future of its own.

extension PendingPromises {
  /// Returns a future of the shared work for `key`: starts the work, or joins the running work.
  ///
  /// The work belongs to its callers. When all of them have been cancelled, the work is cancelled, unless its future
  /// has another consumer. A later caller then starts new work, independent of the old. The futures of the callers have
  /// the progress of the work. `resolve` and `failAll` resolve the futures of the callers, but do not stop the work.
  ///
  /// O(1).
  /// - Parameters:
  ///   - key: The key of the work.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - work: Starts the work. It runs if the key is not pending: at once, outside every lock.
  /// - Returns: A future for this caller alone. Cancelling it does not affect the other callers.
  public func future(
    sharing key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    let caller = Caller(label, fileID: fileID, line: line)
    if case .first(let number) = join(caller, key, takingEarlyAnswer: false) {  // early answers are for `future(for:)`
      #if DEBUG
        noteStarter(of: key, request: number, Self.currentThread)  // for `reportRequestInOwnWork` below
        defer { noteStarter(of: key, request: number, nil) }
      #endif
      begin(work(), for: key, request: number)
    } else {
      #if DEBUG
        reportRequestInOwnWork(key, fileID, line)  // writes only while this thread starts the work
      #endif
    }
    return caller.future
  }

  /// Connects a caller to the work: for progress, for the graph, and so that an await of the caller raises the work's priority.
  func connect(_ caller: Caller, to work: Future<Value, Failure>) {
    caller.progress.add(work, share: 1)
    if case .sharedState(let state) = work.storage {  // otherwise the work is already resolved
      // Only if first: another thread can have made the caller follow `work` already. Answers (`resolve`, `failAll`) need no work.
      caller.state.setProducer(.inputs(SharedWork(state, canEndWithoutWork: acceptsAnswers)), onlyIfFirst: true)
    }
  }

  /// Connects the callers of a request to its work, which has started; cancels the work if no caller waits any more.
  private func begin(_ work: Future<Value, Failure>, for key: Key, request: Int) {
    // A derived future, and not `work` itself: cancelling it cancels `work` only if `work` has no other consumer.
    let shared = work.map { $0 }
    let callers = state.withLock { state -> [Caller]? in
      // While the work started, the callers can have left or got another answer, and a later request can have begun.
      guard let entry = state.entries[key], entry.request == request, !entry.callers.isEmpty else { return nil }
      entry.work = shared
      return entry.callers.values.map(\.caller)
    }
    guard let callers else { return shared.cancel() }
    for caller in callers { connect(caller, to: shared) }
    // Without a state, the work is already resolved.
    guard case .sharedState(let state) = shared.storage else { return end(key, request: request) }
    // Not a callback: the report of a broken promise counts callbacks as waits, and this one is no wait of a caller (R4).
    state.attach(Consumer(kind: .inline) { [weak self] _, _, _ in self?.end(key, request: request) })
  }

  /// Resolves or breaks the callers of a request as its work, which has settled; later requests for the key are not affected.
  private func end(_ key: Key, request: Int) {
    let entry = state.withLock { state in
      state.entries[key]?.request == request ? state.entries.removeValue(forKey: key) : nil
    }
    guard let entry, let work = entry.work else { return }  // the callers have another answer, or have all left
    // Broken work breaks the callers by one reason, so that one report covers all of them (R4). With `follow`, each caller would
    // attach a consumer to it, and cause a report of its own.
    if case .sharedState(let state) = work.storage, let reason = state.breakReason {
      for caller in entry.inOrder { caller.state.breakPromise(reason) }
    } else {
      for caller in entry.inOrder { caller.follow(work) }
    }
  }
}

extension PendingPromises where Key == SingleKey {
  /// Returns a future of the shared work: starts the work, or joins the running work.
  ///
  /// All else is as in `future(sharing:)`.
  public func shared(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    future(sharing: .only, fileID: fileID, line: line, work)
  }
}

#if DEBUG
  extension PendingPromises {
    /// Identifies the calling thread, by the address of its trampoline.
    private static var currentThread: UnsafeMutableRawPointer { UnsafeMutableRawPointer(Trampoline.current.storage) }

    /// Notes the thread that starts the work for `key` now, or `nil` after the start: for `reportRequestInOwnWork`.
    private func noteStarter(of key: Key, request: Int, _ thread: UnsafeMutableRawPointer?) {
      state.withLock { state in
        if let entry = state.entries[key], entry.request == request { entry.starter = thread }  // no later request
      }
    }

    /// Writes a sentence to standard error, because the remaining callers of `key` are all requests of the work for `key`.
    func reportWorkWaitingForItself(_ key: Key) {
      FuturesDiagnostics.write(
        """
        The work for the key \(key)\(label.map { " of \"\($0)\"" } ?? "") waited for its own key, so it would never have \
        ended. Its other callers have left, so it is cancelled. Ask for another key, or load the value without this object.
        """
      )
    }

    /// Writes a sentence to standard error if the closure that starts the work for `key` asks for the same key.
    private func reportRequestInOwnWork(_ key: Key, _ fileID: StaticString, _ line: UInt) {
      guard state.withLock({ $0.entries[key]?.starter }) == Self.currentThread else { return }
      FuturesDiagnostics.write(
        """
        The work for the key \(key)\(label.map { " of \"\($0)\"" } ?? "") asks for its own key (\(fileID):\(line)). If it \
        waits for that future, it waits for itself, and never ends. Ask for another key, or load the value without this object.
        """
      )
    }
  }
#endif

/// The shared work of a caller, for the graph, and for the priority of a task that awaits the caller.
///
/// It only describes the work: `PendingPromises` resolves the caller, and leaves the work when the last caller is cancelled.
final class SharedWork: Inputs, @unchecked Sendable {
  // @unchecked: it has only constants.
  private let work: FutureState

  /// Whether `resolve` or `failAll` can resolve the caller before its work.
  private let canEndWithoutWork: Bool

  init(_ work: FutureState, canEndWithoutWork: Bool) { (self.work, self.canEndWithoutWork) = (work, canEndWithoutWork) }

  override func pendingInputs(raisingLaterTasksTo priority: TaskPriority?) -> [FutureState] { [work] }

  override func describe(into facts: inout NodeFacts) {
    (facts.inputs, facts.canEndWithoutInputs) = ([work], canEndWithoutWork)
  }
}
