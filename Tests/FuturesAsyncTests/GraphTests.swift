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
  case places = "A task that waits for a token or a slot is in the graph with the place of its call"
  case broken = "A broken promise is in the graph while a task awaits its future"
  case awaits = "A circle is found behind more awaits than a snapshot visits other consumers"
  case cancelledCall = "A cancelled call is in the graph, as cancelled, until its handlers have run"
  case stream = "A stream that can yield is in the graph, with its label and line, and leaves it with its end"

  func run() async {
    switch self {
    case .circle: Self.checkCircle()
    case .places: await Self.checkPlaces()
    case .broken: Self.checkBroken()
    case .awaits: Self.checkAwaits()
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
    #expect(graph.description.contains("task \"first\" at \(#fileID):\(line)"), "\(graph)")
  }

  private static func checkPlaces() async {
    let (source, limit) = (CancellationTokenSource(), ConcurrencyLimit(1))
    let line = #line + 1
    let tasks = (0..<2).map { _ in Task.immediate { try await limit.withSlot { await source.token.cancelled() } } }
    for label in ["CancellationToken.cancelled()", "ConcurrencyLimit.withSlot"] {
      let node = FuturesDiagnostics.graph.nodes.first { $0.label == label }
      #expect(node?.fileID == #fileID && node?.line == line, "\(label)")
    }
    source.cancel()
    for task in tasks { _ = await task.result }
  }

  private static func checkBroken() {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.setHandler { _ in }
    let (future, promise) = breakable("user", Never.self)
    Task.immediate { await future.map { $0 }.value }
    promise.drop()
    #expect(FuturesDiagnostics.graph.description.contains(", broken: it was dropped unresolved"))
  }

  private static func checkAwaits() {
    ignoreLeaksFromNowOn()
    let popular = Promise<Int, Never>("popular")
    let future = popular.future
    let tasks = (0..<2_100).map { Future<Int, Never>.immediate(name: "\($0)") { await future.value } }
    #expect(FuturesDiagnostics.graph.nodes.count { $0.kind == .await } == tasks.count)
    popular.follow(tasks[2_099])
    #expect(FuturesDiagnostics.graph.cycles.count == 1)
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
    let held = HeldReference<CallbackStream<Int>>()
    let line = #line + 1
    let stream = callbackStream("places", of: Int.self) { held.hold($0) }
    let node = FuturesDiagnostics.graph.nodes.first { $0.kind == .callbackStream }
    #expect(node?.description.hasPrefix("callbackStream \"places\" at \(#fileID):\(line), pending for ") == true)
    held.current?.finish()
    #expect(FuturesDiagnostics.graph.nodes.isEmpty)
    _ = stream
  }
}
