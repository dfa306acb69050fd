import Synchronization

/// The notes of a store, in their order.
public final class Notes: Sendable {
  private let lines = Mutex<[String]>([])

  public init() {}

  public var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The requirement keeps its generated counterpart when a type gets one of its own.
public protocol Numbers: Sendable {
  func number(id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void)
}

/// A store with callbacks that come at once.
public struct Store: Numbers {
  public let notes = Notes()

  public init() {}

  /// The first level: `generate` writes a counterpart that waits for the callback.
  public func read(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    completion(.success("\(id)"))
  }

  /// The third level.
  public func sum(_ first: Int, _ second: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    number(id: first) { result in
      switch result {
      case .success(let one):
        number(id: second) { result in completion(result.map { one + $0 }) }
      case .failure(let error): completion(.failure(error))
      }
    }
  }

  /// The second level.
  public func number(id: Int, completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    read(id: id) { result in completion(result.map { $0.count }) }
  }

  // MARK: With a counterpart by hand

  func touch(completion: @escaping @Sendable () -> Void) {
    notes.add("callback")
    completion()
  }

  func touch() async {
    notes.add("async")
    await withCheckedContinuation { continuation in touch { continuation.resume() } }
  }

  /// Its counterpart makes a note that a test does not expect.
  func audit(completion: @escaping @Sendable (Int) -> Void) {
    touch { completion(notes.all.count) }
  }

  /// Needs the counterpart of `audit`.
  func report(completion: @escaping @Sendable (String) -> Void) {
    audit { count in completion("\(count) notes") }
  }

  /// Its counterpart by hand waits for its callback.
  func clear(completion: @escaping @Sendable () -> Void) {
    touch { completion() }
  }

  func clear() async {
    await withCheckedContinuation { continuation in clear { continuation.resume() } }
  }
}
