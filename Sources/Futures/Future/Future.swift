/// The result of work that can still be running: a value or a failure.
///
/// A resolved future stores its result inline and needs no allocation. A pending future shares one object, its state,
/// with its `Promise` and its copies. It resolves once (R1), and notifies its consumers in order (R2). Afterwards it
/// keeps only its result (R5).
///
/// ```swift
/// let answer = Future<Int, any Error> { promise in
///   legacyLoad(promise.valueOrErrorHandler)
/// }
/// answer.map { $0 + 1 }.whenSucceeded(on: .main) { label.text = "\($0)" }
/// ```
///
/// Side effects name the context on which they run. Transforms run inline by default.
///
/// Cancelling a derived future leaves its source, which is cancelled too if nothing else waits for it (R16). A transform
/// that has not started then never runs (R17). <doc:Rules> explains each rule by its number.
@frozen
public struct Future<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  enum Storage: Sendable {
    case succeeded(Value)
    case failed(Failure)
    case sharedState(State<Value, Failure>)
  }

  @usableFromInline var storage: Storage

  @_alwaysEmitIntoClient
  init(storage: Storage) { self.storage = storage }

  @_alwaysEmitIntoClient
  package init(_ state: State<Value, Failure>) { storage = .sharedState(state) }
}

// MARK: - Making a future

extension Future {
  /// Returns a future that has succeeded; O(1), no allocation.
  @_alwaysEmitIntoClient
  public static func succeeded(_ value: Value) -> Self { Self(storage: .succeeded(value)) }

  /// Returns a future that has failed; O(1), no allocation.
  @_alwaysEmitIntoClient
  public static func failed(_ error: Failure) -> Self { Self(storage: .failed(error)) }

  /// Returns a future with the given result; O(1), no allocation.
  @_alwaysEmitIntoClient
  public static func resolved(_ result: Result<Value, Failure>) -> Self {
    switch result {
    case .success(let value): succeeded(value)
    case .failure(let error): failed(error)
    }
  }

  /// Wraps a callback API: `start` starts the work, and passes the promise to the work's completion.
  ///
  /// `start` runs at once, on the calling thread. If the last reference to the pending promise goes away, the future
  /// fails with `BrokenPromise`. This requires a `Failure` that can hold the error (R4).
  ///
  /// ```swift
  /// let data = Future<Data, any Error>("avatar") { promise in load(url, completion: promise.valueOrErrorHandler) }
  /// ```
  /// - Parameters:
  ///   - label: The name of the future in diagnostics.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - start: Starts the work.
  @_alwaysEmitIntoClient
  public init(
    _ label: @autoclosure () -> String? = nil,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: (Promise<Value, Failure>) -> Void
  ) {
    let promise = Promise<Value, Failure>(label(), fileID: fileID, line: line)
    start(promise)
    self = promise.future
  }
}

extension Future where Value == Void {
  /// Returns a future that has succeeded without a value.
  ///
  /// O(1), no allocation. `func save() -> Future<Void, any Error> { .succeeded() }`
  @_alwaysEmitIntoClient
  public static func succeeded() -> Self { .succeeded(()) }
}

extension Future where Value == Void, Failure == Never {
  /// Returns a future that has succeeded without a value and cannot fail, so that `Future.succeeded()` needs no type.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public static func succeeded() -> Future { Future(storage: .succeeded(())) }
}

extension Future where Failure == Never {
  /// Returns a future that has succeeded and cannot fail, so that `Future.succeeded(3)` needs no type.
  @_alwaysEmitIntoClient
  @_disfavoredOverload
  public static func succeeded(_ value: Value) -> Future { Future(storage: .succeeded(value)) }
}

// MARK: - Reading the result

extension Future {
  /// Returns the result, or `nil` while the future is pending.
  ///
  /// Never waits, and starts nothing. A failure counts as observed afterwards. O(1), no lock, no allocation.
  /// - Returns: The result, or `nil`.
  @_alwaysEmitIntoClient
  public func peek() -> Result<Value, Failure>? {
    switch storage {
    case .succeeded(let value): .success(value)
    case .failed(let error): .failure(error)
    case .sharedState: peekState()
    }
  }

  /// Does the work of `peek()` for a future with a state.
  ///
  /// Not inlined: inside `peek()`, its call of the state would make each caller save registers, even without a state.
  @_alwaysEmitIntoClient
  @inline(never)
  func peekState() -> Result<Value, Failure>? { withState { $0.peek() } }

  /// Whether the future has a result; O(1), no lock.
  @_alwaysEmitIntoClient
  public var isResolved: Bool {
    hasState ? withState { $0.isResolved } : true
  }
}

extension Future {
  /// The result, if an await can return it at once; else `nil`.
  ///
  /// It is `nil` while a future with progress listeners delivers its result. The await then queues behind the listeners,
  /// because the last report comes before the completion (R20).
  @_alwaysEmitIntoClient
  package var settledResult: Result<Value, Failure>? {
    guard hasState else { return peek() }
    return withState { state in
      // First the result, then the phase (`isNotifyingProgress`): otherwise a delivery that begins in between would go unseen.
      guard let result = state.peek() else { return nil }
      // Not `nil` in a cancelled task: there the await would end at once, without the result.
      return state.isNotifyingProgress && !Task.isCancelled ? nil : result
    }
  }

  /// The state of a pending future, for the leak check of the test kit; `nil` if the future is resolved.
  package var sharedObject: AnyObject? { hasState && !isResolved ? unmanagedState?.takeUnretainedValue() : nil }

  /// Whether a consumer is attached and not yet notified; for tests.
  package var hasConsumers: Bool {
    hasState && withState { $0.hasConsumers }
  }

  /// The state; `nil` for a future that was resolved from the start.
  @_alwaysEmitIntoClient
  package var state: State<Value, Failure>? {
    if case .sharedState(let state) = storage { state } else { nil }
  }

  /// Whether the handle has a state.
  @_alwaysEmitIntoClient
  var hasState: Bool {
    if case .sharedState = storage { true } else { false }
  }

  /// This future, or a copy with a state if it has none: a stage or an observer of the progress needs a state.
  @_alwaysEmitIntoClient
  var asSharedState: Future {
    guard !hasState, let result = peek() else { return self }
    let state = State<Value, Failure>()
    state.resolve(result)
    return Future(state)
  }

  /// Calls `body` with the state, which must exist, without counting a reference to it.
  ///
  /// The handle keeps the state alive. Counting took a tenth of the time of a stage.
  @_alwaysEmitIntoClient
  @inline(__always)
  func withState<Output>(_ body: (State<Value, Failure>) -> Output) -> Output {
    withExtendedLifetime(self) { unmanagedState.unsafelyUnwrapped._withUnsafeGuaranteedRef(body) }
  }

  /// The state without a counted reference, or `nil`; a property, so that the reference of the pattern match ends here.
  @_alwaysEmitIntoClient
  var unmanagedState: Unmanaged<State<Value, Failure>>? {
    if case .sharedState(let state) = storage { Unmanaged.passUnretained(state) } else { nil }
  }

  /// Consumes the handle and returns its state; makes no other reference, so a caller can test for a unique one.
  @_alwaysEmitIntoClient
  consuming func takeState() -> State<Value, Failure>? {
    if case .sharedState(let state) = storage { state } else { nil }
  }
}
