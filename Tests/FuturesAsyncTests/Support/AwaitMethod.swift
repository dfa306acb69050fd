internal import Futures
internal import FuturesAsync
internal import TestSupport

/// The ways to await a future; the last three are `value(onCancel:)`.
enum AwaitMethod: String, CaseIterable, Codable, Sendable {
  case value, result
  case abandon, cancel, ignore

  /// The argument of `value(onCancel:)`.
  var choice: AwaitCancellation? {
    switch self {
    case .value, .result: nil
    case .abandon: .abandon
    case .cancel: .cancel
    case .ignore: .ignore
    }
  }

  /// Whether a cancelled task ends the await early, depending on whether the failure type can represent cancellation.
  func endsEarly(canRepresentCancellation: Bool) -> Bool {
    choice.map { $0 != .ignore } ?? canRepresentCancellation
  }

  /// Awaits `future` on the actor of the caller.
  nonisolated(nonsending) func callAsFunction<Failure: Error>(
    _ future: Future<Int, Failure>
  ) async -> Result<Int, any Error> {
    if self == .result { return await future.result.mapError { $0 } }
    do {
      guard let choice else { return .success(try await future.value) }
      return .success(try await future.value(onCancel: choice))
    } catch {
      return .failure(error)
    }
  }

  /// Starts a task that has attached to `future`, or has its result, when this function returns.
  /// - Parameters:
  ///   - future: The future that the task awaits.
  ///   - isCancelled: Whether the task is cancelled before it awaits.
  ///   - log: Records "ended" when the await ends.
  /// - Returns: The task.
  func start<Failure: Error>(
    _ future: Future<Int, Failure>,
    isCancelled: Bool = false,
    log: Recorder<String> = Recorder()
  ) -> Task<Result<Int, any Error>, Never> {
    Task.immediate {
      defer { log.record("ended") }
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      return await self(future)
    }
  }
}

extension Result {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }

  /// Whether this result is the failure of an await that the cancellation of its task ended.
  var isCancellation: Bool {
    guard case .failure(let error) = self else { return false }
    return error is CancellationError || error as? Interruption == .wasCancelled
  }
}
