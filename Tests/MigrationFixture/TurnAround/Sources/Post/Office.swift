public import Dispatch

public final class Office: Sendable {
  public let backend = Backend()
  private let desk: DispatchQueue

  public init(desk: DispatchQueue) { self.desk = desk }

  // MARK: A result

  /// Weighs a parcel.
  public func weight(of id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    // The backend has a queue of its own.
    backend.weigh(id) { result in
      DispatchQueue.main.async { completion(result) }
    }
  }

  public func weight(of id: Int) async throws -> Int { try await backend.weigh(id) }

  public func stamp(_ id: Int, completion: @escaping @Sendable (Result<String, PostError>) -> Void) {
    backend.weigh(id) { result in
      DispatchQueue.main.async { completion(result.map { "stamp \($0)" }.mapError(PostError.other)) }
    }
  }

  public func stamp(_ id: Int) async throws -> String { "stamp \(try await backend.weigh(id))" }

  public func insure(_ id: Int, completion: @escaping @Sendable (Result<Int, PostError>) -> Void) {
    backend.weigh(id) { [desk] result in desk.async { completion(result.mapError(PostError.other)) } }
  }

  public func insure(_ id: Int) async throws(PostError) -> Int {
    do { return try await backend.weigh(id) } catch { throw PostError.other(error) }
  }

  func keep<Item: Sendable>(_ item: Item, completion: @escaping @Sendable (Result<Item, any Error>) -> Void) {
    backend.weigh(1) { result in DispatchQueue.main.async { completion(result.map { _ in item }) } }
  }

  func keep<Item: Sendable>(_ item: Item) async throws -> Item {
    _ = try await backend.weigh(1)
    return item
  }

  // MARK: Values and an error

  public func label(of id: Int, completion: @escaping @MainActor (String?, (any Error)?) -> Void) {
    backend.weigh(id) { result in
      Task { @MainActor in
        switch result {
        case .success(let weight): completion("label \(weight)", nil)
        case .failure(let error): completion(nil, error)
        }
      }
    }
  }

  public func label(of id: Int) async throws -> String { "label \(try await backend.weigh(id))" }

  public func size(of id: Int, completion: @escaping @Sendable (_ width: Int?, _ height: Int?, (any Error)?) -> Void) {
    backend.weigh(id) { result in
      DispatchQueue.main.async {
        switch result {
        case .success(let weight): completion(weight, 2 * weight, nil)
        case .failure(let error): completion(nil, nil, error)
        }
      }
    }
  }

  public func size(of id: Int) async throws -> (width: Int, height: Int) {
    let weight = try await backend.weigh(id)
    return (weight, 2 * weight)
  }

  public func send(_ id: Int, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    backend.weigh(id) { result in
      DispatchQueue.main.async {
        switch result {
        case .success: completion?(nil)
        case .failure(let error): completion?(error)
        }
      }
    }
  }

  public func send(_ id: Int) async throws { _ = try await backend.weigh(id) }

  // MARK: Values alone

  public func count(completion: @escaping @Sendable (Int) -> Void) {
    backend.count { count in DispatchQueue.main.async { completion(count) } }
  }

  public func count() async -> Int { await backend.count() }

  public func close(completion: @escaping @Sendable () -> Void) {
    backend.count { _ in DispatchQueue.main.async { completion() } }
  }

  public func close() async { _ = await backend.count() }

  // MARK: Two closures

  public func find(
    _ id: Int,
    success: @escaping @Sendable (Int) -> Void,
    failure: @escaping @Sendable (any Error) -> Void
  ) {
    backend.weigh(id) { result in
      DispatchQueue.main.async {
        switch result {
        case .success(let weight): success(weight)
        case .failure(let error): failure(error)
        }
      }
    }
  }

  public func find(_ id: Int) async throws -> Int { try await backend.weigh(id) }

  // MARK: Queues

  public func sort(
    _ id: Int,
    queue: DispatchQueue = .main,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    backend.weigh(id) { result in queue.async { completion(result) } }
  }

  public func sort(_ id: Int) async throws -> Int { try await backend.weigh(id) }

  public func address(of id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    backend.weigh(id, completion: completion)
  }

  public func address(of id: Int) async throws -> Int { try await backend.weigh(id) }

  // MARK: Queues of other functions

  public func order(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    weight(of: id) { result in completion(result.map { 2 * $0 }) }
  }

  public func order(_ id: Int) async throws -> Int { try await 2 * weight(of: id) }

  public func pay(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    order(id, completion: completion)
  }

  public func pay(_ id: Int) async throws -> Int { try await order(id) }

  // MARK: Handles and progress

  public func track(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Tracking {
    backend.follow(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func track(_ id: Int) async throws -> Int {
    try await Task.sleep(for: .seconds(3600))
    return id
  }

  public func mail(_ id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> any Cancellable {
    backend.follow(id) { result in DispatchQueue.main.async { completion(result) } }
  }

  public func mail(_ id: Int) async throws -> Int { try await track(id) }

  public func pack(
    _ id: Int,
    progress: @escaping @Sendable (Double) -> Void,
    completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    backend.weigh(id) { result in
      progress(0.5)
      progress(1)
      DispatchQueue.main.async { completion(result) }
    }
  }

  public func pack(_ id: Int, progress: @escaping @Sendable (Double) -> Void) async throws -> Int {
    defer {
      progress(0.5)
      progress(1)
    }
    return try await backend.weigh(id)
  }
}
