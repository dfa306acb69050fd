internal import Futures
internal import TestSupport
internal import Testing

enum GraphTextScenes {
  /// The operator of the only stage after a promise.
  static func operation<Value, Failure>(
    _ derive: (Future<Int, any Error>) -> Future<Value, Failure>
  ) -> String? {
    let promise = Promise<Int, any Error>("source")
    let derived = derive(promise.future)
    derived.whenResolved(on: .immediate) { _ in }  // a view of a future attaches with its first consumer
    let graph = FuturesDiagnostics.graph
    let id = graph.nodes.first { $0.kind == .promise && $0.label == "source" }?.id
    let waiters = graph.edges.filter { $0.awaited == id }.map(\.waiter)
    promise.succeed(1)
    #expect(waiters.count == 1, "\(graph)")
    return waiters.first.flatMap { graph[$0]?.operation }
  }

  static func operators() {
    #expect(operation { $0.map { "\($0)" } } == "map")
    #expect(operation { $0.flatMap { .succeeded($0) } } == "flatMap")
    let held = HeldContext()  // the work on a queue could still run when the process ends
    #expect(operation { $0.map(on: held.context) { $0 } } == "transform")
    held.runAll()
    #expect(operation { $0.shielded } == "shielded")
    let source = CancellationTokenSource()
    #expect(operation { $0.cancelled(by: source.token) } == "timeout or cancellation token")
    let promise = Promise<Int, any Error>("run")
    let derived = promise.future.map { $0 }.map { $0 }.flatMap { .succeeded($0) }.map { "\($0)" }
    let text = FuturesDiagnostics.graph.description
    let run = "└─ 2 stages of map (Int → Int)\n   └─ flatMap (Int → Int)\n      └─ map (Int → String)"
    #expect(text.contains(run), "\(text)")
    promise.succeed(1)
    _ = derived
  }

  static func circle() {
    ignoreLeaksFromNowOn()
    let (first, second) = (Promise<Int, Never>("first"), Promise<Int, Never>("second"))
    first.follow(second.future)
    second.follow(first.future)
    let outside = first.future.map { $0 }
    let graph = FuturesDiagnostics.graph
    #expect(graph.cycles.map { $0.count } == [2])
    let lines = graph.description.split(separator: "\n")
    #expect(lines.filter { $0.contains("↺") }.count == 3, "\(graph)")
    #expect(lines.contains { $0.contains("map") && !$0.contains("↺") }, "\(graph)")
    _ = outside
  }

  static func promises() {
    let (lost, delivering) = (Promise<Int, Never>("lost"), Promise<Int, Never>("delivering"))
    lost.future.cancel()
    delivering.future.whenResolved(on: .immediate) { _ in
      let text = FuturesDiagnostics.graph.description
      #expect(text.contains(", cancelled, but has not ended since"), "\(text)")
      #expect(text.contains(", resolved, and a callback or transform of its future has not returned"), "\(text)")
    }
    delivering.future.whenResolved(on: .immediate) { _ in }
    delivering.succeed(1)
    lost.succeed(1)
  }

  static func untracked() {
    let early = Promise<Int, Never>("early")
    FuturesDiagnostics.tracksPendingFutures = true
    let all = Future.all([early.future])
    let graph = FuturesDiagnostics.graph
    let future = graph.nodes.first { $0.kind == .future }
    #expect(future?.label == "early")
    #expect(graph.edges.map(\.awaited) == [future?.id])
    #expect(graph.description.contains("future \"early\", whose producer is not tracked"), "\(graph)")
    early.succeed(1)
    _ = all
  }
}
