public import Futures

/// Calls a callback API, and suspends the task until the API calls the callback.
///
/// It handles the cases that a continuation leaves to its caller:
/// - It ignores a second call of the callback, and reports `FuturesDiagnostics.Misuse.resolvedTwice`.
/// - If the API releases the callback without a call, it throws `BrokenPromise`.
/// - It releases a result that comes after a cancellation.
///
/// The value need not be `Sendable`, because it is transferred.
///
/// ```swift
/// let image: Image = try await withCallback { callback in
///   let request = loader.load(url, completion: callback.valueOrErrorHandler)
///   callback.onCancel { request.cancel() }
/// }
/// ```
///
/// Cancellation, task to callback: an already cancelled task calls neither `body` nor `onCancel`, and this throws
/// `CancellationError`. A later cancellation, also while `body` runs, runs `onCancel` and then the callback's own
/// handlers. Each runs once, on the thread that cancels. Then this throws `CancellationError` at once. Callback to
/// task: if other code cancels the API, the API passes its own error.
///
/// Cost: three allocations, plus the allocations of the handlers.
/// - Parameters:
///   - label: The name of the API in errors and diagnostics.
///   - type: The type of the value, if it cannot be inferred.
///   - isolation: The caller's actor. `body` runs on it, and this returns to it.
///   - fileID: The file that errors name.
///   - line: The line that errors name.
///   - body: Passes one of the callback's handlers to the API. It runs at once, and can call the callback before it
///     returns.
///   - onCancel: Stops the work.
/// - Returns: The value that the callback got.
/// - Throws: The error that the callback got; `CancellationError`; `BrokenPromise`; `CallbackContractViolation`.
public func withCallback<Value>(
  _ label: String? = nil,
  of type: Value.Type = Value.self,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ body: (Callback<Value>) -> Void,
  onCancel: @escaping @Sendable () -> Void = {}
) async throws -> sending Value {
  guard !Task.isCancelled else { throw CancellationError() }  // `wait` tests again: this saves the slot
  let slot = CallbackSlot<Value>(CallbackSite(label: label, place: fileID, line: line))
  await slot.wait(isolation: isolation, onCancel: onCancel) { body(Callback(slot)) }
  // Throws only here: in Swift 6.3 a rethrow across an actor hop returns off the caller's actor.
  return try slot.takeResult().get()
}

/// The callback of a `withCallback` call.
///
/// Any thread can call it. The handlers own the callback. When its last reference goes away before a call,
/// `withCallback` throws `BrokenPromise`.
public final class Callback<Value>: @unchecked Sendable {
  // @unchecked: the only property is a constant, and its class protects its own state. Values only pass through.
  let slot: CallbackSlot<Value>

  init(_ slot: CallbackSlot<Value>) { self.slot = slot }

  deinit { slot.breakCallback() }

  /// Resumes the waiting call with `value`.
  ///
  /// Only the first call has an effect. A value that comes after a cancellation is released.
  /// - Parameter value: The value, which the caller transfers.
  public func resume(returning value: sending Value) { slot.resume(with: .success(value)) }

  /// Resumes the waiting call, which throws `error`.
  public func resume(throwing error: any Error) { slot.resume(with: .failure(error)) }

  /// Resumes the waiting call with a value or an error.
  /// - Parameter result: The result, which the caller transfers.
  public func resume(with result: sending Result<Value, any Error>) { slot.resume(with: result) }

  /// Runs `handler` if the task is cancelled before the callback is called.
  ///
  /// If a cancellation has already run the other handlers, `handler` runs at once.
  ///
  /// Cancellation, task to callback: handlers run once, in order, on the thread that cancels. They run after the
  /// `onCancel` of `withCallback`. They are released when the callback is called. If a handler calls the callback, that
  /// call is late: it has no effect, and is no misuse. A handler must not capture the callback, because it would keep
  /// the callback alive.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { slot.addHandler(handler) }

  /// Runs `handler` on the main actor if the task is cancelled before the callback is called.
  ///
  /// For an API of the main actor: the closure uses the API's state without an annotation.
  ///
  /// ```swift
  /// let code: String = try await withCallback { callback in
  ///   let scanner = Scanner()  // isolated to the main actor
  ///   scanner.start(callback.valueOrErrorHandler)
  ///   callback.onCancel(on: .main) { scanner.stop() }
  /// }
  /// ```
  ///
  /// Cancellation, task to callback: the cancellation submits `handler` to the main queue, and does not wait for it. With
  /// `.mainImmediate`, a cancellation on the main actor runs it at once. Otherwise this is as `onCancel(_:)`.
  public func onCancel(on context: MainContext, _ handler: @escaping @MainActor () -> Void) {
    onCancel(context.submitting(handler))
  }
}
