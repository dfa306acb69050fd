public import Foundation

/// An API with callbacks, and its async counterparts.
public struct Store: Sendable {
  /// Delivers the callbacks.
  public let world: World

  /// Makes a store.
  public init(_ world: World) { self.world = world }

  func result<Value: Sendable>(_ id: Int, _ value: Value) -> Result<Value, any Error> {
    world.outcome == .success ? .success(value) : .failure(StoreError.missing(id))
  }

  // MARK: Shapes of callbacks

  /// Delivers a result.
  @available(*, renamed: "load(id:)")
  public func load(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    world.later { completion(result(id, "text \(id)")) }
  }

  /// Delivers a result.
  public func load(id: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      load(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a result at once, before it returns.
  @available(*, renamed: "loadNow(id:)")
  public func loadNow(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    completion(result(id, "now \(id)"))
  }

  /// Delivers a result at once.
  public func loadNow(id: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      loadNow(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a value, or an error.
  @available(*, renamed: "text(id:)")
  public func text(id: Int, completion: @escaping @Sendable (String?, (any Error)?) -> Void) {
    world.later {
      switch result(id, "text \(id)") {
      case .success(let text): completion(text, nil)
      case .failure(let error): completion(nil, error)
      }
    }
  }

  /// Delivers a value, or an error.
  public func text(id: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      load(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a number.
  @available(*, renamed: "count()")
  public func count(completion: @escaping @Sendable (Int) -> Void) { world.later { completion(7) } }

  /// Delivers a number.
  public func count() async -> Int {
    await withCheckedContinuation { continuation in count { continuation.resume(returning: $0) } }
  }

  /// Delivers two numbers.
  @available(*, renamed: "size()")
  public func size(completion: @escaping @Sendable (Int, Int) -> Void) { world.later { completion(3, 4) } }

  /// Delivers two numbers.
  public func size() async -> (Int, Int) {
    await withCheckedContinuation { continuation in size { continuation.resume(returning: ($0, $1)) } }
  }

  /// Delivers an error, or nothing.
  @available(*, renamed: "save(_:)")
  public func save(_ text: String, completion: @escaping @Sendable ((any Error)?) -> Void) {
    world.later {
      world.note("saved \(text)")
      completion(world.outcome == .success ? nil : StoreError.missing(1))
    }
  }

  /// Delivers an error, or nothing.
  public func save(_ text: String) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      save(text) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  /// Says that it is done.
  @available(*, renamed: "ping()")
  public func ping(completion: @escaping @Sendable () -> Void) { world.later { completion() } }

  /// Says that it is done.
  public func ping() async {
    await withCheckedContinuation { continuation in ping { continuation.resume() } }
  }

  /// Delivers a result without a value.
  @available(*, renamed: "remove(id:)")
  public func remove(id: Int, completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {
    world.later { completion(result(id, ())) }
  }

  /// Delivers a result without a value.
  public func remove(id: Int) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      remove(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a failure of its own type.
  @available(*, renamed: "check(id:)")
  public func check(id: Int, completion: @escaping @Sendable (Result<Int, StoreError>) -> Void) {
    world.later { completion(world.outcome == .success ? .success(id) : .failure(.missing(id))) }
  }

  /// Delivers a failure of its own type.
  public func check(id: Int) async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      check(id: id) { continuation.resume(with: $0.mapError { $0 }) }
    }
  }

  // MARK: Where, when and how often

  /// Delivers a result on the main queue.
  @available(*, renamed: "loadOnMain(id:)")
  public func loadOnMain(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {
    world.later { DispatchQueue.main.async { completion(result(id, "main \(id)")) } }
  }

  /// Delivers a result.
  public func loadOnMain(id: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      loadOnMain(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a result on the main actor.
  @available(*, renamed: "loadForScreen(id:)")
  public func loadForScreen(id: Int, completion: @escaping @MainActor @Sendable (Result<String, any Error>) -> Void) {
    world.later {
      let result = result(id, "screen \(id)")
      DispatchQueue.main.async { completion(result) }
    }
  }

  /// Delivers a result.
  @MainActor public func loadForScreen(id: Int) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      loadForScreen(id: id) { continuation.resume(with: $0) }
    }
  }

  /// Delivers a result on a queue.
  @available(*, renamed: "read(id:)")
  public func read(
    id: Int,
    callbackQueue: DispatchQueue,
    completion: @escaping @Sendable (Result<String, any Error>) -> Void
  ) {
    world.later { callbackQueue.async { completion(result(id, "read \(id)")) } }
  }

  /// Delivers a result.
  public func read(id: Int) async throws -> String {
    _ = try await load(id: id)
    return "read \(id)"
  }

  /// Delivers numbers, again and again.
  @available(*, renamed: "observeOnce()")
  public func observe(handler: @escaping @Sendable (Int) -> Void) {
    world.later {
      handler(1)
      handler(2)
    }
  }

  /// Delivers one number.
  public func observeOnce() async -> Int { 1 }

  /// Can forget its callback.
  @available(*, renamed: "maybe(id:)")
  public func maybe(id: Int, _ block: @escaping @Sendable (String) -> Void) {
    world.later { if world.outcome == .success { block("maybe \(id)") } }
  }

  /// Delivers a text.
  public func maybe(id: Int) async -> String { "maybe \(id)" }

  // MARK: Cancellation

  /// Delivers the number of a poller.
  @available(*, renamed: "measured()")
  public func measured(completion: @escaping @Sendable (Int) -> Void) { Poller(world).count(completion: completion) }

  /// Delivers the number of a poller, and ends early when its task is cancelled.
  public func measured() async -> Int {
    let poller = Poller(world)
    return await poller.count()
  }

  /// A download that can be cancelled.
  public final class Download: Sendable {
    let world: World
    init(_ world: World) { self.world = world }

    /// Cancels it.
    public func cancel() { world.note("download cancelled") }
  }

  /// Delivers a result, and can be cancelled.
  @available(*, renamed: "download(id:)")
  @discardableResult
  public func download(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) -> Download {
    world.later { completion(result(id, "download \(id)")) }
    return Download(world)
  }

  /// Cancelling its task cancels it.
  public func download(id: Int) async throws -> String {
    try Task.checkCancellation()
    let held = HeldDownload()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        held.hold(download(id: id) { continuation.resume(with: $0) })
      }
    } onCancel: {
      held.cancel()
    }
  }
}

/// A download that starts after its cancellation handler exists.
private final class HeldDownload: Sendable {
  private let lock = NSLock()
  // Protected by `lock`.
  private nonisolated(unsafe) var download: Store.Download?

  func hold(_ download: Store.Download) { lock.withLock { self.download = download } }

  func cancel() { lock.withLock { download }?.cancel() }
}

/// Has a function of the same name as `Store.count`.
public struct Poller: Sendable {
  let world: World

  /// Makes a poller.
  public init(_ world: World) { self.world = world }

  /// Delivers a number.
  @available(*, renamed: "count()")
  public func count(completion: @escaping @Sendable (Int) -> Void) { world.later { completion(8) } }

  /// Delivers a number, or ends early when its task is cancelled.
  public func count() async -> Int {
    if Task.isCancelled { return 0 }
    return await withCheckedContinuation { continuation in count { continuation.resume(returning: $0) } }
  }
}
