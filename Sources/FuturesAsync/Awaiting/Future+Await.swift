public import Futures

// Each getter is `nonisolated(nonsending)`: it runs on the caller's actor and returns to it. Two bugs of Swift 6.3
// shape the code. First, a rethrow across a suspension returns off the caller's actor. So each getter awaits a `Result`
// and throws afterwards. Second, an optimised function can lose its hop to its own actor. That happens if it begins
// with a call of a `nonisolated(nonsending)` function that is not inlined. So each getter is always inlined.

extension Future {
  /// The result; suspends the task while the future is pending.
  ///
  /// An await of a resolved future neither suspends nor allocates. After the await, the caller is on its own actor.
  ///
  /// Cancellation, task to future: if the task is cancelled, the await ends at once with the cancelled failure. This
  /// requires a `Failure` that can represent cancellation: `any Error`, `CancellationError` or a `CancellableFailure`.
  /// With any other `Failure` the await goes on. The future and its other consumers are unaffected, and the other
  /// consumers still get the result.
  @inlinable @inline(__always)
  nonisolated(nonsending) public var result: Result<Value, Failure> {
    get async {
      if let result = settledResult { return result }
      return await awaitResult()
    }
  }

  /// The value; suspends the task while the future is pending, and throws its failure.
  ///
  /// Use it wherever async code needs the value of a future that others also use. If the future belongs to this call
  /// alone, `value(onCancel: .cancel)` also stops its work when the task is cancelled.
  ///
  /// ```swift
  /// let data = try await load(url).value
  /// ```
  ///
  /// An await of a resolved future neither suspends nor allocates. After the await, the caller is on its own actor,
  /// also when this throws.
  ///
  /// Cancellation, task to future: if the task is cancelled, this throws the cancelled failure at once. This requires a
  /// `Failure` that can represent cancellation: `any Error`, `CancellationError` or a `CancellableFailure`. With any
  /// other `Failure` the await goes on. The future and its other consumers are unaffected.
  /// - Throws: The future's failure, or the cancelled failure of its type.
  @inlinable @inline(__always)
  nonisolated(nonsending) public var value: Value {
    get async throws(Failure) {
      if let result = settledResult { return try result.get() }
      let result = await awaitResult()
      return try result.get()
    }
  }
}

// A separate overload: Swift 6.3 crashes on the throwing getter in a closure that cannot throw.
extension Future where Failure == Never {
  /// The value of a future that cannot fail; suspends the task while the future is pending.
  ///
  /// An await of a resolved future neither suspends nor allocates. After the await, the caller is on its own actor.
  /// Cancelling the task does not end the await, because `Never` has no cancelled failure.
  @inlinable @inline(__always)
  nonisolated(nonsending) public var value: Value {
    get async {
      if case .success(let value)? = settledResult { return value }
      switch await awaitResult() {
      case .success(let value): return value
      }
    }
  }
}
