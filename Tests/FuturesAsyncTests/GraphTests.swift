internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

struct GraphTests {
  @Test("The graph shows awaits and wrapped callbacks", arguments: GraphCheck.allCases)
  fileprivate func graph(check: GraphCheck) async {
    // In a separate process, because the graph shows the pending work of the whole process.
    await #expect(processExitsWith: .success) { [check] in
      FuturesDiagnostics.tracksPendingFutures = true
      await check.run()
    }
  }
}

private enum GraphCheck: String, CaseIterable, Codable, Sendable {
  case circle = "Two tasks that await each other are in a circle"
  case token = "A task that waits for a token is in the graph with the place of its call"
  case broken = "A broken promise is in the graph while a task awaits its future"
  case slot = "A task that waits for a slot of a limit is in the graph with the place of its call"
  case cancelledCall = "A cancelled call is in the graph, as cancelled, until its handlers have run"
  case stream = "A stream that can yield is in the graph, with its label and line, and leaves it with its end"

  func run() async {
    switch self {
    case .circle: Self.checkCircle()
    case .token: Self.checkToken()
    case .broken: Self.checkBroken()
    case .slot: Self.checkSlot()
    case .cancelledCall: await Self.checkCancelledCall()
    case .stream: Self.checkStream()
    }
  }

  private static func checkCircle() {
    ignoreLeaksFromNowOn()
    let other = Promise<Int, Never>("other")
    let future = other.future
    let line = #line + 1
    let first = Future<Int, Never>.immediate(name: "first") { await future.value }
    other.follow(Future<Int, Never>.immediate(name: "second") { await first.value })
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.count { $0.kind == .await } == 2, "\(graph)")
    #expect(graph.cycles.count == 1, "\(graph)")
    #expect(graph.description.hasPrefix("A circle, in which nothing ever ends:"), "\(graph)")
    #expect(graph.description.contains("await in the task \"first\""), "\(graph)")
    #expect(graph.description.contains("task \"first\" at \(#fileID):\(line)"), "\(graph)")
  }

  private static func checkToken() {
    let source = CancellationTokenSource()
    let token = source.token
    let line = #line + 1
    let server = Future<Void, Never>.immediate(name: "server") { await token.cancelled() }
    let text = FuturesDiagnostics.graph.description
    #expect(text.contains("promise \"CancellationToken.cancelled()\" at \(#fileID):\(line)"), "\(text)")
    _ = (server, source)
  }

  private static func checkBroken() {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.setHandler { _ in }
    let (future, promise) = breakable("user", Never.self)
    Task.immediate { await future.map { $0 }.value }
    promise.drop()
    let text = FuturesDiagnostics.graph.description
    #expect(text.contains(", broken: it was dropped unresolved"), "\(text)")
  }

  private static func checkSlot() {
    let (limit, running) = (ConcurrencyLimit(1), Promise<Void, Never>("running"))
    let line = #line + 1
    let tasks = (0..<2).map { _ in Task.immediate { try await limit.withSlot { await running.future.value } } }
    let slot = FuturesDiagnostics.graph.nodes.first { $0.label == "ConcurrencyLimit.withSlot" }
    #expect(slot?.fileID == #fileID && slot?.line == line)
    running.succeed()
    _ = tasks
  }

  private static func checkCancelledCall() async {
    let nodes = Locked<[WaitForGraph.Node]>([])
    let line = #line + 3
    let task = Task.immediate {
      let kept = Locked<Callback<Int>?>(nil)
      _ = try? await withCallback("slow to stop") { callback in
        kept.withLock { $0 = callback }
      } onCancel: {
        nodes.withLock { $0 = FuturesDiagnostics.graph.nodes.filter { $0.label == "slow to stop" } }
      }
    }
    let node = FuturesDiagnostics.graph.nodes.first { $0.label == "slow to stop" && !$0.isCancelled }
    #expect(node?.description.hasPrefix("withCallback \"slow to stop\" at \(#fileID):\(line), pending for ") == true)
    task.cancel()
    await task.value
    #expect(nodes.withLock { $0.map(\.isCancelled) } == [true])
    #expect(!FuturesDiagnostics.graph.nodes.contains { $0.label == "slow to stop" })
  }

  private static func checkStream() {
    let held = HeldStream()
    let line = #line + 1
    let stream = callbackStream("places", of: Int.self) { held.hold($0) }
    let node = FuturesDiagnostics.graph.nodes.first { $0.kind == .callbackStream }
    #expect(node?.description.hasPrefix("callbackStream \"places\" at \(#fileID):\(line), pending for ") == true)
    held.handle?.finish()
    #expect(FuturesDiagnostics.graph.nodes.isEmpty)
    _ = stream
  }
}
