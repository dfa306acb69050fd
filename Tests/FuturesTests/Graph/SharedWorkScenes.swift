internal import Futures
internal import Testing

enum SharedWorkScenes {
  /// The number of circles while `make` keeps its futures.
  private static func circles(_ make: () -> [Future<Int, any Error>]) -> Int {
    let futures = make()
    defer { for future in futures { future.cancel() } }
    return FuturesDiagnostics.graph.cycles.count
  }

  static func circles() {
    let gate = Promise<Int, any Error>("gate")
    let other = Promise<Int, any Error>("other")
    let cache = FutureCache<Int, Int, any Error>()
    let pending = PendingPromises<Int, Int, any Error>()
    let (narrow, wide) = (ConcurrencyLimit(1), ConcurrencyLimit(2))
    gate.succeed(1)
    let found = [
      circles { [cache.future(for: 1) { gate.future.flatMap { _ in cache.future(for: 1) { .never } } }] },
      circles {
        [pending.future(sharing: 1) { gate.future.flatMap { _ in pending.future(sharing: 1) { .never } } }]
      },
      circles { [narrow.run { narrow.run { other.future } }] },
      // The second slot can become free.
      circles { [wide.run { other.future.map { $0 } }, wide.run { wide.run { other.future.map { $0 } } }] },
    ]
    #expect(found == [1, 1, 1, 0])
  }

  static func edges() {
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
