internal import Futures
internal import TestSupport
internal import Testing

/// Each test runs in a separate process, because the graph shows the futures of other tests, too.

struct GraphCycleTests {
  @Test("A circle that a timeout can end is not called one, also in the text")
  func timeout() async { await #expect(processExitsWith: .success) { GraphCycleChecks.timeout() } }

  @Test("A circle that a cancellation token can end is not called one, also in the middle of a folded chain")
  func token() async { await #expect(processExitsWith: .success) { GraphCycleChecks.token() } }

  @Test("A race is in a circle only if all its inputs are; `firstSuccess`, too")
  func race() async { await #expect(processExitsWith: .success) { GraphCycleChecks.race() } }

  @Test("A circle through `all` is one, although the other inputs are outside")
  func all() async { await #expect(processExitsWith: .success) { GraphCycleChecks.all() } }

  @Test("A circle beside one that a timeout ends is found, with a race that waits for a broken promise")
  func beside() async { await #expect(processExitsWith: .success) { GraphCycleChecks.beside() } }
}

private enum GraphCycleChecks {
  typealias Number = Future<Int, Never>

  /// The graph of a promise that follows a future which `derive` makes of the promise's own future.
  static func graph(_ derive: (Number) -> Number) -> WaitForGraph {
    FuturesDiagnostics.tracksPendingFutures = true
    let (first, second) = (Promise<Int, Never>("first"), Promise<Int, Never>("second"))
    let derived = derive(second.future)
    first.follow(derived)
    second.follow(first.future.map { $0 })
    let graph = FuturesDiagnostics.graph
    #expect(graph.isComplete)
    #expect(graph.nodes.count >= 3, "\(graph)")
    return graph
  }

  static func expectNoCycle(_ graph: WaitForGraph) {
    #expect(graph.cycles.isEmpty, "\(graph)")
    #expect(!graph.description.contains("circle") && !graph.description.contains("↺"), "\(graph)")
    // Each node has its line, although none is a root.
    #expect(graph.description.contains("\"first\"") && graph.description.contains("\"second\""), "\(graph)")
  }

  static func timeout() {
    ignoreLeaksFromNowOn()
    expectNoCycle(graph { $0.timeout(after: .seconds(3_600), fallback: 0) })
  }

  static func token() {
    ignoreLeaksFromNowOn()
    let source = CancellationTokenSource()
    let derive = { (future: Number) in
      let cancelled = future.setFailureType(to: (any Error).self).cancelled(by: source.token)
      return cancelled.recover { _ in 0 }
    }
    expectNoCycle(graph(derive))
    let folded = graph { future in
      var future = future
      for _ in 0..<20 { future = derive(future) }
      return future
    }
    #expect(folded.cycles.isEmpty, "\(folded)")
    #expect(folded.nodes.contains { $0.count > 10 }, "\(folded)")
    // The failure type has no case for a cancellation, so the token does not end this circle.
    #expect(graph { $0.cancelled(by: source.token) }.cycles.count == 1)
  }

  static func race() {
    ignoreLeaksFromNowOn()
    let other = Promise<Int, Never>("other")
    expectNoCycle(graph { .race([$0, other.future]) })
    expectNoCycle(graph { Future.firstSuccess([$0, other.future]).recover { _ in 0 } })
    #expect(graph { .race([$0, $0.map { $0 }]) }.cycles.count == 1)
    other.succeed(1)
  }

  static func all() {
    ignoreLeaksFromNowOn()
    let other = Promise<Int, Never>("other")
    #expect(graph { Future.all([$0, other.future]).map { $0[0] } }.cycles.count == 1)
    other.succeed(1)
  }

  static func beside() {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.setHandler { _ in }
    let broken = Promise<Int, Never>("broken").future
    let ends = graph { $0.timeout(after: .seconds(3_600), fallback: 0) }
    #expect(ends.cycles.isEmpty)
    let both = graph { .race([$0, broken]) }
    #expect(both.cycles.count == 1, "\(both)")
    #expect(both.description.hasPrefix("A circle, in which nothing ever ends:"), "\(both)")
  }
}
