internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// In processes of their own, where nothing else allocates.

/// How each step of a countdown is made.
enum CountdownStep: Sendable { case inheriting, detached, immediate, actor }

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

/// Counts down, and answers by how many bytes the process grew between the first tenth and the end, while all levels lived.
///
/// The least of three rounds: levels that are kept are kept in each of them, and what a new thread takes is not.
func growth(_ step: CountdownStep, _ levels: Int) async -> Int64 {
  var least = Int64.max
  for _ in 0..<3 {
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

/// Twenty bytes for each of 20,000 levels; one state is more than fifty.
private let tolerance = 400_000

@Suite("R6: recursion through tasks", .enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct TaskDepthTests {
  @Test("R6: `f(n) = Future { }.flatMap { f(n - 1) }` for 20,000 takes memory that does not grow")
  func inheriting() async {
    await #expect(processExitsWith: .success) {
      let growth = await growth(.inheriting, 20_000)
      #expect(growth < tolerance, "\(growth) bytes")
    }
  }

  @Test("R6: the same with detached tasks")
  func detached() async {
    await #expect(processExitsWith: .success) {
      let growth = await growth(.detached, 20_000)
      #expect(growth < tolerance, "\(growth) bytes")
    }
  }

  @Test("R6: the same with immediate tasks, which are resolved at once")
  func immediate() async {
    await #expect(processExitsWith: .success) {
      let growth = await growth(.immediate, 20_000)
      #expect(growth < tolerance, "\(growth) bytes")
    }
  }

  @Test("R6: the same with tasks on an actor")
  func onActor() async {
    await #expect(processExitsWith: .success) {
      let growth = await growth(.actor, 20_000)
      #expect(growth < tolerance, "\(growth) bytes")
    }
  }

  @Test("R6: a future that was counted down has the right value, and all levels are gone after it")
  func afterwards() async {
    await #expect(processExitsWith: .success) {
      var left = Int64.max
      for _ in 0..<3 {
        let before = AllocationCounts.ofProcess().liveBytes
        _ = await growth(.inheriting, 5_000)
        left = min(left, AllocationCounts.ofProcess().liveBytes - before)
      }
      #expect(left < tolerance, "\(left) bytes")
    }
  }
}
