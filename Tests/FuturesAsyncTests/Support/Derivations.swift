internal import Futures
internal import Testing

/// A way to derive a future from two others: one row of a table.
///
/// A new row gets the tests of awaits that continue after the last report, and of the priority of the tasks behind it.
struct Derivation: Sendable, CustomTestStringConvertible {
  typealias Source = Future<Int, any Error>

  let testDescription: String
  let derive: @Sendable (_ first: Source, _ second: Source) -> Source

  private init(_ name: String, _ derive: @escaping @Sendable (_ first: Source, _ second: Source) -> Source) {
    testDescription = name
    self.derive = derive
  }

  static let all = passingOn + gathering + starting

  /// The rows in which an await raises the priority of the tasks behind its future.
  static let raising = passingOn + gathering + waiting

  /// The first await starts the work, which inherits the priority of the await.
  private static let starting: [Derivation] = [
    Derivation("lazy") { first, _ in Source.lazy { $0.follow(first) } }
  ]

  /// The derived future ends as the first future does, and has its progress.
  private static let passingOn: [Derivation] = [
    Derivation("the future itself") { first, _ in first },
    Derivation("map") { first, _ in first.map { $0 } },
    Derivation("mapError, flatMapError and eraseFailure") { first, _ in
      first.mapError { $0 as any Error }.flatMapError { .failed($0) }.eraseFailure()
    },
    Derivation("tap and receive") { first, _ in first.tap(on: .immediate) { _ in }.receive(on: .immediate) },
    Derivation("shielded") { first, _ in first.shielded },
    Derivation("recover") { first, _ in first.recover { _ in 0 }.setFailureType() },
    Derivation("timeout and cancelled(by:)") { first, _ in
      first.timeout(after: .seconds(1_000)).cancelled(by: CancellationTokenSource().token)
    },
    Derivation("retry") { first, _ in Source.retry(attempts: 1) { first } },
    Derivation("follow") { first, _ in Source { $0.follow(first) } },
    Derivation("race") { first, _ in Source.race([.never, first]) },
    Derivation("PendingPromises, joined") { first, _ in
      let pending = PendingPromises<Int, Int, any Error>()
      _ = pending.future(sharing: 1) { first }
      return pending.future(sharing: 1) { .never }.keeping(pending)
    },
    Derivation("FutureCache, joined") { first, _ in
      let cache = FutureCache<Int, Int, any Error>()
      _ = cache.future(for: 1) { first }
      return cache.future(for: 1) { .never }.map { value in withExtendedLifetime(cache) { value } }
    },
    Derivation("ConcurrencyLimit") { first, _ in ConcurrencyLimit(1).run { first } },
  ]

  /// The derived future waits for the end of the first future, and not for its result.
  private static let waiting: [Derivation] = [
    Derivation("ConcurrencyLimit, waiting") { first, second in
      let limit = ConcurrencyLimit(1)
      _ = limit.run { first }
      return limit.run { second }
    }
  ]

  /// The derived future needs both futures.
  private static let gathering: [Derivation] = [
    Derivation("flatMap") { first, second in first.flatMap { _ in second } },
    Derivation("all") { first, second in Source.all([first, second]).map { $0[0] } },
    Derivation("zip") { first, second in Future.zip(first, second).map { $0.0 } },
    Derivation("allSettled") { first, second in
      Source.allSettled([first, second]).setFailureType(to: (any Error).self).map { results throws in
        try results[0].get()
      }
    },
    Derivation("allOrErrors") { first, second in
      Source.allOrErrors([first, second]).mapError { $0 as any Error }.map { $0[0] }
    },
    Derivation("allOptional") { first, second in
      Source.allOptional([first, second]).map { $0[0] ?? 0 }.setFailureType()
    },
    Derivation("reduce") { first, second in Source.reduce(0, [first, second]) { $0 + $1 } },
    Derivation("concurrent") { first, second in
      Source.concurrent([first, second], limit: 2) { $0 }.map { $0[0] }
    },
    Derivation("serial") { first, second in Source.serial([first, second]) { $0 }.map { $0[0] } },
  ]
}
