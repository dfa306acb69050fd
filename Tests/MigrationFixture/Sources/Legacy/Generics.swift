/// Is decoded from text.
public protocol Decoding: Sendable {
  init?(text: String)
}

extension User: Decoding {
  public init?(text: String) { self.init(id: 1, name: text) }
}

/// Loads what it is told the type of.
public struct Loader: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// With a constraint.
  public func load<Value: Decoding>(
    _ type: Value.Type,
    from text: String,
    completion: @escaping (Result<Value, any Error>) -> Void
  ) {
    backend.ask { error in
      guard let value = Value(text: text) else { return completion(.failure(Offline())) }
      completion(error.map { .failure($0) } ?? .success(value))
    }
  }

  /// With a `where` clause.
  public func store<Item>(_ items: [Item], completion: @escaping (Result<Item, any Error>) -> Void)
  where Item: Identifiable & Sendable, Item.ID == Int {
    guard let first = items.first else { return completion(.failure(Offline())) }
    _ = backend.ask(for: first, completion)
  }

  /// With a value that need not be Sendable.
  public func keep<Item>(_ item: Item, completion: @escaping (Result<Item, any Error>) -> Void) {
    _ = backend.ask(for: item, completion)
  }

  /// With an error of any type.
  public func attempt<Value: Sendable, Failure: Error>(
    _ result: Result<Value, Failure>,
    completion: @escaping (Result<Value, Failure>) -> Void
  ) {
    backend.ask { _ in completion(result) }
  }

  /// With an opaque parameter.
  public func count(_ items: some Collection<Int> & Sendable, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(items.count) }
  }
}

/// Keeps values.
public final class Cache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  let backend: Backend
  let values: [Key: Value]

  public init(_ backend: Backend, _ values: [Key: Value]) {
    self.backend = backend
    self.values = values
  }

  /// Looks a value up.
  public func value(for key: Key, completion: @escaping (Result<Value, any Error>) -> Void) {
    guard let value = values[key] else { return completion(.failure(Offline())) }
    _ = backend.ask(for: value, completion)
  }

  /// Is a type within a generic one.
  public struct Entry: Sendable {
    let backend: Backend
    public let value: Value

    public init(_ backend: Backend, _ value: Value) {
      self.backend = backend
      self.value = value
    }

    /// Reads it.
    public func read(completion: @escaping (Value?, (any Error)?) -> Void) {
      backend.ask { completion($0 == nil ? self.value : nil, $0) }
    }
  }
}

extension Cache where Key == String {
  /// Looks a name up.
  public func value(named name: String, completion: @escaping (Value) -> Void) {
    guard let value = values[name] else { return }
    backend.ask { _ in completion(value) }
  }
}

extension Cache where Value: Identifiable, Value.ID: Sendable {
  /// Lists the numbers.
  public func identifiers(completion: @escaping ([Value.ID]) -> Void) {
    let identifiers = values.values.map(\.id)
    backend.ask { _ in completion(identifiers) }
  }
}

extension Collection where Element: Sendable, Self: Sendable {
  /// Picks one.
  public func pick(from backend: Backend, completion: @escaping (Element?) -> Void) {
    backend.ask { _ in completion(self.first) }
  }
}
