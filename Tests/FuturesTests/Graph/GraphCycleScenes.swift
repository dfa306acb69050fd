internal import Futures
internal import TestSupport
internal import Testing

enum GraphCycleScenes {
  private typealias Number = Future<Int, Never>

  /// The graph of a promise that follows a future which `derive` makes of the promise's own future.
  private static func graph(_ derive: (Number) -> Number) -> WaitForGraph {
    let (first, second) = (Promise<Int, Never>("first"), Promise<Int, Never>("second"))
    let derived = derive(second.future)
    first.follow(derived)
    second.follow(first.future.map { $0 })
    let graph = FuturesDiagnostics.graph
    #expect(graph.isComplete)
    #expect(graph.nodes.count >= 3, "\(graph)")
    return graph
  }

  static func circles() {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.setHandler { _ in }
    let (source, other) = (CancellationTokenSource(), Promise<Int, Never>("other"))
    let broken = Promise<Int, Never>("broken").future
    let cancellable = { (future: Number) in
      future.setFailureType(to: (any Error).self).cancelled(by: source.token).recover { _ in 0 }
    }
    // A timeout, a token or another input can end these.
    let ending: [(Number) -> Number] = [
      { $0.timeout(after: .seconds(3_600), fallback: 0) }, cancellable,
      { future in (0..<20).reduce(future) { future, _ in cancellable(future) } },
      { .race([$0, other.future]) }, { Future.firstSuccess([$0, other.future]).recover { _ in 0 } },
    ]
    for derive in ending {
      let graph = graph(derive)
      #expect(graph.cycles.isEmpty, "\(graph)")
      #expect(!graph.description.contains("circle") && !graph.description.contains("↺"), "\(graph)")
      // Each node has its line, although none is a root.
      #expect(graph.description.contains("\"first\"") && graph.description.contains("\"second\""), "\(graph)")
    }
    #expect(FuturesDiagnostics.graph.nodes.contains { $0.count > 10 })
    // Tokens do not end the first two: the first failure type has no cancelled case, and the source of the second token has gone.
    let endless: [(Number) -> Number] = [
      { $0.cancelled(by: source.token) },
      { $0.setFailureType(to: (any Error).self).cancelled(by: CancellationTokenSource().token).recover { _ in 0 } },
      { .race([$0, $0.map { $0 }]) }, { .race([$0, broken]) }, { Future.all([$0, other.future]).map { $0[0] } },
    ]
    for (number, derive) in endless.enumerated() {
      let graph = graph(derive)
      #expect(graph.cycles.count == number + 1, "\(graph)")
      #expect(graph.description.contains("ircle, in which nothing ever ends:"), "\(graph)")
    }
    other.succeed(1)
  }
}
