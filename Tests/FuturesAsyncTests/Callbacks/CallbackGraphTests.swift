internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Each test runs in a separate process, because the graph shows the pending work of the whole process.
struct CallbackGraphTests {
  @Test("A cancelled call is in the graph, as cancelled, until its handlers have run")
  func cancelledCall() async {
    await #expect(processExitsWith: .success) { await CallbackGraphChecks.cancelledCall() }
  }

  @Test("A stream that can yield is in the graph, with its label and line, and leaves it with its end")
  func stream() async { await #expect(processExitsWith: .success) { await CallbackGraphChecks.stream() } }
}

private enum CallbackGraphChecks {
  static func cancelledCall() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let nodes = Locked<[WaitForGraph.Node]>([])
    let task = Task.immediate {
      let kept = Locked<Callback<Int>?>(nil)
      _ = try? await withCallback("slow to stop") { callback in
        kept.withLock { $0 = callback }
      } onCancel: {
        nodes.withLock { $0 = FuturesDiagnostics.graph.nodes.filter { $0.label == "slow to stop" } }
      }
    }
    #expect(FuturesDiagnostics.graph.nodes.contains { $0.label == "slow to stop" && !$0.isCancelled })
    task.cancel()
    await task.value
    #expect(nodes.withLock { $0.map(\.isCancelled) } == [true])
    #expect(!FuturesDiagnostics.graph.nodes.contains { $0.label == "slow to stop" })
  }

  static func stream() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let kept = Locked<CallbackStream<Int>?>(nil)
    let line = #line + 1
    let stream = callbackStream("places", of: Int.self) { handle in kept.withLock { $0 = handle } }
    let node = FuturesDiagnostics.graph.nodes.first { $0.kind == .callbackStream }
    #expect(node?.description.hasPrefix("callbackStream \"places\" at \(#fileID):\(line), pending for ") == true)
    kept.withLock { $0 }?.finish()
    #expect(FuturesDiagnostics.graph.nodes.isEmpty)
    _ = stream
  }
}
