/// Overloads, names that collide, defaults, and other things that stand in a declaration.
public struct Names: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  // MARK: - Overloads

  /// By type.
  public func search(for name: String, completion: @escaping (Result<[User], any Error>) -> Void) {
    _ = backend.ask(for: [User(id: 1, name: name)], completion)
  }

  /// By type.
  public func search(for id: Int, completion: @escaping (Result<[User], any Error>) -> Void) {
    _ = backend.ask(for: [User(id: id)], completion)
  }

  /// By the callback's label alone.
  public func find(key: String, completion: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: 1, name: key), completion)
  }

  /// By the callback's label alone.
  public func find(key: String, then: @escaping (Result<User, any Error>) -> Void) {
    _ = backend.ask(for: User(id: 1, name: key), then)
  }

  /// With progress, and below without: the same future.
  public func fetch(_ path: String, progress: @escaping (Double) -> Void, completion: @escaping ((any Error)?) -> Void)
  {
    backend.ask(before: { progress(0.5) }) { completion($0) }
  }

  /// Without progress.
  public func fetch(_ path: String, completion: @escaping ((any Error)?) -> Void) {
    backend.ask { completion($0) }
  }

  // MARK: - Names that collide

  /// Every name that a counterpart would use.
  public func collide(
    callback: Int,
    promise: Int,
    handle: Int,
    error: Int,
    value1: Int,
    value2: Int,
    self other: Int,
    progress: @escaping (Double) -> Void,
    completion: @escaping (Int?, String?, Int?, (any Error)?) -> Void
  ) -> Job {
    backend.ask(before: { progress(0.5) }) { failure in
      let sum = callback + promise + handle + error + value1 + value2 + other
      completion(failure == nil ? sum : nil, failure == nil ? "sum" : nil, failure == nil ? 1 : nil, failure)
    }
  }

  /// A parameter that is called as the progress.
  public func collide(progress: Int, progressHandler: @escaping (Double) -> Void, completion: @escaping () -> Void)
    throws
  {
    if progress < 0 { throw Offline() }
    backend.ask(before: { progressHandler(0.5) }) { _ in completion() }
  }

  /// Words of the language.
  public func `repeat`(_ `class`: Int, `in` `default`: Int, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(`class` + `default`) }
  }

  /// A parameter without a name.
  public func ignore(_: Int, label _: Int, completion: @escaping (Int) -> Void) {
    backend.ask { _ in completion(1) }
  }

  // MARK: - Defaults

  /// Defaults of every kind.
  public func configure(
    title: String = "a, b) -> (\"c\", completion: {",
    count: Int = max(1, 2),
    users: [User] = [.init(id: 1, name: "x, y"), User(id: 2)],
    map: [String: Int] = ["a": 1, "b": 2],
    transform: @escaping @Sendable (Int) -> Int = { value in value + 1 },
    nothing: Int? = nil,
    completion: @escaping (Int) -> Void
  ) {
    backend.ask { _ in completion(transform(count + users.count + map.count + title.count)) }
  }

  /// A default of several lines, and one that tells where it is called.
  public func log(
    _ text: String = """
    one
      two
    """,
    file: StaticString = #fileID,
    line: UInt = #line,
    completion: @escaping (UInt) -> Void
  ) {
    backend.ask { _ in completion(line) }
  }

  // MARK: - Optional callbacks

  /// With a default: an async caller may leave it out today.
  public func ping(id: Int, completion: ((Result<User, any Error>) -> Void)? = nil) {
    nonisolated(unsafe) let completion = completion
    backend.ask { completion?($0.map { .failure($0) } ?? .success(User(id: id))) }
  }

  /// With a default that does nothing.
  public func poke(id: Int, completion: @escaping (User) -> Void = { _ in }) {
    backend.ask { _ in completion(User(id: id)) }
  }

  // MARK: - Other closures

  /// A closure that does not escape.
  public func filter(by isKept: (Int) -> Bool, completion: @escaping ([Int]) -> Void) {
    let kept = [1, 2, 3].filter(isKept)
    backend.ask { _ in completion(kept) }
  }

  /// A closure that escapes, and returns something.
  public func map(_ transform: @escaping (Int) -> String, completion: @escaping ([String]) -> Void) {
    backend.ask { _ in completion([1, 2].map(transform)) }
  }

  /// An autoclosure that escapes.
  public func checkLater(
    _ condition: @autoclosure @escaping @Sendable () -> Bool,
    completion: @escaping (Bool) -> Void
  ) {
    backend.ask { _ in completion(condition()) }
  }

  /// An autoclosure that may throw.
  public func tryCheck(_ condition: @autoclosure () throws -> Bool, completion: @escaping (Bool) -> Void) throws {
    let result = try condition()
    backend.ask { _ in completion(result) }
  }

  // MARK: - Effects and ownership

  /// Throws an error of its own, and can be cancelled.
  public func validate(typed id: Int, completion: @escaping (Result<User, any Error>) -> Void) throws(SignInError)
    -> Job
  {
    guard id > 0 else { throw .wrongPassword }
    return backend.ask(for: User(id: id), completion)
  }
}

/// Hides types of the standard library and of Futures, which counterparts name.
public struct Hiding: Sendable {
  public enum Error: Swift.Error { case failed }
  public enum Result: Sendable { case done }
  public struct Void: Sendable {}
  public struct Task: Sendable {}
  public struct Double: Sendable {}
  public struct UncheckedTransfer: Sendable {}
  public final class Work { func cancel() async {} }

  /// Gets any error.
  public func save(completion: @escaping ((any Swift.Error)?) -> Swift.Void) { completion(nil) }

  /// Gets an error of its own.
  public func load(
    _ last: Swift.Result<Int, any Swift.Error>,
    completion: @escaping (Swift.Result<Int, Error>) -> Swift.Void
  ) {
    completion(last.mapError { _ in .failed })
  }

  /// Reports progress, and is cancelled in a task.
  public func work(
    progress: @escaping @Sendable (Float) -> Swift.Void,
    completion: @escaping (Result?, (any Swift.Error)?) -> Swift.Void
  ) -> Work {
    progress(1)
    completion(.done, nil)
    return Work()
  }
}
