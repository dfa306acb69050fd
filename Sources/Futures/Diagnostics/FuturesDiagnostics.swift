internal import CFutures

/// Reports mistakes that no result can carry.
public enum FuturesDiagnostics {
  /// A mistake in the use of a promise or a future.
  public enum Misuse: Sendable {
    /// A callback, an await or `wait()` waits for a broken future whose failure type cannot hold `BrokenPromise`.
    ///
    /// One report covers all consumers that wait when the promise is dropped, including those of derived futures. A
    /// consumer that begins to wait later causes another report. A removed consumer causes none. Neither does a
    /// consumer of a future that was cancelled before.
    case brokenPromise(BrokenPromise)
    /// A promise or a callback was resolved although it was resolved before; with the place that made it.
    case resolvedTwice(label: String?, fileID: String, line: UInt)
    /// A future failed, and the program released it without reading the failure; with the place that made its promise.
    ///
    /// `fileID` is empty and `line` is zero if no promise has failed the future itself: the future of a task, a derived future.
    case unobservedFailure(label: String?, fileID: String, line: UInt, any Error)
  }

  /// Boxed: reading a closure through a generic wraps it in another thunk each time.
  private final class Handler: Sendable {
    let call: @Sendable (Misuse) -> Void

    init(_ call: @escaping @Sendable (Misuse) -> Void) { self.call = call }
  }

  #if DEBUG
    /// Gets a sentence for each invariant of `FutureState` that a transition has broken; `nil` checks nothing.
    ///
    /// nonisolated(unsafe): a test sets it before other threads use futures. Runs under the lock of the state.
    nonisolated(unsafe) static var invariantHandler: (@Sendable (String) -> Void)?
  #endif

  private static let handler = LockedReference<Handler>()

  private static let maximumMisuseDepth = 4

  static var hasHandler: Bool { handler.isSet }

  /// Sets the handler of misuse for the whole process.
  ///
  /// A mistake that the handler itself makes, on its own thread, calls the handler again, at most four calls deep.
  /// - Parameter handler: Called on the thread that detects the misuse, outside every lock. `nil` restores the default.
  ///   The default reports only a consumer that waits for a broken promise: it traps in debug builds, and writes a line
  ///   to standard error in release builds. It ignores promises that `brokenPromises(during:)` of FuturesTesting has
  ///   recorded. In debug builds it also writes a line for a second call of a `withCallback` callback.
  public static func setHandler(_ handler: (@Sendable (Misuse) -> Void)?) {
    _ = self.handler.exchange(handler.map(Handler.init))  // the old one is released here, outside the lock
  }

  /// Observes each promise that is dropped unresolved, for the test kit.
  package static let breakObservers = BreakObservers()

  /// Whether new promises, tasks and timers are in `graph` and `pendingFutures` until they end; `false` at first.
  ///
  /// Off, it costs no time that can be measured. On, each promise costs about a tenth of a microsecond more (row D1 of the
  /// benchmark). Tracking retains no future, only the memory of one that has ended, for a while. Setting `false` clears the list.
  public static var tracksPendingFutures: Bool {
    get { PendingFutures.shared.tracksAllThreads }
    set { PendingFutures.shared.tracksAllThreads = newValue }
  }

  /// Whether the table of pending futures exists; then the caller adds its object, and the table decides whether to track it.
  @usableFromInline package static var mayTrackPendingFutures: Bool { PendingFutures.shared.isSet }

  /// The unresolved futures of promises made while `tracksPendingFutures` was `true`, the oldest first.
  ///
  /// Each line has the label, the file and the line of the promise, the age of the future, and the number of its consumers.
  /// The list has no derived futures, because these wait for listed ones.
  ///
  /// O(n).
  public static var pendingFutures: [String] { PendingFutures.shared.descriptions }

  /// Reports a second call of a wrapped callback: to the handler, or by a line in debug builds.
  package static func reportSecondCall(label: String?, fileID: String, line: UInt) {
    if hasHandler { return report(.resolvedTwice(label: label, fileID: fileID, line: line)) }
    #if DEBUG
      let name = label.map { " \"\($0)\"" } ?? ""
      write(
        "The callback\(name) wrapped at \(fileID):\(line) was called again. Only its first call has an effect. Call it once."
      )
    #endif
  }

  /// Calls the handler; without one, performs the default, which reports only a broken promise.
  /// - Parameters:
  ///   - misuse: The mistake.
  ///   - isRecorded: Whether the test kit has recorded the mistake. The default then ignores it.
  static func report(_ misuse: Misuse, isRecorded: Bool = false) {
    if let handler = handler.object {
      let storage = Trampoline.current.storage
      // Without a limit, a handler that misuses a promise itself would be called again and again, until the stack overflows.
      guard storage.pointee.misuseDepth < maximumMisuseDepth else { return }
      storage.pointee.misuseDepth += 1
      defer { storage.pointee.misuseDepth -= 1 }
      return handler.call(misuse)
    }
    guard !isRecorded, case .brokenPromise(let broken) = misuse else { return }
    let sentence = """
      \(broken) A callback, an await or a timeout waits for its future, which never resolves, because its failure type \
      cannot hold BrokenPromise. \(broken.cure)
      """
    #if DEBUG
      preconditionFailure(sentence)
    #else
      write(sentence)
    #endif
  }

  /// Writes a line to standard error; escapes line ends and control characters in `sentence`.
  package static func write(_ sentence: String) { writeText("swift-futures: \(sentence.oneLine)\n") }

  /// Writes a text to standard error, without a buffer.
  package static func writeText(_ text: String) {
    var text = text
    text.withUTF8 { cfutures_write_to_standard_error($0.baseAddress, $0.count) }
  }
}
