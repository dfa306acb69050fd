internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// The tests run in processes of their own, where nothing else allocates.

/// The task that makes a step of a countdown.
enum CountdownStep: String, CaseIterable, Codable, Sendable { case inheriting, detached, immediate, actor }

/// `f(n) = Future { … }.flatMap { f(n - 1) }`, which reports `n` on its way down.
func countdown(
  _ step: CountdownStep,
  _ number: Int,
  _ report: @escaping @Sendable (Int) -> Void
) -> Future<Int, Never> {
  report(number)
  guard number > 0 else { return .succeeded(0) }
  let next =
    switch step {
    case .inheriting: Future { number - 1 }
    case .detached: Future.detached { number - 1 }
    case .immediate: Future.immediate { number - 1 }
    case .actor: Future { @DepthActor in number - 1 }
    }
  return next.flatMap { countdown(step, $0, report) }
}

@globalActor actor DepthActor {
  static let shared = DepthActor()
}

/// Counts down and returns the bytes by which the process grew between the first tenth and the end.
///
/// The least of several rounds, up to one within the tolerance. Levels that stay in memory show in each round. The
/// memory of a new thread, and of ended tasks that their threads have not released yet, shows in some rounds only.
func growth(_ step: CountdownStep, _ levels: Int) async -> Int64 {
  var least = Int64.max
  for _ in 0..<10 where least >= tolerance {
    let bytes = Locked<(early: Int64, late: Int64)>((0, 0))
    let future = countdown(step, levels) { number in
      let live = AllocationCounts.ofProcess().liveBytes
      if number == levels * 9 / 10 { bytes.withLock { $0.early = live } }
      if number == 0 { bytes.withLock { $0.late = live } }
    }
    let result = await future.value
    precondition(result == 0)
    least = min(least, bytes.withLock { $0.late - $0.early })
  }
  return least
}

private let levels = TestTier.choose(standard: 10_000, thorough: 20_000)

/// Twenty bytes for each level; one state is more than fifty.
private let tolerance = 20 * levels

@Suite("R6: recursion through tasks", .enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct TaskDepthTests {
  @Test("R6: the memory of a recursion through tasks does not grow", arguments: CountdownStep.allCases)
  func recursionStaysFlat(step: CountdownStep) async {
    await #expect(processExitsWith: .success) { [step] in
      let growth = await growth(step, levels)
      #expect(growth < tolerance, "\(step): \(growth) bytes")
    }
  }
}
