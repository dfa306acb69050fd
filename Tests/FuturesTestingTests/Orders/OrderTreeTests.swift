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

    @Test("A tree with a random path of 90,000 decisions is released without a deep recursion")
    func longPath() throws {
      let tree = OrderTree()
      tree.begin()
      for place in 0..<90_000 {
        let moves = (0..<2).map { OrderMove(source: Int32($0), ordinal: Int32(place)) }
        _ = try tree.choose(after: [], among: moves) { _ in 1 }
      }
      try tree.end()
      tree.begin()
      #expect(tree.knownOrders == 90_001)
    }

    @Test("Random and depth-first orders in turns are all orders, each once; without room, none is random")
    func turns() throws {
      for maximumNodes in [4, 40, 1_000] {
        let tree = OrderTree(maximumNodes: maximumNodes)
        var random = SplitMix64(seed: 1)
        var orders: Set<[Int]> = []
        var randomRuns = 0
        for run in 1...256 {
          let isRandom = run.isMultiple(of: 2) && tree.hasRoomForPaths
          if isRandom { randomRuns += 1 }
          tree.begin()
          var order: [Int] = []
          for place in 0..<8 {
            let moves = (0..<2).map { OrderMove(source: Int32($0), ordinal: Int32(place)) }
            order.append(try tree.choose(after: [], among: moves) { isRandom ? random.next(below: $0.count) : nil })
          }
          try tree.end()
          #expect(orders.insert(order).inserted)
          #expect(tree.isFinished == (run == 256))
        }
        if maximumNodes == 1_000 { #expect(randomRuns == 128) }
        #expect((maximumNodes == 4) == (randomRuns == 0))
      }
    }
  }
#endif
