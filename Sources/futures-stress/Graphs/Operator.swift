import Futures

/// A way to make a future from two others, and the outcomes that it can have.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Operator: Sendable {
  let name: String

  /// Returns the possible outcomes, for the outcomes of both futures.
  ///
  /// Besides these, every future can end as cancelled, because its last consumer can be cancelled.
  let expected: @Sendable (_ first: Outcome, _ second: Outcome) -> [Outcome]

  let derive: @Sendable (Derivation) -> GraphFuture

  /// Makes an operator; without `expected`, its future ends as the first input does.
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

/// One use of an operator, by one thread.
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

  /// Chooses a random site for the one context of the operator; the name and `canBreak` then show it.
  func site() -> Site {
    let site = worker.site()
    name += "(on: \(site.name))"
    canBreak = site.dropsWork
    return site
  }

  /// Returns a ticket for a closure that runs once, or not at all.
  func ticket() -> Ticket { worker.ticket("the closure of \(name)", node: node, .atMostOnce) }

  /// Returns a ticket for a closure that runs once for each item or attempt.
  func ticketForRepeats() -> Ticket { worker.ticket("the closure of \(name)", node: node, .anyNumber) }
}
