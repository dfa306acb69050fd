import Futures
import TestSupport
import Testing

@Suite(.serialized)
struct SharedWorkGraphTests {
  /// The number of circles while `make` keeps its futures.
  private func circles(_ make: () -> [Future<Int, any Error>]) -> Int {
    let futures = make()
    defer { for future in futures { future.cancel() } }
    return FuturesDiagnostics.graph.cycles.count
  }

  @Test("R29: the graph finds circles through a cache, through shared work, and through a limit without a free slot")
  func circles() async {
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.tracksPendingFutures = true
      let tests = SharedWorkGraphTests()
      let gate = Promise<Int, any Error>("gate")
      let other = Promise<Int, any Error>("other")
      let cache = FutureCache<Int, Int, any Error>()
      let pending = PendingPromises<Int, Int, any Error>()
      let (narrow, wide) = (ConcurrencyLimit(1), ConcurrencyLimit(2))
      gate.succeed(1)
      let found = [
        tests.circles { [cache.future(for: 1) { gate.future.flatMap { _ in cache.future(for: 1) { .never } } }] },
        tests.circles {
          [pending.future(sharing: 1) { gate.future.flatMap { _ in pending.future(sharing: 1) { .never } } }]
        },
        tests.circles { [narrow.run { narrow.run { other.future } }] },
        // The second slot can become free.
        tests.circles { [wide.run { other.future.map { $0 } }, wide.run { wide.run { other.future.map { $0 } } }] },
      ]
      #expect(found == [1, 1, 1, 0])
    }
  }

  @Test("R29: each caller has an edge to the shared work, and work that waits has one to each running piece of work")
  func edges() async {
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.tracksPendingFutures = true
      let load = Promise<Int, any Error>("load")
      let cache = FutureCache<Int, Int, any Error>("cache")
      let callers = (0..<3).map { _ in cache.future(for: 1) { load.future } }
      let graph = FuturesDiagnostics.graph
      let ids = graph.nodes.filter { $0.label == "cache" }.map(\.id)
      let awaited = Set(graph.edges.filter { ids.contains($0.waiter) }.map(\.awaited))
      #expect(ids.count == 3)
      #expect(awaited.count == 1)
      withExtendedLifetime((callers, load)) {}
    }
  }
}
