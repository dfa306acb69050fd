import Futures

/// A way to make a future from two others, and the outcomes that it can have.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Operator: Sendable {
  let name: String

  /// The possible outcomes, from the outcomes of both futures.
  ///
  /// Besides these, every future can end as cancelled: its last consumer can be cancelled.
  let expected: @Sendable (_ first: Outcome, _ second: Outcome) -> [Outcome]

  let derive: @Sendable (Derivation) -> GraphFuture

  init(
    _ name: String,
    _ expected: @escaping @Sendable (_ first: Outcome, _ second: Outcome) -> [Outcome] = { first, _ in [first] },
    _ derive: @escaping @Sendable (Derivation) -> GraphFuture
  ) {
    self.name = name
    self.expected = expected
    self.derive = derive
  }

  static let all = transforming + recovering + timing + joining + sequencing + following + bridging
}

/// One use of an operator.
///
/// Belongs to one thread.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Derivation {
  let first: GraphFuture
  let second: GraphFuture
  /// The number of the new future.
  let node: Int
  let worker: Worker

  private(set) var name: String
  /// Whether the future can fail with `BrokenPromise` because its context drops the work.
  private(set) var canBreak = false

  init(_ name: String, _ first: GraphFuture, _ second: GraphFuture, node: Int, _ worker: Worker) {
    self.name = name
    self.first = first
    self.second = second
    self.node = node
    self.worker = worker
  }

  var surroundings: Surroundings { worker.surroundings }

  func random(below limit: Int) -> Int { worker.random(below: limit) }

  /// A random duration, which can be zero.
  func delay(upTo limit: Duration) -> Duration { limit * random(below: 9) / 8 }

  /// A random site, for the one context of the operator.
  func site() -> Site {
    let site = worker.site()
    name += "(on: \(site.name))"
    canBreak = site.dropsWork
    return site
  }

  /// A ticket for a transform, which can be skipped.
  func transform() -> Ticket { worker.ticket("the closure of \(name)", node: node, .atMostOnce) }

  /// A ticket for a closure that runs once for each attempt or cancellation.
  func closure() -> Ticket { worker.ticket("the closure of \(name)", node: node, .anyNumber) }
}
