import FuturesAsync

public import struct Futures.Future

/// Code that is on its way: some of it has counterparts already.
public struct Migrating: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Has an async counterpart.
  public func user(id: Int, completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: id), completion)
  }

  /// Is the async counterpart.
  public func user(id: Int) async throws -> User {
    try await withCallback { self.user(id: id, completion: $0.resultHandler) }
  }

  /// Has a future counterpart.
  public func picture(id: Int, completion: @escaping (Result<Picture, any Error>) -> Void) {
    _ = backend.ask(for: Picture(), completion)
  }

  /// Is the future counterpart.
  public func pictureFuture(id: Int) -> Future<Picture, any Error> {
    Future { self.picture(id: id, completion: $0.resultHandler) }
  }

  /// There is a function of the counterpart's name, which is not async.
  public func count(of id: Int, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(id) } }

  /// Is not async.
  public func count(of id: Int) -> Int { id }

  /// Is no more to be used.
  @available(*, deprecated, message: "Use user(id:).")
  public func oldUser(id: Int, completion: @escaping (Result<User, any Error>) -> Void) {
    user(id: id, completion: completion)
  }

  /// Is not to be called from async code.
  @available(*, noasync)
  public func blocking(id: Int, completion: @escaping (Int) -> Void) { completion(id) }

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

#if DEBUG
  extension Migrating {
    /// Is there in debug builds alone.
    public func inspect(completion: @escaping (Int) -> Void) { backend.ask { _ in completion(1) } }
  }
#else
  extension Migrating {
    /// Is there in release builds alone.
    public func measure(completion: @escaping (Int) -> Void) { backend.ask { _ in completion(2) } }
  }
#endif

private let hiddenLimit = 3

extension Migrating {
  /// Its default is seen in this file alone.
  func limited(to limit: Int = hiddenLimit, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(limit) }
  }

  /// Strings in all notations.
  public func match(
    _ pattern: String = #"a "b", c) \(d"#,
    text: String = "x, \(max(1, 2)) \("y, \"z\"")",
    completion: @escaping (String) -> Void
  ) {
    backend.ask { _ in completion(pattern + text) }
  }

  /// Hands out a task of Swift's.
  public func fetchTask(completion: @escaping @Sendable (Int) -> Void) -> Task<Void, Never> {
    Task { completion(1) }
  }

  /// Hands out an actor.
  public func fetchDesk(completion: @escaping (Int) -> Void) -> Desk {
    backend.ask { _ in completion(1) }
    return Desk()
  }

  /// Makes a value of the module that is not public.
  func note(completion: @escaping (Result<Note, any Error>) -> Void) {
    _ = backend.ask(for: Note(text: "note"), completion)
  }

  /// Makes an actor.
  public func account(completion: @escaping (Account) -> Void) { completion(Account(backend)) }

  /// Has a counterpart whose generic parameter is called otherwise.
  public func same<Value: Sendable>(_ value: Value, completion: @escaping (Value) -> Void) {
    backend.ask { _ in completion(value) }
  }

  /// Is that counterpart.
  public func same<Item: Sendable>(_ item: Item) async -> Item { item }
}

/// Is Sendable without saying so.
struct Note {
  let text: String
}

/// A handle that is an actor.
public actor Desk {
  /// Stops the work.
  public func cancel() {}
}

/// A parameter that is called as its function, which belongs to no type.
public func reload(reload: Int, from backend: Backend, completion: @escaping (Int) -> Void) {
  backend.ask { _ in completion(reload) }
}

/// A superclass and a subclass with functions that would get one counterpart.
open class Feed {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Loads.
  public func load(completion: @escaping (Result<Int, any Error>) -> Void) { _ = backend.ask(for: 1, completion) }

  /// Options that the nested types use.
  public struct Options: Sendable {
    public init() {}
  }

  /// A nested type.
  public struct Item: Sendable {
    let backend: Backend

    /// Uses what the outer type has.
    func open(_ options: Options = Options(), completion: @escaping (Options) -> Void) {
      backend.ask { _ in completion(options) }
    }
  }
}

open class SpecialFeed: Feed {
  /// Loads in another way.
  public func load(then: @escaping (Int?, (any Error)?) -> Void) { backend.ask { then($0 == nil ? 2 : nil, $0) } }
}

extension Cache where Key == Int {
  /// The same for two kinds of caches.
  public func reset(completion: @escaping ((any Error)?) -> Void) { backend.ask { completion($0) } }
}

extension Cache where Key == String {
  /// The same for two kinds of caches.
  public func reset(completion: @escaping ((any Error)?) -> Void) { backend.ask { completion($0) } }
}

extension Migrating {
  /// Has made way for the next one, which gets the counterpart.
  @available(*, deprecated)
  public func tidy(id: Int, completion: @escaping (User?, (any Error)?) -> Void) {
    backend.ask { completion($0 == nil ? User(id: id) : nil, $0) }
  }

  /// Gets the counterpart.
  public func tidy(id: Int, then: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: id), then)
  }
}
