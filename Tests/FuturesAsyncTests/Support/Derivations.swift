internal import Futures
internal import Testing

/// A way to derive a future from two others: one row of a table.
///
/// A new row gets the tests of readers of its progress, of awaits that continue after the last report, and of the
/// priority of the tasks behind it.
struct Derivation: Sendable, CustomTestStringConvertible {
  typealias Source = Future<Int, any Error>

  let testDescription: String
  /// The fractions that a reader gets if the first future reports a half and succeeds, and then the second one does the
  /// same; `nil` stands for the end.
  let fractions: [Double?]
  let derive: @Sendable (_ first: Source, _ second: Source) -> Source

  private init(
    _ name: String,
    _ fractions: [Double?] = [0, 0.5, 1, nil],
    _ derive: @escaping @Sendable (_ first: Source, _ second: Source) -> Source
  ) {
    testDescription = name
    self.fractions = fractions
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
    Derivation("map, twice") { first, _ in first.map { $0 }.map { $0 } },
    Derivation("mapError, flatMapError and eraseFailure") { first, _ in
      first.mapError { $0 as any Error }.flatMapError { .failed($0) }.eraseFailure()
    },
    Derivation("tap and receive") { first, _ in first.tap(on: .immediate) { _ in }.receive(on: .immediate) },
    Derivation("shielded") { first, _ in first.shielded },
    Derivation("map, shielded") { first, _ in first.map { $0 }.shielded },
    Derivation("recover") { first, _ in first.recover { _ in 0 }.setFailureType() },
    Derivation("timeout and cancelled(by:)") { first, _ in
      first.timeout(after: .seconds(1_000)).cancelled(by: CancellationTokenSource().token)
    },
    Derivation("retry") { first, _ in Source.retry(attempts: 1) { first } },
    Derivation("follow") { first, _ in Source { $0.follow(first) } },
    Derivation("race") { first, _ in Source.race([.never, first]) },
    Derivation("PendingPromises") { first, _ in
      let pending = PendingPromises<Int, Int, any Error>()
      return pending.future(sharing: 1) { first }.keeping(pending)
    },
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
    Derivation("flatMap", halves) { first, second in first.flatMap { _ in second } },
    Derivation("flatMap with a share", [0, 0.125, 0.25, 0.625, 1, nil]) { first, second in
      first.flatMap(progressShare: 0.25) { _ in second }
    },
    Derivation("flatMap to a future that nothing else refers to", halves) { first, second in
      first.flatMap { _ in second.map { $0 }.map { $0 } }
    },
    Derivation("all", halves) { first, second in Source.all([first, second]).map { $0[0] } },
    Derivation("zip", halves) { first, second in Future.zip(first, second).map { $0.0 } },
    Derivation("allSettled", halves) { first, second in
      Source.allSettled([first, second]).setFailureType(to: (any Error).self).map { results throws in
        try results[0].get()
      }
    },
    Derivation("allOrErrors", halves) { first, second in
      Source.allOrErrors([first, second]).mapError { $0 as any Error }.map { $0[0] }
    },
    Derivation("allOptional", halves) { first, second in
      Source.allOptional([first, second]).map { $0[0] ?? 0 }.setFailureType()
    },
    Derivation("reduce", halves) { first, second in Source.reduce(0, [first, second]) { $0 + $1 } },
    Derivation("joins of joins", [0, 0.375, 0.75, 0.875, 1, nil]) { first, second in
      let joined = Source.all([Source.race([first, .never]), second.map { $0 }]).map { $0[0] }
      return Future.zip(joined, first.recover { _ in 0 }.setFailureType()).map { $0.0 }
    },
    Derivation("concurrent", halves) { first, second in
      Source.concurrent([first, second], limit: 2) { $0 }.map { $0[0] }
    },
    Derivation("serial", halves) { first, second in Source.serial([first, second]) { $0 }.map { $0[0] } },
  ]

  private static let halves: [Double?] = [0, 0.25, 0.5, 0.75, 1, nil]
}
