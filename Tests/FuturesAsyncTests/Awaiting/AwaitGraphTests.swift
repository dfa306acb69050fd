internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Each test runs in a separate process, because the graph shows the pending work of the whole process.
@Suite("Awaits in the graph")
struct AwaitGraphTests {
  @Test("Two tasks that await each other are in a circle, unless one of them has a timeout")
  func timeout() async { await #expect(processExitsWith: .success) { AwaitGraphChecks.timeout() } }

  @Test("A circle through the last one of many awaits is found, also behind more consumers than a snapshot visits")
  func many() async {
    await #expect(processExitsWith: .success) { AwaitGraphChecks.many(250) }
    await #expect(processExitsWith: .success) { AwaitGraphChecks.many(2_100) }
  }

  @Test("A task that waits for a slot of a limit is in the graph with the place of its call")
  func slots() async { await #expect(processExitsWith: .success) { AwaitGraphChecks.slots() } }
}

private enum AwaitGraphChecks {
  static func slots() {
    FuturesDiagnostics.tracksPendingFutures = true
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

  static func many(_ count: Int) {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.tracksPendingFutures = true
    let popular = Promise<Int, Never>("popular")
    let future = popular.future
    let tasks = (0..<count).map { Future<Int, Never>.immediate(name: "\($0)") { await future.value } }
    let open = FuturesDiagnostics.graph
    #expect(open.nodes.filter { $0.kind == .await }.count == count)
    #expect(!open.nodes.contains { $0.kind == .callback })
    #expect(open.edges.count == 2 * count)
    #expect(open.isComplete == (count < 2_000))
    popular.follow(tasks[count - 1])
    #expect(FuturesDiagnostics.graph.cycles.count == 1)
  }

  /// Two tasks that await each other, the first one through the future that `derive` makes.
  static func circle(_ derive: @escaping @Sendable (Future<Int, Never>) -> Future<Int, Never>) -> WaitForGraph {
    ignoreLeaksFromNowOn()
    FuturesDiagnostics.tracksPendingFutures = true
    let other = Promise<Int, Never>("other")
    let future = other.future
    let first = Future<Int, Never>.immediate(name: "first") { await derive(future).value }
    let second = Future<Int, Never>.immediate(name: "second") { await first.value }
    other.follow(second)
    return FuturesDiagnostics.graph
  }

  static func timeout() {
    let ends = circle { $0.timeout(after: .seconds(3_600), fallback: 0) }
    #expect(ends.nodes.filter { $0.kind == .await }.count == 2, "\(ends)")
    #expect(ends.cycles.isEmpty, "\(ends)")
    let circle = circle { $0.map { $0 } }
    #expect(circle.cycles.count == 1, "\(circle)")
    #expect(circle.description.hasPrefix("A circle, in which nothing ever ends:"), "\(circle)")
  }
}
