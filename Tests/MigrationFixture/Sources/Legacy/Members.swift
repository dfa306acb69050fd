/// Static and class members, nested types, initializers, overrides.
open class Service {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Returns before it is ready.
  public convenience init(connectingTo backend: Backend, completion: @escaping ((any Error)?) -> Void) {
    self.init(backend)
    backend.ask { completion($0) }
  }

  /// A static function.
  public static func connect(to backend: Backend, completion: @escaping (Result<Int, any Error>) -> Void) {
    _ = backend.ask(for: 1, completion)
  }

  /// A class function.
  open class func discover(from backend: Backend, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(1) }
  }

  /// Can be overridden.
  open func start(completion: @escaping (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: "service", completion)
  }

  /// A type within a type.
  public struct Session: Sendable {
    let backend: Backend
    public var count = 0

    public init(_ backend: Backend) { self.backend = backend }

    /// Changes itself.
    public mutating func next(completion: @escaping (Int) -> Void) {
      count += 1
      let result = count
      backend.ask { _ in completion(result) }
    }

    /// A type within a type within a type.
    public enum Mode: Sendable {
      case quick, thorough

      /// Tries it.
      public func check(_ backend: Backend, mode: Mode = .quick, completion: @escaping (Mode) -> Void) {
        backend.ask { _ in completion(mode) }
      }
    }
  }
}

/// Overrides.
open class SpecialService: Service {
  open override func start(completion: @escaping (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: "special", completion)
  }
}

/// Cannot be copied.
public struct Socket: ~Copyable {
  let backend: Backend
  public init(_ backend: Backend) { self.backend = backend }

  /// Reads from it.
  public borrowing func read(completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(1) }
  }
}

/// Is not public.
enum Internals {
  /// Is seen in this module alone.
  static func measure(_ backend: Backend, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(5) } }

  /// Is seen in this package.
  package static func weigh(_ backend: Backend, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(6) }
  }
}

/// Is seen in this package.
package struct Depot {
  let backend: Backend
  package init(_ backend: Backend) { self.backend = backend }

  /// Is public, and its type is not.
  public func fetch(completion: @escaping (Result<Int, any Error>) -> Void) { _ = backend.ask(for: 1, completion) }
}

private struct Hidden {
  /// Is in a private type.
  func fetch(_ backend: Backend, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(1) } }
}

/// Fetches the time, and belongs to no type.
public func fetchTime(from backend: Backend, completion: @escaping (Result<Int, any Error>) -> Void) {
  _ = backend.ask(for: 12, completion)
}

/// Is seen in this file alone.
fileprivate func fetchHidden(_ backend: Backend, completion: @escaping (Int) -> Void) {
  Hidden().fetch(backend, completion: completion)
}
