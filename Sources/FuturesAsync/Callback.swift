internal import Futures

/// Calls a callback API and suspends the task until its callback is called, once.
///
/// What a continuation leaves to the caller is taken care of here: a second call of the callback is ignored, and reported as
/// `FuturesDiagnostics.Misuse.resolvedTwice`; a callback that is dropped uncalled throws `BrokenPromise`; a result that comes
/// after a cancellation is released. The value need not be `Sendable`, since it is handed over.
///
/// ```swift
/// let image: Image = try await withCallback { callback in
///   let request = loader.load(url, completion: callback.valueOrErrorHandler)
///   callback.onCancel { request.cancel() }
/// }
/// ```
///
/// Cancellation, task to callback: in a task that was cancelled before, this throws `CancellationError` and calls neither `body`
/// nor `onCancel`. Cancelled later, also while `body` runs, `onCancel` and the callback's own handlers run, once, in this order,
/// on the thread that cancels, and then this throws at once. Callback to task: an API that was cancelled by others says so with
/// its own error.
///
/// Cost: three allocations, and those of the handlers.
/// - Parameters:
///   - label: Names the API in errors and diagnostics.
///   - type: The type of the value, where it cannot be inferred.
///   - isolation: The actor of the caller, on which `body` runs, and to which this returns.
///   - fileID: The file that errors name.
///   - line: The line that errors name.
///   - body: Calls the API with one of the callback's handlers; it runs at once. It may call the callback before it returns.
///   - onCancel: Stops the work.
/// - Returns: The value that the callback was given.
/// - Throws: The error that the callback was given; `CancellationError`; `BrokenPromise`; `CallbackContractViolation`.
public func withCallback<Value>(
  _ label: String? = nil,
  of type: Value.Type = Value.self,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ body: (Callback<Value>) -> Void,
  onCancel: @escaping @Sendable () -> Void = {}
) async throws -> sending Value {
  guard !Task.isCancelled else { throw CancellationError() }
  let slot = CallbackSlot<Value>(CallbackSite(label: label, fileID: "\(fileID)", line: line))
  await withTaskCancellationHandler(
    operation: {
      await withUnsafeContinuation(isolation: isolation) { continuation in
        guard slot.begin(continuation, onCancel: onCancel) else { return continuation.resume() }
        body(Callback(slot))
      }
    },
    onCancel: { slot.cancel() },
    isolation: isolation
  )
  // Not inside the handler: Swift 6.3 gets a rethrow across a hop wrong.
  return try slot.takeResult().get()
}

/// The callback that `withCallback` waits for.
///
/// It may be called from any thread. Whoever holds it, or one of its handlers, can still call it; when the last one lets go,
/// the call throws `BrokenPromise`.
public final class Callback<Value>: @unchecked Sendable {
  // @unchecked: a constant, whose class says what protects it. Values only pass through.
  let slot: CallbackSlot<Value>

  init(_ slot: CallbackSlot<Value>) { self.slot = slot }

  deinit { slot.loseCallback() }

  /// Has the call return `value`.
  ///
  /// Only the first call counts; what comes after a cancellation is released.
  /// - Parameter value: The value, which the caller gives away.
  public func resume(returning value: sending Value) { slot.resume(with: .success(value)) }

  /// Has the call throw `error`.
  /// - Parameter error: The error.
  public func resume(throwing error: any Error) { slot.resume(with: .failure(error)) }

  /// Has the call return or throw as `result` says.
  /// - Parameter result: The result, which the caller gives away.
  public func resume(with result: sending Result<Value, any Error>) { slot.resume(with: result) }

  /// Has `handler` run if the task is cancelled before the callback is called; at once, if it is cancelled now.
  ///
  /// Cancellation, task to callback: handlers run once, in order, on the thread that cancels, after the `onCancel` of
  /// `withCallback`. They are released when the callback has been called. A callback that is called by a handler comes too late,
  /// and is no misuse. Keep the callback itself out of what they capture: it would keep itself alive.
  /// - Parameter handler: Stops the work.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) { slot.addHandler(handler) }
}
