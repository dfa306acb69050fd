import Dispatch

public import Futures
internal import FuturesAsync

public struct NoParcel: Error {}

public enum PostError: Error {
  case other(any Error)
}

public protocol Cancellable: Sendable {
  func cancel()
}

extension Future: Cancellable {}

/// A handle that is made from what it does.
public final class Tracking: Cancellable {
  private let onCancel: @Sendable () -> Void

  public init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

  public func cancel() { onCancel() }
}

/// An API of others, which calls back on its own queue.
public final class Backend: Sendable {
  private let queue = DispatchQueue(label: "backend")

  /// Its counterpart waits for its callback.
  public func weigh(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    queue.async { completion(id > 0 ? .success(10 * id) : .failure(NoParcel())) }
  }

  public func weigh(_ id: Int) async throws -> Int {
    try await withCallback { weigh(id, completion: $0.resultHandler) }
  }

  func count(completion: @escaping @Sendable (Int) -> Void) { queue.async { completion(3) } }

  func count() async -> Int { await withCheckedContinuation { waiter in count { waiter.resume(returning: $0) } } }

  func follow(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Tracking {
    Tracking { completion(.failure(CancellationError())) }
  }
}
