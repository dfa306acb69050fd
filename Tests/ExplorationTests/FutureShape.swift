/// The stages between the promise and the future.
enum FutureShape: CaseIterable, Sendable {
  /// No stage.
  case plain
  /// No stage, and the promise's state has room for a first callback.
  ///
  /// No handler disables the fast path of a resolution.
  case free
  /// A `map`.
  case mapped
  /// Another promise, which follows the future of the first.
  case followed
  /// A join with a resolved future.
  case joined
  /// A shielded view.
  case shielded

  // These futures follow the promise's future from the operation `follow` on, or from the beginning.

  /// A `flatMap` to the future of the promise: the stage relinks itself.
  case relinked
  /// A `flatMap` to a mapped future with another handle: the stage relinks itself.
  case shared
  /// A `flatMap` to a mapped future without another handle: that state is private.
  case `private`
  /// A `flatMap` to a private `flatMap` that moves on: the first one moves on in its place.
  case spliced
  /// A `flatMap` to a future that starts with its first consumer.
  case lazy
  /// A `map` after a chain of promises that follow each other: their states collapse into one, which is not the
  /// `map`'s.
  case chained

  /// The shapes for programs without the operation `follow`.
  static let fixed: [FutureShape] = [.plain, .free, .mapped, .followed, .joined]

  /// The shapes for programs with the operation `follow`.
  static let following: [FutureShape] = [.relinked, .shared, .private, .spliced, .lazy, .chained]
}

/// The operator that makes a future follow the promise's future.
struct FutureLink<Failure: Error> {
  /// Makes the future follow.
  ///
  /// Owns the source of the transform, or the last promise of the chain.
  var follow: (() -> Void)?

  /// The other promises of the chain, which follow already.
  var chain: [Promise<Int, Failure>] = []

  /// The source of the transform.
  var source: Future<Int, Failure>?

  /// The other handle of the followed future.
  var inner: Future<Int, Failure>?

  /// The states between the promise and the future, to see when they are released.
  private(set) var states: [() -> AnyObject?] = []

  mutating func track(_ futures: Future<Int, Failure>...) {
    for future in futures {
      if case .sharedState(let state) = future.storage { states.append { [weak state] in state } }
    }
  }
}

extension FutureShape {
  /// Makes a future of this shape.
  /// - Parameters:
  ///   - promise: The promise that resolves the future.
  ///   - noteFollowing: Runs when the future begins to follow.
  /// - Returns: The future, and the link by which it follows later.
  func future<Failure>(
    of promise: Promise<Int, Failure>,
    noteFollowing: @escaping @Sendable () -> Void
  ) -> (Future<Int, Failure>, FutureLink<Failure>) {
    let inner = promise.future
    switch self {
    case .plain, .free: return (inner, FutureLink())
    case .mapped: return (inner.map { $0 }, FutureLink())
    case .followed: return (Future { $0.follow(inner) }, FutureLink())
    case .joined: return (Future.all([inner, .succeeded(0)]).map { $0[0] }, FutureLink())
    case .shielded: return (inner.shielded, FutureLink())
    case .relinked:
      return flatMapped {
        noteFollowing()
        return inner
      }
    case .shared:
      let shared = inner.map { $0 }
      var (future, link) = flatMapped {
        noteFollowing()
        return shared
      }
      link.inner = shared
      link.track(shared)
      return (future, link)
    case .private:
      return flatMapped {
        noteFollowing()
        return inner.map { $0 }
      }
    case .spliced:
      let (outer, step) = (Promise<Int, Failure>(), Promise<Int, Failure>())
      let source = step.future
      var link = FutureLink<Failure>(follow: { step.succeed(0) }, source: source)
      link.track(source)
      let future = outer.future.flatMap { _ in
        source.flatMap { _ in
          noteFollowing()
          return inner
        }
      }
      outer.succeed(0)
      return (future, link)
    case .lazy:
      return flatMapped {
        .lazy { promise in
          noteFollowing()
          promise.follow(inner)
        }
      }
    case .chained:
      let (first, second, third) = (Promise<Int, Failure>(), Promise<Int, Failure>(), Promise<Int, Failure>())
      first.follow(second.future)
      second.follow(third.future)
      var link = FutureLink<Failure>(chain: [first, second])
      link.track(first.future, second.future, third.future)
      link.follow = {
        noteFollowing()
        third.follow(inner)
      }
      // Captures the closure, which the stage releases when it runs its transform.
      let future = first.future.map { value in withExtendedLifetime(noteFollowing) { value } }
      return (future, link)
    }
  }

  private func flatMapped<Failure>(
    _ transform: @escaping @Sendable () -> Future<Int, Failure>
  ) -> (Future<Int, Failure>, FutureLink<Failure>) {
    let promise = Promise<Int, Failure>()
    let source = promise.future
    var link = FutureLink<Failure>(follow: { promise.succeed(0) }, source: source)
    link.track(source)
    return (source.flatMap { _ in transform() }, link)
  }
}
