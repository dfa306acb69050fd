import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the memory of listeners, reporters and links: R5, R7.
///
/// `OperatorMemoryTests` covers each operator.
@Suite(.enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct ProgressMemoryTests {
  typealias Source = Future<Int, any Error>

  static let count = TestTier.choose(standard: 2_000, thorough: 10_000)

  /// Futures that end or turn out to never resolve; each has listeners that hold an object.
  static let scenes: [(name: String, run: @Sendable (Tracked) -> Void)] = [
    (
      "a listener that holds the reporter",
      { object in
        let promise = Promise<Int, TestError>()
        let reporter = promise.progress
        promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, reporter)) {} }
      }
    ),
    (
      "a listener that holds the promise",
      { object in
        let promise = Promise<Int, any Error>()
        promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, promise)) {} }
        promise.succeed(1)
      }
    ),
    (
      "a listener of a part that holds the whole",
      { object in
        let (promise, whole) = (Promise<Int, any Error>(), Promise<Int, any Error>())
        promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, whole)) {} }
        whole.progress.add(promise.future, share: 0.5)
      }
    ),
    (
      "a promise that follows never",
      { object in
        let promise = Promise<Int, TestError>()
        let derived = promise.future.map { $0 }.flatMap { .succeeded($0) }
        derived.whenProgressed(on: .immediate) { _ in object.use() }
        promise.future.whenProgressed(on: .immediate) { _ in object.use() }
        promise.progress.report(fraction: 0.5)
        promise.follow(.never)
      }
    ),
    (
      "a part that never resolves",
      { object in
        let (promise, other) = (Promise<Int, TestError>(), Promise<Int, TestError>())
        promise.progress.add(Future<Int, TestError>.never, share: 0.5)
        other.progress.add(promise.future, share: 0.5)
        promise.progress.add(other.future.map { _ in object }, share: 0.5)
        promise.follow(.never)
      }
    ),
    (
      "a join of futures that never resolve",
      { object in
        let promise = Promise<Int, TestError>()
        let (all, race) = (Future.all([promise.future, .never]), Future.race([.never, promise.future.shielded]))
        all.whenProgressed(on: .immediate) { _ in object.use() }
        race.whenProgressed(on: .immediate) { _ in object.use() }
        promise.follow(.never)
      }
    ),
  ]

  @Test("R5: the end, or the last copy, of a future releases its listeners", arguments: scenes.indices)
  func listenersAreReleased(index: Int) {
    let (left, _) = withTracked { Self.scenes[index].run($0) }
    #expect(left.isReleased, "\(Self.scenes[index].name)")
  }

  @Test("R5: a reporter that outlives its future keeps nothing but the result", arguments: [false, true])
  func keptReporter(succeeds: Bool) {
    var promise: Promise<Int, any Error>? = Promise()
    let reporter = promise!.progress
    let part = Promise<Int, any Error>()
    let registration = Recorder<Registration>()
    let (left, _) = withTracked { object in
      part.future.whenProgressed(on: .immediate) { _ in object.use() }
      reporter.add(part.future, share: 0.5)
      registration.record(promise!.future.whenProgressed(on: .immediate) { _ in object.use() })
      reporter.report(fraction: 0.5)
      if succeeds { promise!.succeed(1) }
      promise = nil
      part.succeed(1)
    }
    #expect(left.isReleased)
    #expect(!reporter.report(fraction: 1))
  }

  @Test("R5, R19: a long-lived child keeps nothing of its short-lived parents", arguments: [0, 1, 2, 3])
  func shortLivedParents(end: Int) {
    let child = Promise<Int, any Error>()
    func parents(_ count: Int) {
      for _ in 0..<count {
        let parent = Promise<Int, TestError>()
        parent.progress.add(child.future, share: 0.5)
        parent.future.whenProgressed(on: .immediate) { _ in }
        switch end {
        case 0: parent.succeed(1)
        case 1: parent.fail(TestError(1))
        case 2: parent.follow(.never)
        default: break  // the dropped parent breaks
        }
      }
    }
    #expect(leastBlocksLeft(count: Self.count, parents) <= 0)
    child.succeed(1)
  }

  @Test("R5, R19: a long-lived parent keeps nothing of its short-lived children", arguments: [0, 1, 2, 3])
  func shortLivedChildren(end: Int) {
    let parent = Promise<Int, any Error>()
    let log = Locked(0.0)
    parent.future.whenProgressed(on: .immediate) { progress in log.withLock { $0 = progress.fractionCompleted } }
    // The shares are so small that all attempts together do not use up the whole.
    func children(_ count: Int) {
      for _ in 0..<count {
        var child: Promise<Int, TestError>? = Promise()
        parent.progress.add(child!.future.map { $0 }, share: 0.15 / Double(Self.count))
        child!.progress.report(fraction: 0.5)
        switch end {
        case 0: child!.succeed(1)
        case 1: child!.fail(TestError(1))
        case 2: parent.progress.add(Future<Int, Never>.succeeded(1), share: 0.03 / Double(Self.count))
        default: child = nil
        }
      }
    }
    #expect(leastBlocksLeft(count: Self.count, children) <= 0)
    #expect(log.withLock { $0 } > 0.149)
    parent.succeed(1)
  }

  @Test("A report allocates nothing, with any listeners on .immediate")
  func reportAllocatesNothing() {
    let promise = Promise<Int, any Error>()
    let notified = Locked(0)
    promise.future.map { $0 }.flatMap { .succeeded($0) }.whenProgressed(on: .immediate) { _ in
      notified.withLock { $0 += 1 }
    }
    let progress = promise.progress
    func report(_ range: Range<Int64>) {
      // Not `for`, which allocates in a debug build.
      var number = range.lowerBound
      while number < range.upperBound {
        progress.report(completed: number, of: 10_000)
        number += 1
      }
    }
    report(1..<10)
    let before = AllocationCounts.ofThread().allocations
    report(10..<1_000)
    #expect(AllocationCounts.ofThread().allocations == before)
    #expect(notified.withLock { $0 } == 1_000)
    promise.succeed(1)
  }
}
