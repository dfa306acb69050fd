internal import Synchronization

/// The side of a future that resolves it.
///
/// Any thread may resolve a promise; the first resolution wins, and later ones answer `false` (R1). When the last
/// reference to a promise goes away before it was resolved, its future fails with `BrokenPromise` where the failure type
/// can hold that, and otherwise stays unresolved (R4): nobody who holds a promise can make its readers hang by forgetting it.
///
/// A promise and its unresolved future are two objects, because the promise must notice when *it* is dropped, not when its
/// readers are.
@_fixed_layout
public final class Promise<Value: Sendable, Failure: Error>: Sendable {
  // nonisolated(unsafe): a constant, but for the question in `deinit` whether it is the only reference.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) private(set) var state: State<Value, Failure>

  // Where it was made, in twelve bytes instead of twenty-five: a static string that ends in a zero, and its line.
  // nonisolated(unsafe): it points to a constant of the program, which nobody changes.
  @usableFromInline nonisolated(unsafe) let fileID: UnsafePointer<UInt8>
  @usableFromInline let line: UInt32

  /// Makes a promise with an unresolved future.
  ///
  /// Two allocations.
  /// - Parameters:
  ///   - label: Names the promise in diagnostics.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  @inlinable
  public init(_ label: @autoclosure () -> String? = nil, fileID: StaticString = #fileID, line: UInt = #line) {
    state = SharedState(hasPromise: true)
    self.fileID = Self.pointer(to: fileID)
    self.line = UInt32(truncatingIfNeeded: line)
    if let label = label() { state.setLabel(label) }
    if FuturesDiagnostics.tracksPendingFutures { track(fileID, line) }
  }

  /// Makes the promise of a state that has been told that there is one.
  init(resolving state: State<Value, Failure>, fileID: StaticString, line: UInt) {
    self.state = state
    self.fileID = Self.pointer(to: fileID)
    self.line = UInt32(truncatingIfNeeded: line)
    if FuturesDiagnostics.tracksPendingFutures { track(fileID, line) }
  }

  @usableFromInline
  func track(_ fileID: StaticString, _ line: UInt) {
    PendingFutures.shared.add(state, fileID: "\(fileID)", line: line)
  }

  deinit {
    // As `withState`, which would be called unspecialised here.
    guard !Unmanaged<AnySharedState>.passUnretained(state)._withUnsafeGuaranteedRef({ $0.isResolved }) else { return }
    guard state.endPromise() == .pending || State<Value, Failure>.collapse(&state) else { return }
    let error = BrokenPromise(label: state.label, fileID: String(cString: fileID), line: UInt(line))
    if FuturesDiagnostics.breakObservers.exist, !state.wasCancelled { FuturesDiagnostics.breakObservers.report(error) }
    state.breakPromise(BreakReason(error), in: nil)
  }

  @inlinable
  static func pointer(to fileID: StaticString) -> UnsafePointer<UInt8> {
    (fileID.hasPointerRepresentation ? fileID : "a file with a name of one character").utf8Start
  }

  /// The future that this promise resolves.
  ///
  /// No allocation.
  @inlinable
  public var future: Future<Value, Failure> { Future(state) }

  /// Whether the future has a result.
  ///
  /// After `follow`, this waits for the other future.
  @inlinable
  public var isResolved: Bool { withState { $0.isResolved } }

  /// Resolves the future with a value, and runs what waits for it, inline or by its context.
  /// - Parameter value: What the future succeeds with.
  /// - Returns: Whether this was the first resolution; otherwise nothing has changed, and `value` is dropped.
  @inlinable
  @discardableResult
  public func succeed(_ value: Value) -> Bool { resolve(.success(value)) }

  /// Resolves the future with an error, and runs what waits for it, inline or by its context.
  /// - Parameter error: What the future fails with.
  /// - Returns: Whether this was the first resolution; otherwise nothing has changed, and `error` is dropped.
  @inlinable
  @discardableResult
  public func fail(_ error: Failure) -> Bool { resolve(.failure(error)) }

  /// Resolves the future with a result, and runs what waits for it, inline or by its context.
  /// - Parameter result: The result of the future.
  /// - Returns: Whether this was the first resolution; otherwise nothing has changed, and `result` is dropped.
  @inlinable
  @discardableResult
  public func resolve(_ result: Result<Value, Failure>) -> Bool {
    let isFirst = withState { $0.resolve(result, fromAtMost: .pending, in: nil) }
    if !isFirst { state.reportResolvedTwice() }
    return isFirst
  }

  /// Names a task that resolves the promise, so that it hears of its awaiters' priority.
  package func setProducer(task: Task<Void, Never>) { state.setProducer(task: task) }

  /// Resolves the future from a task of the library (R8).
  package func resolveFromTask(_ result: Result<Value, Failure>) {
    state.resolveFromTask(result, fromAtMost: .pending)
  }

  /// Has the future resolve as `other` does.
  ///
  /// That settles who resolves it: from now on `succeed`, `fail` and `resolve` answer `false`, and a second `follow` is
  /// ignored, as is the first if the future is resolved. A chain of followers takes no stack. Cancelling the future leaves
  /// `other`, also if it was cancelled before (R17).
  ///
  /// Following its own future would never end, and traps.
  /// - Parameter other: The future to follow.
  @inlinable
  public func follow(_ other: consuming Future<Value, Failure>) {
    state.followForPromise(other)
  }

  /// Calls `body` with the state, without counting a reference to it: the promise keeps it alive.
  @inlinable
  @inline(__always)
  func withState<Output>(_ body: (State<Value, Failure>) -> Output) -> Output {
    withExtendedLifetime(self) { Unmanaged.passUnretained(state)._withUnsafeGuaranteedRef(body) }
  }
}

// MARK: - Cancellation

extension Promise {
  /// Has `handler` run when the future is cancelled, so that the work can be stopped; at once if it was cancelled before.
  ///
  /// Handlers run once, in order, on the thread that cancels, before the future ends; one that resolves the promise has its
  /// result kept (R15, R17). They are released when the future is resolved. Keep the promise itself out of what they capture:
  /// it would keep itself alive until it is resolved or cancelled.
  /// - Parameter handler: Stops the work.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    cancellationToken.register(handler)
  }

  /// The token that is cancelled when the future is; for work that takes a token.
  ///
  /// One allocation, the first time, and a second for the record of it.
  public var cancellationToken: CancellationToken { state.cancellationToken }
}

extension Promise where Value == Void {
  /// Resolves the future, and runs what waits for it, inline or by its context.
  /// - Returns: Whether this was the first resolution.
  @inlinable
  @discardableResult
  public func succeed() -> Bool { resolve(.success(())) }
}

extension AnySharedState {
  /// The token that is cancelled when the state is.
  final var cancellationToken: CancellationToken {
    lock.withLock {
      let isOver = phase.load(ordering: .relaxed) > .orphaned
      if !isOver, case .record(let record) = details, let cancellation = record.cancellation {
        return CancellationToken(state: cancellation)
      }
      if isOver || isCancelled { return isCancelled ? .cancelled : .none }
      let record = self.record
      record.cancellation = CancellationState()
      return CancellationToken(state: record.cancellation)
    }
  }

  /// Notes that no more handles can be had, and answers the phase in which that happened.
  @usableFromInline
  final func endPromise() -> Phase {
    lock.withLock {
      hasPromise = false
      return phase.load(ordering: .relaxed)
    }
  }

  @usableFromInline
  final func reportResolvedTwice() {
    // What comes after a cancellation comes too late, which is no mistake.
    if FuturesDiagnostics.hasHandler, !wasCancelled { FuturesDiagnostics.reportResolvedTwice(label: label) }
  }
}
