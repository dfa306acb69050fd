// The tree is internal, and an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import FuturesTesting

  @Suite("The tree of orders")
  struct OrderTreeTests {
    @Test("Above its number of nodes the tree takes no order twice, and keeps hashes only")
    func hashes() throws {
      let tree = OrderTree(maximumNodes: 10)
      var random = SplitMix64(seed: 1)
      var orders: Set<[Int]> = []
      var runs = 0
      // Eight decisions between two moves: 256 orders.
      while tree.finishedOrders < 200, runs < 100_000 {
        runs += 1
        tree.begin()
        var order: [Int] = []
        for place in 0..<8 {
          let moves = (0..<2).map { OrderMove(source: Int32($0), ordinal: Int32(place)) }
          order.append(try tree.choose(after: [], among: moves) { random.next(below: $0.count) })
        }
        let before = tree.finishedOrders
        try tree.end()
        // An order counts when it is new.
        #expect((tree.finishedOrders > before) == orders.insert(order).inserted)
      }
      #expect(tree.finishedOrders == 200)
      #expect(orders.count == 200)
      #expect(!tree.isFinished)
      #expect(tree.knownOrders >= 201)
    }
  }
#endif
