/// Resolves a future.
///
/// Any thread can resolve a promise. The first resolution wins, and later ones return `false` (R1). A pending promise
/// breaks when its last reference goes away (R4). Its future fails with `BrokenPromise`, if the failure type can hold
/// that. Otherwise the future stays pending, and `FuturesDiagnostics` reports a consumer that waits for it.
///
/// A promise and the state of its future are two objects. So the library notices the release of the promise itself,
/// whether or not its future is still in use.
@_fixed_layout
public final class Promise<Value: Sendable, Failure: Error>: Sendable {
  // nonisolated(unsafe): a constant, except that `deinit` passes it as `inout` to test for a unique reference.
  @exclusivity(unchecked) @usableFromInline nonisolated(unsafe) private(set) var state: State<Value, Failure>

  // The source position in twelve bytes: a static, null-terminated string, and a line. `StaticString` and `UInt` would
  // take twenty-five. nonisolated(unsafe): it points to a constant of the program.
  @usableFromInline nonisolated(unsafe) let fileID: UnsafePointer<UInt8>
  @usableFromInline let line: UInt32

  /// Makes a promise with a pending future; diagnostics show `label`, `fileID` and `line`.
  ///
  /// Two allocations.
  @inlinable
  public init(_ label: @autoclosure () -> String? = nil, fileID: StaticString = #fileID, line: UInt = #line) {
    state = PromiseState()
    self.fileID = Self.pointer(to: fileID)
    self.line = UInt32(truncatingIfNeeded: line)
    if let label = label() { state.setLabel((label, self.fileID, line)) }  // always evaluated: `BrokenPromise` names it
    if FuturesDiagnostics.mayTrackPendingFutures { track() }
  }

  /// Makes the promise of a lazy future, whose work starts now; the state already has the flag `hasPromise`.
  init(resolving state: State<Value, Failure>, fileID: StaticString, line: UInt) {
    self.state = state
    self.fileID = Self.pointer(to: fileID)
    self.line = UInt32(truncatingIfNeeded: line)
    if FuturesDiagnostics.mayTrackPendingFutures { track() }
  }

  @usableFromInline
  func track() { PendingFutures.shared.add(.promise, state, fileID: fileID, line: UInt(line)) }

  /// Names the producer of the future in the graph of pending futures, if they are tracked.
  package func describe(as kind: PendingEntry.Kind, _ label: @autoclosure () -> String) {
    if FuturesDiagnostics.mayTrackPendingFutures { PendingFutures.shared.describe(state, as: kind, label: label()) }
  }

  deinit {
    // `withState` written out: a call from here would be unspecialised.
    guard !Unmanaged<FutureState>.passUnretained(state)._withUnsafeGuaranteedRef({ $0.isResolved }) else {
      // The state outlives the promise, reports an unobserved failure when it is released, and then names this place.
      if state.has(.isUnobservedFailure), FuturesDiagnostics.hasHandler { state.setPlace((fileID, UInt(line))) }
      return
    }
    switch state.endPromise() {
    case .pending: breakState(releasedBy: nil)  // `nil`: the promise itself was released, and no owner of it
    case .following:
      let followsItself = splice()  // shortens the chain to the followed future
      if followsItself {
        breakState(releasedBy: nil)
      } else if FuturesDiagnostics.hasHandler {
        // The followed future can still fail this one. The report of an unobserved failure then names this place.
        state.setPlace((fileID, UInt(line)))
      }
    default: break  // settled meanwhile; or an orphan, because the followed future never resolves
    }
  }

  /// Breaks the future, because its promise was released.
  /// - Parameter owner: The type of the released object that had the promise; `nil` if the promise had no such owner.
  func breakState(releasedBy owner: StaticString?) {
    let error = BrokenPromise(
      label: state.label,
      fileID: String(cString: fileID),
      line: UInt(line),
      releasedOwner: owner
    )
    // The test kit records the mistake, and the default handler then ignores it. A drop after a cancellation is no mistake.
    let observers = FuturesDiagnostics.breakObservers
    let isRecorded = observers.exist && !state.wasCancelled && observers.record(error)
    state.breakPromise(BreakReason(error, isRecorded: isRecorded))
  }

  /// Takes the state out of the chain between its only follower and its followed future, if no other code can reach the state.
  /// - Returns: Whether the state follows itself through other states, so that the caller has to break it.
  private func splice() -> Bool {
    // A reference to a class has the layout of one to its base class. A variable of the base class would be a second
    // reference, and the core tests whether `state` is the only one.
    withUnsafeMutablePointer(to: &state) { state in
      state.withMemoryRebound(to: FutureState.self, capacity: 1) { FutureState.splice(&$0.pointee) }
    }
  }

  /// Returns the null-terminated string of `fileID`, or a placeholder for a `fileID` of one character, which has no such string.
  @_alwaysEmitIntoClient
  static func pointer(to fileID: StaticString) -> UnsafePointer<UInt8> {
    (fileID.hasPointerRepresentation ? fileID : "a file with a name of one character").utf8Start
  }

  /// The future that this promise resolves.
  ///
  /// No allocation.
  @_alwaysEmitIntoClient
  public var future: Future<Value, Failure> { Future(state) }

  /// Whether the future has a result.
  ///
  /// After `follow`, it has one when the other future is resolved.
  @_alwaysEmitIntoClient
  public var isResolved: Bool { withState { $0.isResolved } }

  /// Resolves the future with a value, and notifies its consumers, inline or on their contexts.
  /// - Returns: Whether this was the first resolution. If not, nothing changes, and `value` is released.
  @_alwaysEmitIntoClient
  @discardableResult
  public func succeed(_ value: Value) -> Bool { resolve(.success(value)) }

  /// Resolves the future with an error, and notifies its consumers, inline or on their contexts.
  /// - Returns: Whether this was the first resolution. If not, nothing changes, and `error` is released.
  @_alwaysEmitIntoClient
  @discardableResult
  public func fail(_ error: Failure) -> Bool { resolve(.failure(error)) }

  /// Resolves the future with a result, and notifies its consumers, inline or on their contexts.
  /// - Returns: Whether this was the first resolution. If not, nothing changes, and `result` is released.
  @_alwaysEmitIntoClient
  @discardableResult
  public func resolve(_ result: Result<Value, Failure>) -> Bool {
    let isFirst = withState { $0.resolve(result, by: .promise) }
    if !isFirst { reportResolvedTwice() }
    return isFirst
  }

  @usableFromInline
  func reportResolvedTwice() {
    // A resolution after a cancellation is late, and is no misuse.
    guard FuturesDiagnostics.hasHandler, !state.wasCancelled else { return }
    let misuse = FuturesDiagnostics.Misuse.resolvedTwice(
      label: state.label,
      fileID: String(cString: fileID),
      line: UInt(line)
    )
    FuturesDiagnostics.report(misuse)
  }

  /// Makes `task` the producer: cancelling the future cancels the task, and an await of the future raises the task's priority.
  @_alwaysEmitIntoClient
  package func setProducer(task: Task<Void, Never>) { state.setProducer(task: task) }

  /// Resolves the future from a task of the library: the callbacks run outside the task, without its task-local values (R8).
  @_alwaysEmitIntoClient
  package func resolveFromTask(_ result: Result<Value, Failure>) {
    state.resolveFromTask(result)
  }

  /// Resolves the future as `other` resolves.
  ///
  /// The promise is locked in. From now on `succeed`, `fail` and `resolve` return `false`. A second `follow` does not change
  /// what the promise follows, and `follow` does not change a resolved promise. A chain of followers takes no stack.
  /// Cancelling the future leaves `other`, also if the cancellation came before `follow` (R17).
  ///
  /// Following its own future traps, because it would never resolve.
  @_alwaysEmitIntoClient
  public func follow(_ other: consuming Future<Value, Failure>) {
    state.followForPromise(other)
  }

  /// Calls `body` with the state, without counting a reference to it; the promise keeps it alive.
  @_alwaysEmitIntoClient
  @inline(__always)
  func withState<Output>(_ body: (State<Value, Failure>) -> Output) -> Output {
    withExtendedLifetime(self) { Unmanaged.passUnretained(state)._withUnsafeGuaranteedRef(body) }
  }
}

// MARK: - Cancellation

extension Promise {
  /// Runs `handler` when the future is cancelled, so that the work can stop.
  ///
  /// If the future is already cancelled, `handler` runs at once. Handlers run once, in order, on the thread that
  /// cancels, before the future resolves. If a handler resolves the promise, the promise keeps that result (R15, R17).
  /// The handlers are released when the future is resolved. A handler must not capture the promise. It would keep the
  /// promise alive until the future is resolved or cancelled.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    cancellationToken.register(handler)
  }

  /// Runs `handler` on the main actor when the future is cancelled, to stop an API of the main actor.
  ///
  /// ```swift
  /// func scan() -> Future<String, any Error> {
  ///   Future { promise in
  ///     let scanner = Scanner()  // isolated to the main actor
  ///     scanner.start(promise.valueOrErrorHandler)
  ///     promise.onCancel(on: .main) { scanner.stop() }
  ///   }
  /// }
  /// ```
  ///
  /// As `onCancel(_:)`, but `cancel()` submits `handler` to the main queue, and does not wait for it. So the future can be
  /// resolved as cancelled before `handler` has run. With `.mainImmediate`, a cancellation on the main actor runs it at once.
  public func onCancel(on context: MainContext, _ handler: @escaping @MainActor () -> Void) {
    onCancel(context.submitting(handler))
  }

  /// The token that is cancelled with the future, for work that takes a token.
  ///
  /// Cost of the first call: up to two allocations.
  public var cancellationToken: CancellationToken { state.cancellationToken }
}

extension Promise where Value == Void {
  /// Resolves the future, and notifies its consumers, inline or on their contexts.
  /// - Returns: Whether this was the first resolution.
  @_alwaysEmitIntoClient
  @discardableResult
  public func succeed() -> Bool { resolve(.success(())) }
}

extension TypedState {
  /// Makes the state of a promise resolve as `other`.
  ///
  /// A cancelled state that is settled, or already follows a future, instead cancels `other` if nothing else waits for it (R17).
  @_alwaysEmitIntoClient
  final func followForPromise<V, F>(_ other: consuming Future<V, F>) where Stored == Outcome<V, F> {
    if let result = other.peek() {
      resolve(result, by: .promise)
    } else if beginFollowing() {
      // `other` is pending, so it has a state. No variable holds it, because `makePrivate`, which this call reaches, tests the
      // number of references. With one more, the state would stay in the chain when its producer moves on to another future.
      followForPromise(other.takeState().unsafelyUnwrapped)
    } else if wasCancelled, let source = other.takeState() {
      source.cancelIfUnneeded()
    }
  }
}
