public import Futures

// Every getter here is `nonisolated(nonsending)`: it runs on the caller's actor, and returns to it. Swift 6.3 has two faults
// that would break that. A rethrow across a suspension returns off the actor, so each getter awaits a `Result`, and throws
// after that. And a function that begins with a call of a `nonisolated(nonsending)` one that is not inlined loses its own hop
// to its actor in an optimised build, so each getter is always inlined.

extension Future {
  /// The result; the task is suspended until it is there.
  ///
  /// A resolved future is awaited without suspending and without allocating. After the await the caller is on its own actor.
  ///
  /// Cancellation, task to future: if the task is cancelled while it waits, and `Failure` can say so (`any Error`,
  /// `CancellationError`, a `CancellableFailure`), the result is that failure, at once; the future and all others who wait
  /// for it are untouched, and what it is resolved with is not lost to them. Where `Failure` cannot say so, the wait goes on.
  @inlinable @inline(__always)
  nonisolated(nonsending) public var result: Result<Value, Failure> {
    get async {
      if let result = settledResult { return result }
      return await awaitResult()
    }
  }

  /// The value, or the failure as an error; the task is suspended until it is there.
  ///
  /// A resolved future is awaited without suspending and without allocating. After the await the caller is on its own actor,
  /// also when this throws.
  ///
  /// Cancellation, task to future: if the task is cancelled while it waits, and `Failure` can say so (`any Error`,
  /// `CancellationError`, a `CancellableFailure`), this throws at once; the future and all others who wait for it are
  /// untouched. Where `Failure` cannot say so, the wait goes on.
  /// - Throws: The future's failure, or the cancelled one of its type.
  @inlinable @inline(__always)
  nonisolated(nonsending) public var value: Value {
    get async throws(Failure) {
      if let result = settledResult { return try result.get() }
      let result = await awaitResult()
      return try result.get()
    }
  }
}

// A twin of the throwing one, because Swift 6.3 crashes on that in a closure that cannot throw.
extension Future where Failure == Never {
  /// The value of a future that cannot fail; the task is suspended until it is there.
  ///
  /// A resolved future is awaited without suspending and without allocating. After the await the caller is on its own actor.
  /// Cancelling the task does not end the wait, because there is no value to end it with.
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
