public import Futures

/// What an await does when its task is cancelled.
public enum AwaitCancellation: Sendable {
  /// The await ends at once; the future and all others who wait for it are untouched.
  case abandon
  /// The await ends at once, and the future is left: if nobody else is attached to it, it is cancelled.
  case cancel
  /// The await goes on.
  case ignore
}

extension Future {
  /// The value, with a choice of what becomes of the future if the task is cancelled.
  ///
  /// A resolved future is awaited without suspending. After the await the caller is on its own actor, also when this throws.
  ///
  /// Cancellation, task to future: as `choice` says, for any `Failure`. Where the await ends, the error or value that the
  /// future gets later is lost to this caller, though not to others. In a task that was cancelled before, `abandon` and
  /// `cancel` throw at once, also where `cancel` leaves a future that nobody has attached to yet; a resolved future still gives
  /// its value.
  /// - Parameters:
  ///   - choice: What to do when the task is cancelled.
  ///   - isolation: The actor of the caller.
  /// - Returns: The value.
  /// - Throws: The future's failure; `CancellationError` where the await was ended by cancellation.
  public func value(
    onCancel choice: AwaitCancellation,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Value {
    if let result = settledResult { return try result.get() }
    if choice != .ignore, Task.isCancelled {
      if choice == .cancel { cancelIfUnneeded() }
      throw CancellationError()
    }
    guard let result = await awaitResult(onCancel: choice.wait) else { throw CancellationError() }
    return try result.get()
  }
}

extension AwaitCancellation {
  fileprivate var wait: WaitCancellation {
    switch self {
    case .abandon: .abandon
    case .cancel: .cancel
    case .ignore: .ignore
    }
  }
}
