/// Takes a user, or what went wrong.
public typealias UserCompletion = (Result<User, any Error>) -> Void

/// Takes a value, or what went wrong.
public typealias Completion<Value> = (Result<Value, any Error>) -> Void

/// Numbers of users.
public typealias UserID = Int

/// Callbacks whose types have names.
public struct Aliases: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Another name within a type.
  public typealias Done = ((any Error)?) -> Void

  /// Tells how far it is.
  public typealias ProgressHandler = (Double) -> Void

  /// A generic name.
  public func generic(id: UserID, completion: @escaping Completion<User>) {
    _ = backend.ask(for: User(id: id), completion)
  }

  /// A name, made optional here.
  public func made(id: UserID, completion: UserCompletion?) {
    nonisolated(unsafe) let completion = completion
    backend.ask { completion?($0.map { .failure($0) } ?? .success(User(id: id))) }
  }

  /// A name that is nested in a type, written in full.
  public func qualified(progress: @escaping Aliases.ProgressHandler, completion: @escaping Aliases.Done) {
    backend.ask(before: { progress(0.5) }) { completion($0) }
  }
}

/// Callbacks whose names are a protocol's.
public protocol Loading: Sendable {
  /// What is loaded.
  associatedtype Item: Sendable

  /// Takes an item.
  typealias ItemCompletion = (Result<Item, any Error>) -> Void

  /// Loads an item.
  func loadItem(completion: @escaping ItemCompletion)
}

/// Loads users.
public struct UserLoading: Loading {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  public func loadItem(completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: 1), completion)
  }
}

/// A protocol whose items nobody has called Sendable.
protocol Opening {
  associatedtype Document

  func open(_ name: String, completion: @escaping (Result<Document, any Error>) -> Void)
}

/// A requirement that mentions the type itself.
public protocol Copying: Sendable {
  /// Copies it.
  func copied(completion: @escaping (Result<Self, any Error>) -> Void)
}

extension Backend: Copying {
  public func copied(completion: @escaping (Result<Backend, any Error>) -> Void) { _ = ask(for: self, completion) }
}
