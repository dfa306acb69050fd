import Futures
import FuturesTesting
import TestSupport
import Testing

/// How soon a search finds a planted bug, among more orders than any search can run.
@Suite("exploreOrders: how soon a planted bug is found")
struct OrderRateTests {
  /// An item of work: the place of its context, and its place in the context.
  struct Item: Equatable, Sendable { let context, number: Int }

  /// Contexts with the same number of items each.
  struct Space: CustomStringConvertible, Sendable {
    let contexts, items: Int
    let orders: String

    var description: String { "\(contexts) contexts with \(items) items each, \(orders) orders" }
    var last: Item { Item(context: contexts - 1, number: items - 1) }
  }

  /// A bug, as the orders in which it shows.
  struct Bug: CustomStringConvertible, Sendable {
    let description: String
    let shows: @Sendable (_ order: [Item], _ space: Space) -> Bool
  }

  static let spaces = [
    Space(contexts: 2, items: 11, orders: "7·10⁵"),
    Space(contexts: 3, items: 7, orders: "4·10⁸"),
    Space(contexts: 6, items: 6, orders: "2.7·10²⁴"),
  ]

  static let bugs = [
    Bug(description: "the last item of a context comes before the first of another") { order, space in
      order.firstIndex(of: space.last)! < order.firstIndex(of: Item(context: 0, number: 0))!
    },
    Bug(description: "the last item of a context comes between the first two of another") { order, space in
      let (first, second) = (Item(context: 0, number: 0), Item(context: 0, number: 1))
      let place = order.firstIndex(of: space.last)!
      return (order.firstIndex(of: first)!..<order.firstIndex(of: second)!).contains(place)
    },
    Bug(description: "two contexts take turns for eight items, which priorities do not find") { order, space in
      let pair = order.filter { $0.context == 0 || $0.context == space.contexts - 1 }.prefix(8)
      return zip(pair, pair.dropFirst()).allSatisfy { $0.context != $1.context }
    },
    Bug(description: "one context with all its items comes first, which random decisions hardly find") { order, space in
      order.prefix(space.items).allSatisfy { $0.context == space.contexts - 1 }
    },
  ]

  @Test(
    "A planted bug is found with each seed, after hundreds of orders at most in the median",
    arguments: spaces,
    bugs
  )
  func rate(space: Space, bug: Bug) async throws {
    var counts: [Int] = []
    for seed in 1...TestTier.choose(standard: 3, thorough: 20) {
      let failure = try await explorationFailure {
        try await exploreOrders(seed: UInt64(seed), stopsAtFirstFailure: true) { orders in
          let order = Locked<[Item]>([])
          for context in 0..<space.contexts {
            for number in 0..<space.items {
              orders.context("\(context)").run { order.withLock { $0.append(Item(context: context, number: number)) } }
            }
          }
          try await orders.runAll()
          try Unexpected.unless(!bug.shows(order.withLock(\.self), space), "found")
        }
      }
      counts.append(try #require(failure).report.orders)
    }
    counts.sort()
    let median = counts[counts.count / 2]
    if TestTier.choose(standard: 0, thorough: 1) == 1 { print("Found after \(median) orders: \(bug). \(space)") }
    #expect(median < 1_000, "\(counts)")
  }
}
