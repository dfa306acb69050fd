/// Static and class members, operators, nested types, initializers, overrides.
open class Service {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  /// Returns before it is ready.
  public convenience init(connectingTo backend: Backend, completion: @escaping ((any Error)?) -> Void) {
    self.init(backend)
    backend.ask { completion($0) }
  }

  /// May fail before it has begun.
  public convenience init?(opening path: String, _ backend: Backend, completion: @escaping () -> Void) {
    guard !path.isEmpty else { return nil }
    self.init(backend)
    backend.ask { _ in completion() }
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

  /// An operator.
  public static func >>> (service: Service, completion: @escaping (Result<Int, any Error>) -> Void) {
    _ = service.backend.ask(for: 1, completion)
  }

  /// Can be called as a function.
  public func callAsFunction(_ text: String, completion: @escaping (String) -> Void) {
    backend.ask { _ in completion(text) }
  }

  /// Makes one of the type itself.
  public func copied(completion: @escaping (Service) -> Void) { completion(Service(backend)) }

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

    /// Uses itself up.
    public consuming func end(completion: @escaping (Int) -> Void) {
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

infix operator >>>

/// Overrides.
open class SpecialService: Service {
  open override func start(completion: @escaping (Result<String, any Error>) -> Void) {
    _ = backend.ask(for: "special", completion)
  }

  open override class func discover(from backend: Backend, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(2) }
  }

  /// Is its own.
  public func specialize(completion: @escaping (Int) -> Void) { backend.ask { _ in completion(3) } }
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

/// Is private, but for one function.
enum Internals {
  /// Is seen in this module alone.
  static func measure(_ backend: Backend, completion: @escaping (Int) -> Void) { backend.ask { _ in completion(5) } }

  /// Is seen in this package.
  package static func weigh(_ backend: Backend, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(6) }
  }

  /// Is seen here alone.
  private static func hide(_ backend: Backend, completion: @escaping (Int) -> Void) {
    measure(backend, completion: completion)
  }

  static func reveal(_ backend: Backend, completion: @escaping (Int) -> Void) { hide(backend, completion: completion) }
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

/// Fetches the day, and belongs to this module.
func fetchDay(from backend: Backend, completion: @escaping (Result<Int, any Error>) -> Void) -> Job {
  backend.ask(for: 24, completion)
}

/// Is seen in this file alone.
fileprivate func fetchHidden(_ backend: Backend, completion: @escaping (Int) -> Void) {
  Hidden().fetch(backend, completion: completion)
}
