import Dispatch
import Foundation
import Futures
import FuturesTesting

/// Builds one random graph, uses it from many threads, ends it, and checks each closure and each result.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GraphRun: Sendable {
  let seed: UInt64
  let size: Int
  let threads: Int
  let operations: Int  // of each thread

  /// Makes a run of a graph of random size, from a tenth of `options.futures` to all of them.
  init(_ options: StressOptions, seed: UInt64) {
    self.seed = seed
    var random = SplitMix64(seed: seed)
    let least = max(options.futures / 10, 1)
    size = least + random.next(below: options.futures - least + 1)
    threads = options.threads
    operations = options.isLoad ? 50_000 : size * 2  // the help of `--load` names the 50,000
  }

  /// Runs the graph; reports the faults of the futures, or, if there are none, the faults of the closures and values.
  func run() -> GraphReport {
    let surroundings = Surroundings()
    var report = use(surroundings)
    guard report.faults.isEmpty else { return report }  // a future without a result keeps its closures
    // `use` has released the futures, so all closures and values go away once the contexts have run the work that they keep.
    let areReleased = surroundings.settle(surroundings.alive)
    report.faults = report.records.flatMap(\.faults)
    // A closure that was not released is a fault already, and can keep values.
    if !areReleased, report.records.allSatisfy(\.isReleased) {
      report.faults.append(Fault(sentence: "a value was not released", node: nil))
    }
    return report
  }

  /// Makes the graph, uses it on all threads, drops its promises, and checks each result when all futures have one.
  private func use(_ surroundings: Surroundings) -> GraphReport {
    let builder = Worker(seed: seed, surroundings, firstNumber: 0)
    let graph = Graph(size: size, builder)
    let products = operate(on: graph, firstNumber: builder.product.nodes.count, surroundings)
    for place in graph.places { _ = place.takePromise() }  // drops it
    let nodes = products.reduce(builder.product.nodes) { $0 + $1.nodes }
    for node in nodes {
      surroundings.unresolved.enter()
      node.future.whenResolved(on: .immediate) { _ in surroundings.unresolved.leave() }  // also starts a lazy future
    }
    _ = surroundings.settle(surroundings.unresolved)  // a future without a result is a fault below
    let table = Dictionary(uniqueKeysWithValues: nodes.map { ($0.number, $0) })
    return GraphReport(
      futures: table.mapValues(\.description),
      records: products.reduce(builder.product.records) { $0 + $1.records },
      faults: nodes.flatMap { $0.faults(table) }
    )
  }

  /// Performs random operations on all threads at the same time.
  private func operate(on graph: Graph, firstNumber: Int, _ surroundings: Surroundings) -> [Worker.Product] {
    let products = Locked<[Worker.Product]>([])
    let group = DispatchGroup()
    for thread in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        // No operation makes two futures, so numbers never overlap. Graphs' seeds differ in low bits, and threads' in high bits.
        let first = firstNumber + thread * operations
        let worker = Worker(seed: seed &+ UInt64(thread + 1) << 32, surroundings, firstNumber: first)
        worker.operate(on: graph, count: operations)
        products.withLock { $0.append(worker.product) }
        group.leave()
      }
    }
    group.wait()
    return products.withLock { $0 }
  }
}

/// The futures, closures and faults of one graph.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct GraphReport: Sendable {
  /// A description of each future, by its number.
  let futures: [Int: String]
  let records: [Record]
  var faults: [Fault]
}
