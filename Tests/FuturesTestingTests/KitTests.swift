internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import FuturesTesting
internal import TestSupport
internal import Testing

@Suite("Checkpoints")
struct CheckpointsTests {
  @Test("Checkpoints are recorded in order, from any thread, each time they are passed")
  func pointsAreRecordedInOrder() {
    let checkpoints = Checkpoints()
    #expect(checkpoints.passed.isEmpty)
    checkpoints.pass("a")
    onThread { checkpoints.pass("b") }
    checkpoints.pass("a")
    #expect(checkpoints.passed == ["a", "b", "a"])
  }

  @Test("A wait for a checkpoint ends when it is passed, or at once if it was passed before", .timeLimit(.minutes(20)))
  func waitEndsAtItsPoint() async throws {
    let checkpoints = Checkpoints()
    let passing = checkpoints.passing("a")
    #expect(!passing.isResolved)
    checkpoints.pass("b")
    #expect(!passing.isResolved)
    onThread { checkpoints.pass("a") }
    await passing.value
    try #require(checkpoints.passing("a").isResolved)
    await checkpoints.passing("a").value
    #expect(checkpoints.passing("b").isResolved)
    #expect(checkpoints.passed == ["b", "a"])
  }

  @Test("All waits for one checkpoint share a future")
  func waitersShareOneFuture() {
    let checkpoints = Checkpoints()
    let log = Recorder<Int>()
    for number in 0..<3 { checkpoints.passing("a").whenResolved(on: .immediate) { _ in log.record(number) } }
    checkpoints.pass("a")
    checkpoints.pass("a")
    #expect(log.events == [0, 1, 2])
  }
}

@Suite("Leak check")
struct LeakCheckTests {
  private final class Node {
    var other: Node?
  }

  @Test("The leak check names living objects and keeps none of them alive")
  func livingObjectsAreNamed() {
    let leaks = LeakCheck()
    let kept = Node()
    weak var leaked: Node?
    do {
      let (gone, cycle) = (Node(), Node())
      cycle.other = cycle
      leaks.watch(gone, "gone")
      leaks.watch(cycle, "cycle")
      leaks.watch(kept, "kept")
      #expect(leaks.alive == ["gone", "cycle", "kept"])
      leaked = cycle
    }
    #expect(leaks.alive == ["cycle", "kept"])
    leaked?.other = nil
    #expect(leaks.alive == ["kept"])
    withExtendedLifetime(kept) {}
  }

  @Test("A future is alive while its promise lives, and a stage until it resolves; the check ignores resolved futures")
  func pendingFutureOfLivingPromiseIsAlive() {
    let leaks = LeakCheck()
    var promise: Promise<Int, any Error>? = Promise()
    leaks.watch(promise!.future, "future")
    leaks.watch(promise!.future.map { $0 + 1 }, "mapped")
    leaks.watch(Future<Int, Never>.succeeded(1), "resolved")
    #expect(leaks.alive == ["future", "mapped"])
    promise?.succeed(1)
    #expect(leaks.alive == ["future"])
    promise = nil
    #expect(leaks.alive == [])
  }
}

#if ASAN || TSAN
  /// A sanitizer's own memory would be counted.
  private let canCountBytes = false
#else
  private let canCountBytes = AllocationCounts.areSupported
#endif

@Suite("Broken promises of a body", .serialized)
struct BrokenPromisesTests {
  @Test("The check finds a dropped promise, also without an observer or a failure case for it")
  func droppedPromiseIsFound() {
    let (line, broken) = (
      #line,
      brokenPromises(madeIn: #fileID) {
        _ = Promise<Int, any Error>("first").future.recover { _ in 0 }
        _ = Promise<Int, Never>("second").future
      }
    )
    #expect(broken.map(\.label) == ["first", "second"])
    #expect(broken.map(\.line) == [UInt(line + 2), UInt(line + 3)])
  }

  @Test("Futures that are resolved, cancelled, made elsewhere, or dropped before and after are not reported")
  func otherEndingsAreNotReported() {
    _ = Promise<Int, any Error>("before")
    let broken = brokenPromises(madeIn: #fileID) {
      Promise<Int, any Error>("resolved").succeed(1)
      let cancelled = Promise<Int, any Error>("cancelled")
      cancelled.future.cancel()
      _ = Promise<Int, any Error>("elsewhere", fileID: "Other/File.swift", line: 1)
    }
    _ = Promise<Int, any Error>("after")
    #expect(broken.isEmpty)
  }

  @Test("Nothing listens any more when the body has returned or thrown", .enabled(if: canCountBytes))
  func leavesNothing() async {
    // Runs in a separate process: the list of observers is one for all threads, and other tests add to it.
    await #expect(processExitsWith: .success) {
      let blocks = leastBlocksLeft(count: 1000) { count in
        for _ in 0..<count {
          _ = brokenPromises(madeIn: #fileID) {}
          _ = try? brokenPromises(madeIn: #fileID) { throw CancellationError() }
        }
      }
      #expect(blocks <= 0)
    }
  }

  @Test("An asynchronous body can await, and its error is rethrown")
  func asynchronousBodyCanAwait() async throws {
    let broken = try await brokenPromises(madeIn: #fileID) {
      let promise = Promise<Int, any Error>("asynchronous")
      _ = try await Future<Int, any Error> { 1 }.value
      _ = consume promise
    }
    #expect(broken.map(\.label) == ["asynchronous"])
    await #expect(throws: CancellationError.self) {
      try await brokenPromises { throw CancellationError() }
    }
    #expect(throws: CancellationError.self) { try brokenPromises { throw CancellationError() } }
  }
}
