/// A value, or a failure, that may not be there yet.
///
/// A future is a value in front of at most one object: a resolved one needs no object and no allocation, an unresolved one
/// shares its state with its `Promise` and its copies. It is resolved once (R1), tells everybody who asks, in order (R2),
/// and keeps nothing but its result afterwards (R5).
///
/// ```swift
/// let answer = Future<Int, any Error> { promise in
///   legacyLoad(promise.valueOrErrorHandler)
/// }
/// answer.map { $0 + 1 }.whenSucceeded(on: .main) { label.text = "\($0)" }
/// ```
///
/// Side effects name the context they run on; transforms run inline unless told otherwise.
@frozen
public struct Future<Value: Sendable, Failure: Error>: Sendable {
  @usableFromInline
  enum Storage: Sendable {
    case succeeded(Value)
    case failed(Failure)
    case shared(State<Value, Failure>)
  }

  @usableFromInline var storage: Storage

  @inlinable
  init(storage: Storage) { self.storage = storage }

  @inlinable
  package init(_ state: State<Value, Failure>) { storage = .shared(state) }
}

// MARK: - Making one

extension Future {
  /// A future that has succeeded.
  ///
  /// O(1), no allocation.
  /// - Parameter value: What it has succeeded with.
  /// - Returns: A resolved future.
  @inlinable
  public static func succeeded(_ value: Value) -> Self { Self(storage: .succeeded(value)) }

  /// A future that has failed.
  ///
  /// O(1), no allocation.
  /// - Parameter error: What it has failed with.
  /// - Returns: A resolved future.
  @inlinable
  public static func failed(_ error: Failure) -> Self { Self(storage: .failed(error)) }

  /// A future that has the given result.
  ///
  /// O(1), no allocation.
  /// - Parameter result: Its result.
  /// - Returns: A resolved future.
  @inlinable
  public static func resolved(_ result: Result<Value, Failure>) -> Self {
    switch result {
    case .success(let value): succeeded(value)
    case .failure(let error): failed(error)
    }
  }

  /// Wraps a callback API: `start` gets the promise, starts the work and hands the promise to the work's completion.
  ///
  /// `start` runs at once, on the calling thread. If everything that holds the promise goes away, the future fails with
  /// `BrokenPromise`, where `Failure` can hold that (R4).
  ///
  /// ```swift
  /// let data = Future<Data, any Error>("avatar") { promise in load(url, completion: promise.valueOrErrorHandler) }
  /// ```
  /// - Parameters:
  ///   - label: Names the future in diagnostics.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - start: Starts the work.
  @inlinable
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

extension Future where Failure == Never {
  /// A future that has succeeded and cannot fail, so that `Future.succeeded(3)` needs no type.
  ///
  /// O(1), no allocation.
  /// - Parameter value: What it has succeeded with.
  /// - Returns: A resolved future.
  @inlinable
  @_disfavoredOverload
  public static func succeeded(_ value: Value) -> Future { Future(storage: .succeeded(value)) }
}

// MARK: - Looking at it

extension Future {
  /// The result, if there is one by now.
  ///
  /// Never waits, starts nothing, changes nothing. O(1), no lock, no allocation.
  /// - Returns: The result, or `nil` while the future is unresolved.
  @inlinable
  public func peek() -> Result<Value, Failure>? {
    switch storage {
    case .succeeded(let value): .success(value)
    case .failed(let error): .failure(error)
    case .shared: withState { $0.peek() }
    }
  }

  /// Whether the future has a result.
  ///
  /// O(1), no lock.
  @inlinable
  public var isResolved: Bool {
    hasState ? withState { $0.isResolved } : true
  }
}

extension Future {
  /// What an unresolved future shares with its promise and its copies.
  package var sharedObject: AnyObject? { hasState && !isResolved ? unmanagedState?.takeUnretainedValue() : nil }

  /// Whether there is a state behind the handle.
  @inlinable
  var hasState: Bool {
    if case .shared = storage { true } else { false }
  }

  /// Calls `body` with the state behind the handle, which must be there, without counting a reference to it.
  ///
  /// The handle keeps the state alive, and counting took a tenth of the time of a stage.
  @inlinable
  @inline(__always)
  func withState<Output>(_ body: (State<Value, Failure>) -> Output) -> Output {
    withExtendedLifetime(self) { unmanagedState.unsafelyUnwrapped._withUnsafeGuaranteedRef(body) }
  }

  // A property, so that the reference that the pattern counts ends before anything happens to the state.
  @inlinable
  var unmanagedState: Unmanaged<State<Value, Failure>>? {
    if case .shared(let state) = storage { Unmanaged.passUnretained(state) } else { nil }
  }

  /// Gives up the handle for the state behind it, with no other reference in between, so that those can be counted.
  @inlinable
  consuming func takeState() -> State<Value, Failure>? {
    if case .shared(let state) = storage { state } else { nil }
  }
}
