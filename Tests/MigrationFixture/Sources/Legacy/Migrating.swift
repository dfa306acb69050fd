import FuturesAsync

public import struct Futures.Future

/// Code that is on its way: some of it has twins already.
public struct Migrating: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Has an async twin.
  public func user(id: Int, completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: id), completion)
  }

  /// Is the async twin.
  public func user(id: Int) async throws -> User {
    try await withCallback { self.user(id: id, completion: $0.resultHandler) }
  }

  /// Has a future twin.
  public func picture(id: Int, completion: @escaping (Result<Picture, any Error>) -> Void) {
    _ = backend.ask(for: Picture(), completion)
  }

  /// Is the future twin.
  public func pictureFuture(id: Int) -> Future<Picture, any Error> {
    Future { self.picture(id: id, completion: $0.resultHandler) }
  }

  /// There is a function of the twin's name, which is not async.
  public func count(of id: Int, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(id) } }

  /// Is not async.
  public func count(of id: Int) -> Int { id }

  /// An overload of one that has a twin.
  public func user(id: String, completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: 1, name: id), completion)
  }

  /// Is async, and takes a callback.
  public func stream(id: Int, completion: @escaping @Sendable (Int) -> Void) async { completion(id) }

  /// Is no more to be used.
  @available(*, deprecated, message: "Use user(id:).")
  public func oldUser(id: Int, completion: @escaping (Result<User, any Error>) -> Void) {
    user(id: id, completion: completion)
  }

  /// Is not to be called from async code.
  @available(*, noasync)
  public func blocking(id: Int, completion: @escaping (Int) -> Void) { completion(id) }

  /// Is gone.
  @available(*, unavailable)
  public func gone(id: Int, completion: @escaping (Int) -> Void) {}

  /// Needs a newer system.
  @available(macOS 15.4, iOS 18.4, *)
  public func newer(id: Int, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(id) } }

  /// Is old on one system.
  @available(macOS, deprecated: 15.5, message: "Use newer.")
  public func older(id: Int, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(id) } }

  /// Is for those who ask for it.
  @_spi(Testing)
  public func spied(id: Int, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(id) } }

  /// Can be inlined.
  @inlinable @discardableResult
  public func inlined(id: Int, completion: @escaping (Int) -> Void) -> Int {
    completion(id)
    return id
  }
}

/// Needs a newer system.
@available(macOS 15.4, iOS 18.4, *)
public struct Newer: Sendable {
  let backend: Backend
  public init(_ backend: Backend) { self.backend = backend }

  /// Fetches.
  public func fetch(completion: @escaping (Result<Int, any Error>) -> Void) { _ = backend.ask(for: 1, completion) }
}

#if canImport(ObjectiveC)
  public import Foundation

  /// Is seen by Objective-C.
  @objc public final class Bridged: NSObject, Sendable {
    let backend: Backend
    init(_ backend: Backend) { self.backend = backend }

    /// Fetches.
    @objc(fetchNamed:completion:)
    public func fetch(_ name: String, completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
      backend.ask { completion($0 == nil ? name : nil, $0) }
    }
  }
#endif
