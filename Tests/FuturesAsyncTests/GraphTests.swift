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
  case circleWithTimeout = "Two tasks that await each other are in no circle if one of them has a timeout"
  case manyAwaits = "A circle through the last one of many awaits is found"
  case moreAwaitsThanVisited = "A circle is found behind more consumers than a snapshot visits"
  case slot = "A task that waits for a slot of a limit is in the graph with the place of its call"
  case cancelledCall = "A cancelled call is in the graph, as cancelled, until its handlers have run"
  case stream = "A stream that can yield is in the graph, with its label and line, and leaves it with its end"

  func run() async {
    switch self {
    case .circle: Self.checkCircle(hasTimeout: false)
    case .circleWithTimeout: Self.checkCircle(hasTimeout: true)
    case .manyAwaits: Self.checkAwaits(250)
    case .moreAwaitsThanVisited: Self.checkAwaits(2_100)
    case .slot: Self.checkSlot()
    case .cancelledCall: await Self.checkCancelledCall()
    case .stream: Self.checkStream()
    }
  }

  private static func checkCircle(hasTimeout: Bool) {
    ignoreLeaksFromNowOn()
    let other = Promise<Int, Never>("other")
    let future = other.future
    let first = Future<Int, Never>.immediate(name: "first") {
      await (hasTimeout ? future.timeout(after: .seconds(3_600), fallback: 0) : future.map { $0 }).value
    }
    let second = Future<Int, Never>.immediate(name: "second") { await first.value }
    other.follow(second)
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.count { $0.kind == .await } == 2, "\(graph)")
    #expect(graph.cycles.count == (hasTimeout ? 0 : 1), "\(graph)")
    if !hasTimeout { #expect(graph.description.hasPrefix("A circle, in which nothing ever ends:"), "\(graph)") }
  }

  private static func checkAwaits(_ count: Int) {
    ignoreLeaksFromNowOn()
    let popular = Promise<Int, Never>("popular")
    let future = popular.future
    let tasks = (0..<count).map { Future<Int, Never>.immediate(name: "\($0)") { await future.value } }
    let open = FuturesDiagnostics.graph
    #expect(open.nodes.count { $0.kind == .await } == count)
    #expect(!open.nodes.contains { $0.kind == .callback })
    #expect(open.edges.count == 2 * count)
    #expect(open.isComplete == (count < 2_000))
    popular.follow(tasks[count - 1])
    #expect(FuturesDiagnostics.graph.cycles.count == 1)
  }

  private static func checkSlot() {
    let limit = ConcurrencyLimit(1)
    let running = Promise<Int, any Error>("running")
    let future = running.future
    let first = Future<Int, any Error>.immediate { try await limit.withSlot { try await future.value } }
    let line = #line + 1
    let second = Future<Int, any Error>.immediate { try await limit.withSlot { 2 } }
    let slot = FuturesDiagnostics.graph.nodes.first { $0.label == "ConcurrencyLimit.withSlot" }
    #expect(slot?.fileID == #fileID)
    #expect(slot?.line == line)
    _ = (first, second)
  }

  private static func checkCancelledCall() async {
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
