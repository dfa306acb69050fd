import Dispatch

public import Futures
internal import FuturesAsync

// Functions that no wrapper can replace, each with its reason.

/// Another handle, which only the backend makes.
public final class Ticket: Sendable {
  init() {}
  public func cancel() {}
}

public protocol Courier {
  func deliver(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void)
  func deliver(_ id: Int) async throws -> Int
}

public final class Branch: Sendable {
  private let backend = Backend()

  public init() {}

  /// The counterpart works through a future of this function.
  public func open(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func openFuture(_ id: Int) -> Future<Int, any Error> {
    Future { promise in open(id, completion: promise.resultHandler) }
  }

  public func open(_ id: Int) async throws -> Int { try await openFuture(id).value }

  /// Each of these two counterparts works through the callback of the other, so that one of them can be turned around.
  public func lend(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func lend(_ id: Int) async throws -> Int {
    try await withCallback { borrow(id, completion: $0.resultHandler) }
  }

  public func borrow(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func borrow(_ id: Int) async throws -> Int {
    try await withCallback { lend(id, completion: $0.resultHandler) }
  }

  public func cached(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    guard id > 0 else {
      completion(.success(0))
      return
    }
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func cached(_ id: Int) async throws -> Int { id > 0 ? try await backend.weigh(id) : 0 }

  public func somewhere(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id, completion: completion)
  }

  public func somewhere(_ id: Int) async throws -> Int { try await backend.weigh(id) }

  public func weakly(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id) { [weak self] result in
      guard self != nil else { return }
      DispatchQueue.main.async { completion(result) }
    }
  }

  public func weakly(_ id: Int) async throws -> Int { try await backend.weigh(id) }

  public func book(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Ticket {
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
    return Ticket()
  }

  public func book(_ id: Int) async throws -> Int { try await backend.weigh(id) }

  public func count(completion: @escaping @Sendable (Int) -> Void) {
    backend.count { count in DispatchQueue.main.async { completion(count) } }
  }

  public func count() async throws -> Int { await backend.count() }

  /// The counterpart returns something else.
  public func name(of id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func name(of id: Int) async throws -> String { "\(id)" }
}
