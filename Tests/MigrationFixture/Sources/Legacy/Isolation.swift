/// An actor that is not the main one.
@globalActor
public actor StorageActor {
  public static let shared = StorageActor()
}

/// What a screen shows.
@MainActor
public final class Screen {
  let backend: Backend
  public private(set) var title = ""

  public init(_ backend: Backend) { self.backend = backend }

  /// Loads the title, and calls back on the main actor.
  public func loadTitle(completion: @escaping @MainActor @Sendable (Result<String, any Error>) -> Void) {
    backend.ask { error in
      Task { @MainActor in
        if error == nil { self.title = "title" }
        completion(error.map { .failure($0) } ?? .success(self.title))
      }
    }
  }

  /// Calls back from anywhere.
  public func loadPicture(id: Int, completion: @escaping @Sendable (Picture?, (any Error)?) -> Void) -> Job {
    backend.ask { completion($0 == nil ? Picture() : nil, $0) }
  }

  /// Calls back on the main actor, at once.
  public func measure(completion: @escaping (Int, Int) -> Void) { completion(3, 4) }

  /// Belongs to no actor.
  public nonisolated func describe(completion: @escaping (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: "screen", completion)
  }

  /// Tells its progress on the main actor.
  public func render(progress: @escaping @MainActor (Double) -> Void, completion: @escaping @MainActor () -> Void) {
    progress(0.5)
    completion()
  }
}

/// A protocol of the main actor.
@MainActor
public protocol Presenting {
  /// Presents something.
  func present(_ text: String, completion: @escaping @MainActor (Bool) -> Void)
}

extension Screen: Presenting {
  public func present(_ text: String, completion: @escaping @MainActor (Bool) -> Void) { completion(true) }
}

/// Belongs to the main actor, and to no type.
@MainActor
public func showAlert(_ text: String, from backend: Backend, completion: @escaping @MainActor @Sendable (Int) -> Void) {
  backend.ask { _ in Task { @MainActor in completion(text.count) } }
}

/// Stores things, on an actor of its own.
@StorageActor
public final class Storage {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Reads.
  public func read(_ key: String, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: key, completion)
  }
}

/// Belongs to the storage's actor, and to no type.
@StorageActor
public func compact(_ backend: Backend, completion: @escaping @Sendable ((any Error)?) -> Void) -> Job {
  backend.ask { completion($0) }
}

/// An account of which one thing at a time is done.
public actor Account {
  let backend: Backend
  var balance = 10

  public init(_ backend: Backend) { self.backend = backend }

  /// Takes money.
  public func withdraw(_ amount: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) -> Job {
    balance -= amount
    return backend.ask(for: balance, completion)
  }

  /// Gives a value away that is not Sendable.
  public func statement(completion: @escaping (Result<Draft, any Error>) -> Void) {
    completion(.success(Draft("\(balance)")))
  }

  /// Belongs to no actor.
  public nonisolated func name(completion: @escaping (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: "account", completion)
  }

  /// Belongs to the type.
  public static func rate(_ backend: Backend, completion: @escaping (Result<Int, any Error>) -> Void) {
    _ = backend.ask(for: 3, completion)
  }
}

/// Belongs to nobody, and is not Sendable.
public final class Editor {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Opens a draft, which is not Sendable.
  public func open(_ name: String, completion: @escaping (Result<Draft, any Error>) -> Void) {
    _ = backend.ask(for: Draft(name), completion)
  }

  /// Saves a draft, which is not Sendable.
  public func save(_ draft: Draft, completion: @escaping ((any Error)?) -> Void) { backend.ask { completion($0) } }
}
