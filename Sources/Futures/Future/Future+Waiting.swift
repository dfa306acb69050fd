internal import Dispatch

extension Future {
  /// Blocks the calling thread until the future is resolved.
  ///
  /// For scripts, tests, and the edges of code that cannot await.
  ///
  /// In a Swift task it would block one of the few threads that run all tasks. So a debug build traps there (R10). It
  /// does not trap for a resolved future, or on the main actor, which has its own thread.
  ///
  /// On the main thread it waits for ever if the future needs work of the main actor or of the main queue, for example the
  /// task of a `Future { … }` that was started there: its closure inherits the main actor. A debug build traps, and a
  /// release build writes a sentence to standard error, if nothing else can end the wait, apart from a cancellation (R10a).
  /// Start the work with `Future.detached { … }`, or await the future. The same holds for a wait on a serial queue, if the
  /// future needs work that was submitted to this queue.
  ///
  /// In a callback, the thread first runs its deferred work and then blocks. It waits for ever if this future depends on the
  /// future that runs the callback: by derivation, or because a later callback of that future resolves this one. Derived
  /// futures and later callbacks get the result only after the current callback has returned. A debug build writes a sentence to
  /// standard error if this future is derived from that one.
  @available(*, noasync, message: "use 'await future.result'")
  public func wait() -> Result<Value, Failure> {
    if let result = peek() { return result }
    #if DEBUG
      precondition(
        !Self.isOnCooperativeThread,
        "wait() was called inside a Swift task, where it blocks a thread that other tasks need; await the future instead."
      )
    #endif
    wait(until: nil)
    return peek().unsafelyUnwrapped
  }

  /// Blocks the calling thread until the future is resolved, for at most `timeout`.
  ///
  /// In a callback, it always ends at its timeout if this future depends on the future that runs the callback, as
  /// ``wait()`` explains. A debug build then writes a sentence to standard error. A wait on the main thread or on a serial
  /// queue that has to run the future's own work ends at its timeout, too (R10a). Any build then writes a sentence. No
  /// wait with a timeout traps, and a single check writes nothing.
  /// - Parameter timeout: The maximum wait. Zero or less checks once; more than 292 years means for ever.
  /// - Returns: The result, or `nil` at the timeout. Then nothing stays registered.
  @available(*, noasync, message: "use 'await future.result'")
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public func wait(timeout: Duration) -> Result<Value, Failure>? {
    if let result = peek() { return result }
    let nanoseconds = timeout.nanoseconds  // 0 for a negative timeout, too; then `wait` still starts a lazy future
    wait(until: DispatchTime(afterNanoseconds: nanoseconds), isSingleCheck: nanoseconds == 0)
    return peek()
  }

  /// Blocks the calling thread until the future is resolved or the deadline has come, and reports a wait that cannot end.
  /// - Parameters:
  ///   - deadline: The end of the wait; `nil` for none.
  ///   - isSingleCheck: Whether the deadline has come already, so that the wait neither blocks nor reports anything.
  private func wait(until deadline: DispatchTime?, isSingleCheck: Bool = false) {
    guard case .sharedState(let state) = storage else { return }
    // The deferred work of this thread can resolve the future. A single check does not run it: such work can check again, and
    // would nest without limit.
    if !isSingleCheck {
      let trampoline = Trampoline.current
      trampoline.runPending()
      #if DEBUG
        state.reportWaitInOwnDelivery(in: trampoline)
      #endif
    }
    let semaphore = DispatchSemaphore(value: 0)
    let waiter = BlockedThread { _, state, _ in
      // A broken future has no result, so the thread goes on waiting.
      if state.isResolved { semaphore.signal() } else { state.reportWaitForBrokenPromise() }
    }
    // Attaching starts a lazy future. So a single check attaches, too, and the search for the producer's work comes afterwards.
    state.attach(waiter)
    guard let deadline else {
      BlockedWorkSearch.check(state, isEndless: true)
      return semaphore.wait()
    }
    guard semaphore.wait(timeout: deadline) == .timedOut else { return }
    if !isSingleCheck { BlockedWorkSearch.check(state, isEndless: false) }
    _ = state.remove(waiter)
  }

  /// Whether the calling thread runs a Swift task, apart from one of the main actor.
  private static var isOnCooperativeThread: Bool {
    !MainContext.isMainThread && withUnsafeCurrentTask { $0 != nil }
  }
}

/// The consumer of a thread that waits.
private final class BlockedThread: Consumer, @unchecked Sendable {
  // @unchecked: it has only constants.
  private let isMain = MainContext.isMainThread

  init(deliver: @escaping Delivery) { super.init(kind: .waiter, deliver: deliver) }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    if isMain { facts.context = DispatchQueue.main }  // the graph shows what the wait blocks
  }
}

extension DispatchTime {
  /// The time after a delay in nanoseconds; the distant future if the clock cannot represent it.
  package init(afterNanoseconds delay: Int64) {
    // Signed: Dispatch can read a number above `Int64.max` as a time of another clock.
    let (sum, overflow) = Int64(clamping: DispatchTime.now().uptimeNanoseconds).addingReportingOverflow(delay)
    self = overflow ? .distantFuture : DispatchTime(uptimeNanoseconds: UInt64(clamping: sum))
  }
}
