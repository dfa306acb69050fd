public import Futures

/// Calls a callback API whose failures have one type, and suspends the task until the API calls the callback.
///
/// As `withCallback(_:of:isolation:fileID:line:_:onCancel:)`, with the same parameters, but it throws only `Failure`. So the caller
/// passes two errors: `cancelled` for a cancelled call, and `dropped` if the API releases the callback without a call.
///
/// ```swift
/// func user(_ id: Int) async throws(APIError) -> User {
///   try await withCallback(throwing: APIError.self, cancelled: .cancelled, dropped: .noAnswer) { callback in
///     api.user(id, completion: callback.resultHandler)
///   }
/// }
/// ```
///
/// Cancellation, task to callback: an already cancelled task calls neither `body` nor `onCancel`, and this throws `cancelled`.
/// A later cancellation runs the handlers, and then this throws `cancelled` at once. Callback to task: if other code cancels the
/// API, the API passes its own error.
/// - Returns: The value that the callback got.
/// - Throws: The error that the callback got; `cancelled`; `dropped`.
public func withCallback<Value, Failure: Error>(
  _ label: String? = nil,
  throwing failure: Failure.Type,
  cancelled: Failure,
  dropped: Failure,
  of type: Value.Type = Value.self,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ body: (TypedCallback<Value, Failure>) -> Void,
  onCancel: @escaping @Sendable () -> Void = {}
) async throws(Failure) -> sending Value {
  guard !Task.isCancelled else { throw cancelled }  // `wait` tests again: this saves the slot
  let site = CallbackSite(label: label, place: fileID, line: line)
  let slot = CallbackSlot<Value>(site, cancelled: cancelled, dropped: dropped)
  await slot.wait(isolation: isolation, onCancel: onCancel) { body(TypedCallback(slot)) }
  // Throws only here: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  switch slot.takeResult() {
  case .success(let value): return value
  // All errors of the slot are of this type: the parameters of this function, and what a `TypedCallback` passes.
  case .failure(let error): throw error as! Failure  // swift-format-ignore: NeverForceUnwrap
  }
}

/// The callback of a `withCallback` call whose failures have one type.
///
/// Any thread can call it. The handlers own the callback. When its last reference goes away before a call, `withCallback` throws
/// its error `dropped`.
public final class TypedCallback<Value, Failure: Error>: @unchecked Sendable {
  // @unchecked: the only property is a constant, and its class protects its own state. Values only pass through.
  private let slot: CallbackSlot<Value>

  init(_ slot: CallbackSlot<Value>) { self.slot = slot }

  deinit { slot.breakCallback() }

  /// Resumes the waiting call with `value`.
  ///
  /// Only the first call has an effect. A value that comes after a cancellation is released.
  /// - Parameter value: The value, which the caller transfers.
  public func resume(returning value: sending Value) { slot.resume(with: .success(value)) }

  /// Resumes the waiting call, which throws `error`.
  public func resume(throwing error: Failure) { slot.resume(with: .failure(error)) }

  /// Resumes the waiting call with a value or an error.
  /// - Parameter result: The result, which the caller transfers.
  public func resume(with result: sending Result<Value, Failure>) {
    slot.resume(with: result.mapError { $0 as any Error })
  }

  /// Runs `handler` if the task is cancelled before the callback is called, as `onCancel` of `Callback` does.
  ///
  /// Cancellation, task to callback: handlers run once, in order, on the thread that cancels. A handler must not capture the
  /// callback, because it would keep the callback alive.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { slot.addHandler(handler) }

  /// Runs `handler` on the main actor if the task is cancelled before the callback is called.
  ///
  /// For an API of the main actor: the closure uses the API's state without an annotation, as in the example of `Callback`.
  ///
  /// Cancellation, task to callback: the cancellation submits `handler` to the main queue, and does not wait for it. With
  /// `.mainImmediate`, a cancellation on the main actor runs it at once. Otherwise this is as `onCancel(_:)`.
  public func onCancel(on context: MainContext, _ handler: @escaping @MainActor () -> Void) {
    onCancel(context.submitting(handler))
  }

  /// A handler for APIs that complete with a `Result`.
  public var resultHandler: @Sendable (Result<Value, Failure>) -> Void {
    { result in
      // Unsafe: a completion handler transfers its value, but APIs declare its parameter without `sending`.
      nonisolated(unsafe) let result = result
      self.resume(with: result)
    }
  }

  /// A handler for APIs that complete with a value, or report success separately from failure.
  public var valueHandler: @Sendable (Value) -> Void {
    { value in
      // Unsafe: as in `resultHandler`.
      nonisolated(unsafe) let value = value
      self.resume(returning: value)
    }
  }

  /// A handler for APIs that report failure to a separate closure.
  public var failureHandler: @Sendable (Failure) -> Void {
    { self.resume(throwing: $0) }
  }
}

extension TypedCallback where Value == Void {
  /// Resumes the waiting call.
  public func resume() { resume(returning: ()) }

  /// A handler for APIs that complete without a value.
  public var voidHandler: @Sendable () -> Void {
    { self.resume(returning: ()) }
  }
}
