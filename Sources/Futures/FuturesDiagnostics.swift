internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reports mistakes that no result can carry.
public enum FuturesDiagnostics {
  /// A mistake in the use of a promise or a future.
  public enum Misuse: Sendable {
    /// Somebody waits for a future that nobody can resolve any more, and whose failure type cannot say so.
    case brokenPromise(BrokenPromise)
    /// A promise was resolved although its future was resolved before.
    case resolvedTwice(label: String?)
    /// A future failed and went away before anybody had looked at it.
    case unobservedFailure(label: String?, any Error)
  }

  /// A closure that is taken out of a generic place, and put back, gets a wrapper each time; so it has a place of its own.
  private final class Handler: Sendable {
    let call: @Sendable (Misuse) -> Void

    init(_ call: @escaping @Sendable (Misuse) -> Void) { self.call = call }
  }

  private static let handler = Locked<Handler?>(nil)

  // Relaxed: a hint that saves the lock; the handler itself is read under the lock.
  private static let handlerIsSet = Atomic<Bool>(false)

  static var hasHandler: Bool { handlerIsSet.load(ordering: .relaxed) }

  /// Sets who is told of misuse, for the whole process.
  ///
  /// - Parameter handler: Called on the thread that noticed the misuse, outside every lock. `nil` restores the default: a
  ///   trap in debug builds, and a line on standard error in release builds, when somebody waits for a broken promise;
  ///   nothing for double resolutions and unobserved failures.
  public static func setHandler(_ handler: (@Sendable (Misuse) -> Void)?) {
    let new = handler.map(Handler.init)
    let previous = self.handler.withLock { current in
      handlerIsSet.store(new != nil, ordering: .relaxed)
      defer { current = new }
      return current
    }
    _ = previous  // released here, outside the lock
  }

  /// Who hears of each promise that is dropped unresolved, for the test kit.
  package static let breakObservers = BreakObservers()

  // Relaxed: promises that are made at the same moment are tracked or not.
  private static let isTracking = Atomic<Bool>(false)

  /// Whether promises that are made from now on are remembered until they are resolved, for `pendingFutures`.
  ///
  /// Off, which it is at first, it costs nothing that can be measured. On, each promise costs two allocations and half a microsecond
  /// more (row D1 of the benchmark); its future is not kept alive. Switching it off forgets all.
  public static var tracksPendingFutures: Bool {
    get { isTracking.load(ordering: .relaxed) }
    set {
      isTracking.store(newValue, ordering: .relaxed)
      if !newValue { PendingFutures.shared.removeAll() }
    }
  }

  /// What is stuck: the futures of promises that were made while that was tracked, and that are unresolved, the oldest first.
  ///
  /// Each is described by its label, the file and the line where its promise was made, its age, and how many wait for it. Futures
  /// that were derived from others are not listed: they wait for those that are.
  ///
  /// O(n).
  public static var pendingFutures: [String] { PendingFutures.shared.descriptions }

  /// Reports a second resolution, if somebody wants to know.
  package static func reportResolvedTwice(label: @autoclosure () -> String?) {
    if hasHandler { report(.resolvedTwice(label: label())) }
  }

  static func report(_ misuse: Misuse) {
    if let handler = handler.withLock({ $0 }) { return handler.call(misuse) }
    guard case .brokenPromise(let broken) = misuse else { return }
    let sentence = "\(broken) Whoever waits for its future waits for ever, because its failure type cannot say so."
    #if DEBUG
      preconditionFailure(sentence)
    #else
      let line = "swift-futures: \(sentence)\n"
      _ = line.utf8CString.withUnsafeBytes { write(2, $0.baseAddress, $0.count - 1) }
    #endif
  }
}

extension AnySharedState {
  /// Tells that somebody waits for this broken future.
  @usableFromInline
  func reportWaitForBrokenPromise() {
    guard let error = breakReason?.error else { return }
    FuturesDiagnostics.report(.brokenPromise(error))
  }
}
