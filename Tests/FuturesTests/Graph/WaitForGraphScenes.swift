internal import AllocationCounter
internal import Dispatch
internal import Foundation
internal import Futures
internal import TestSupport
internal import Testing

/// The bodies of the tests, outside the macro: within a macro, `#line` is always the macro's first line.
enum WaitForGraphScenes {
  static func cost() {
    func allocations() -> Int {
      let before = AllocationCounts.ofThread().allocations
      for _ in 0..<1_000 { Promise<Int, any Error>().succeed(1) }
      return Int(AllocationCounts.ofThread().allocations - before)
    }
    _ = allocations()
    let off = allocations()
    #expect(FuturesDiagnostics.graph.nodes.isEmpty)
    FuturesDiagnostics.tracksPendingFutures = true
    _ = allocations()
    let on = allocations()
    // Some allocations for the table and its sweeps; without optimisation one more for each promise.
    #expect((off..<off + 1_200).contains(on), "\(off) and \(on) allocations")
  }

  static func kinds() throws {
    let (promise, line) = (Promise<Int, any Error>("root"), #line)
    let mapped = promise.future.map { "\($0)" }
    mapped.whenResolved(on: .mainQueue) { _ in }
    mapped.whenResolved(on: .queue(DispatchQueue(label: "app.work"))) { _ in }
    mapped.whenResolved(on: .immediate) { _ in }
    mapped.whenResolved(on: .immediate) { _ in }
    let late = promise.future.timeout(after: .seconds(60))
    let other = Promise<Int, any Error>("other")
    let all = Future.all([late, other.future])
    let timer = Future.after(.seconds(3_600))
    promise.progress.report(fraction: 0.25)
    let graph = FuturesDiagnostics.graph
    #expect(graph.isComplete && graph.cycles.isEmpty)
    let root = graph.nodes.first { $0.label == "root" }
    #expect(root?.kind == .promise)
    #expect(root?.fileID == #fileID)
    #expect(root?.line == line)
    #expect(root?.progress == 0.25)
    #expect((root?.age ?? -1) >= 0)
    let stage = graph.nodes.first { $0.operation == "map" }
    #expect(stage?.types == "Int → String")
    let callbacks = graph.nodes.filter { $0.kind == .callback }
    #expect(Set(callbacks.map(\.context)) == ["the main queue", "the queue \"app.work\"", nil])
    #expect(callbacks.first { $0.context == nil }?.count == 2)
    #expect(callbacks.allSatisfy { node in graph.edges.contains { $0.waiter == node.id && $0.awaited == stage?.id } })
    let timeout = graph.nodes.first { $0.label == "timeout" }
    #expect(timeout?.kind == .timer)
    #expect((timeout?.dueIn ?? 0) > 30)
    #expect(graph.nodes.filter { $0.kind == .timer }.count == 2)
    let join = graph.nodes.first { $0.kind == .join }
    #expect(Set(graph.edges.filter { $0.waiter == join?.id }.map(\.awaited)).count == 2)
    timer.cancel()
    promise.succeed(1)
    other.succeed(2)
    // The callbacks are already submitted to their queues.
    #expect(FuturesDiagnostics.graph.nodes.allSatisfy { $0.kind == .work }, "\(FuturesDiagnostics.graph)")
    _ = all
  }

  static func foldsChains() {
    let count = TestTier.choose(standard: 20_000, thorough: 1_000_000)
    let promise = Promise<Int, any Error>("long")
    var future = promise.future
    for _ in 0..<count { future = future.map { $0 + 1 } }
    for _ in 0..<count { future = future.mapError { $0 }.map { $0 } }
    future.whenResolved(on: .immediate) { _ in }
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.map(\.count).reduce(0, +) == 3 * count + 2)
    #expect(graph.nodes.count < 20)
    let lines = graph.description.split(separator: "\n")
    #expect(lines.contains { $0.contains("stages of map (Int → Int)") }, "\(graph)")
    promise.succeed(0)
  }

  static func states() {
    let following = Promise<Int, Never>("following")
    let leader = Promise<Int, Never>("leader")
    following.follow(leader.future)
    let cancelled = Promise<Int, Never>("cancelled")
    cancelled.future.cancel()
    let dropped = Future<Int, Never>.succeeded(1).map(on: ExecutionContext { _ in }) { $0 }  // the context drops it
    let graph = withExtendedLifetime(dropped) { FuturesDiagnostics.graph }
    let nodes = Dictionary(graph.nodes.map { ($0.label ?? "", $0) }, uniquingKeysWith: { $1 })
    #expect(nodes["following"]?.state == .following)
    #expect(nodes["cancelled"]?.isCancelled == true)
    #expect(graph.edges.map { [$0.waiter, $0.awaited] } == [["following", "leader"].compactMap { nodes[$0]?.id }])
    #expect(graph.nodes.filter { $0.kind == .work }.map(\.state) == [.broken], "\(graph)")
  }

  static func bounds() {
    let older = Promise<Int, Never>("older")
    older.future.map { "\($0)" }.whenResolved(on: .mainQueue) { _ in }
    let popular = Promise<Int, Never>("popular")
    for _ in 0..<1_500 { popular.future.whenResolved(on: .immediate) { _ in } }
    let bounded = FuturesDiagnostics.graph
    #expect(bounded.isComplete)
    #expect(bounded.nodes.filter { $0.kind == .callback && $0.context == nil }.map(\.count) == [1_500])
    #expect(bounded.description.contains("─ 1,500 callbacks\n"), "\(bounded)")
    for _ in 0..<10_000 { popular.future.whenResolved(on: .immediate) { _ in } }
    let unbounded = FuturesDiagnostics.graph
    #expect(!unbounded.isComplete)
    #expect(unbounded.nodes.filter(\.hasMore).map(\.kind) == [.promise, .callback])
    #expect(unbounded.description.contains("─ at least 2,000 callbacks\n"), "\(unbounded)")
    #expect(unbounded.description.contains(", with more consumers than the first 2,000\n"), "\(unbounded)")
    let lines = unbounded.description.split(separator: "\n").drop { !$0.hasPrefix("promise \"older\"") }.dropFirst()
    #expect(lines.prefix(2) == ["└─ map (Int → String)", "   └─ callback on the main queue"], "\(unbounded)")
    older.succeed(1)
    popular.succeed(1)
    let many = (0..<10_100).map { Promise<Int, Never>("\($0)") }
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.count == 10_000)
    #expect(!graph.isComplete)
    let end = "… and more, which was not searched for circles: the graph ends at 10,000 objects.\n"
    #expect(graph.description.hasSuffix(end))
    for promise in many { promise.succeed(1) }
  }

  static func race() {
    let rounds = TestTier.choose(standard: 500, thorough: 125_000)
    let shared = Locked<[Promise<Int, any Error>]>([])
    let ended = Locked(0)
    let worker = { @Sendable (seed: Int) in
      var random = SystemRandomNumberGenerator()
      for round in 0..<rounds {
        let promise = Promise<Int, any Error>(round.isMultiple(of: 3) ? "race" : nil)
        let other = shared.withLock { promises -> Promise<Int, any Error>? in
          promises.append(promise)
          if promises.count > 32 { promises.removeFirst() }
          return promises.randomElement(using: &random)
        }
        let mapped = promise.future.map { $0 + 1 }.flatMap { _ in other?.future ?? .succeeded(1) }
        let registration = mapped.whenResolved(on: .global()) { _ in }
        let all = Future.all([mapped, promise.future.mapError { $0 }])
        switch random.next(upperBound: 6 as UInt32) {
        case 0: promise.fail(CancellationError())
        case 1: mapped.cancel()
        case 2: if let other, other !== promise { promise.follow(other.future.map { $0 }) }
        case 3: registration.remove()
        case 4: all.cancel()
        default: promise.succeed(round)
        }
        other?.succeed(seed)
      }
      ended.withLock { $0 += 1 }
    }
    let snapshots = { @Sendable in
      var count = 0
      while ended.withLock({ $0 }) < 8 {
        let graph = FuturesDiagnostics.graph
        count += graph.description.isEmpty ? 0 : 1
      }
      #expect(count > 0)
    }
    TestSupport.race((0..<8).map { seed in { worker(seed) } } + [snapshots])
    for promise in shared.withLock({ $0 }) { promise.succeed(1) }
  }
}
