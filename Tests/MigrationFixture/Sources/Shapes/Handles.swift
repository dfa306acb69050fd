// Work that what a function returns cancels, and work that nothing cancels.

/// Belongs to one thread, as most handles of old code.
public class Request {
  let work: Work
  public init(_ work: Work) { self.work = work }

  @discardableResult
  public func cancel() -> Self {
    work.cancel()
    return self
  }

  @discardableResult
  public func response(completionHandler: @escaping (Result<Int, any Error>) -> Void) -> Self {
    work.result(1) { completionHandler($0.mapError { $0 }) }
    return self
  }
}

/// Cancels by another name.
public final class Countdown {
  let work: Work
  init(_ work: Work) { self.work = work }
  public func stop() { work.cancel() }
}

/// Changes when it is cancelled.
public struct Ticket: Sendable {
  let work: Work
  public mutating func cancel() { work.cancel() }
}

/// Is cancelled on the main actor.
@MainActor
public final class ScreenRequest {
  let work: Work
  nonisolated init(_ work: Work) { self.work = work }
  public func cancel() { work.cancel() }
}

/// Sends requests.
public struct Client: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func send(completion: @escaping (Result<Int, any Error>) -> Void) -> Request {
    Request(work).response(completionHandler: completion)
  }

  public func sendForScreen(completion: @escaping (Result<Int, any Error>) -> Void) -> ScreenRequest {
    _ = send(completion: completion)
    return ScreenRequest(work)
  }

  /// The package says how its handle cancels.
  public func countDown(completion: @escaping (Result<Int, any Error>) -> Void) -> Countdown {
    _ = send(completion: completion)
    return Countdown(work)
  }

  public func reserve(completion: @escaping (Result<Int, any Error>) -> Void) -> Ticket {
    _ = send(completion: completion)
    return Ticket(work: work)
  }
}
