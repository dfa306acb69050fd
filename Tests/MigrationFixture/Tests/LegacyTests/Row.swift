import Futures
import FuturesAsync
import Legacy
import Testing

/// A function with a callback, called by its counterparts.
struct Row: Sendable, CustomTestStringConvertible {
  let testDescription: String

  /// The value of the function, and its error, as text; `nil` if it cannot fail.
  let value: String
  let failure: String?

  /// Whether the function returns a handle that cancels.
  let hasHandle: Bool
  let async: @Sendable (Backend) async throws -> String

  /// Calls the future counterpart; `nil` where the value is not Sendable.
  let future: (@Sendable (Backend) -> Future<String, any Error>)?

  init<Value: Sendable>(
    _ name: String,
    gives value: String,
    failure: String? = "Offline()",
    hasHandle: Bool = false,
    async: @escaping @Sendable (Backend) async throws -> Value,
    future: @escaping @Sendable (Backend) -> Future<Value, any Error>
  ) {
    testDescription = name
    self.value = value
    self.failure = failure
    self.hasHandle = hasHandle
    self.async = { "\(try await async($0))" }
    self.future = { future($0).map { "\($0)" } }
  }

  init(
    _ name: String,
    gives value: String,
    failure: String? = "Offline()",
    hasHandle: Bool = false,
    only async: @escaping @Sendable (Backend) async throws -> String
  ) {
    testDescription = name
    self.value = value
    self.failure = failure
    self.hasHandle = hasHandle
    self.async = async
    future = nil
  }
}

extension Result {
  /// The value, or the error, as text.
  var text: String {
    switch self {
    case .success(let value): "\(value)"
    case .failure(let error): "\(error)"
    }
  }
}

/// The value or the error of a call, as text.
func text(of call: () async throws -> String) async -> String {
  do { return try await call() } catch is CancellationError { return "cancelled" } catch is BrokenPromise {
    return "broken"
  } catch { return "\(error)" }
}

/// The value or the error of a future, as text.
func text(of future: Future<String, any Error>) async -> String {
  await text { try await future.value(onCancel: .ignore) }
}
