public import Dispatch

// Parameters that say only where the callback comes.

/// Calls back on a queue of the caller's.
public struct Store: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func load(
    id: Int,
    callbackQueue: DispatchQueue = .main,
    completion: @escaping (Result<Int, any Error>) -> Void
  ) {
    work.result(id, on: callbackQueue) { completion($0.mapError { $0 }) }
  }

  /// Is the counterpart, and has no queue.
  public func load(id: Int) async throws -> Int { id }

  public func count(callbackQueue: DispatchQueue = .global(), completion: @escaping (Result<Int, any Error>) -> Void) {
    work.result(3, on: callbackQueue) { completion($0.mapError { $0 }) }
  }

  public func name(completionQueue: DispatchQueue, completion: @escaping (String?, (any Error)?) -> Void) {
    work.run(on: completionQueue) { completion($0 == nil ? "name" : nil, $0) }
  }

  /// Its work runs on the queue.
  public func sum(on queue: DispatchQueue, completion: @escaping (Result<Int, any Error>) -> Void) {
    work.result(6, on: queue) { completion($0.mapError { $0 }) }
  }
}
