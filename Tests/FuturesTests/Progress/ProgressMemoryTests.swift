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

  /// Runs `body` with an object that must be released when it returns.
  static func expectReleased(_ comment: Comment? = nil, _ body: (Tracked) -> Void) {
    weak var left: Tracked?
    do {
      let object = Tracked()
      left = object
      body(object)
    }
    #expect(left == nil, comment)
  }

  // MARK: - Callbacks

  @Test("R5: the end of a future releases a listener that holds its promise or its reporter")
  func listenerCycleEndsWithFuture() {
    Self.expectReleased("the reporter") { object in
      let promise = Promise<Int, TestError>()
      let reporter = promise.progress
      promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, reporter)) {} }
    }
    Self.expectReleased("the promise") { object in
      let promise = Promise<Int, any Error>()
      promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, promise)) {} }
      promise.succeed(1)
    }
    Self.expectReleased("the other promise") { object in
      let (promise, other) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      promise.future.whenProgressed(on: .immediate) { _ in withExtendedLifetime((object, other)) {} }
      other.progress.add(promise.future, share: 0.5)
    }
  }

  @Test("R5: a reporter that outlives its future keeps nothing but the result", arguments: [false, true])
  func keptReporter(succeeds: Bool) {
    var promise: Promise<Int, any Error>? = Promise()
    let reporter = promise!.progress
    let part = Promise<Int, any Error>()
    let registration = Recorder<Registration>()
    Self.expectReleased { object in
      part.future.whenProgressed(on: .immediate) { _ in object.use() }
      reporter.add(part.future, share: 0.5)
      registration.record(promise!.future.whenProgressed(on: .immediate) { _ in object.use() })
      reporter.report(fraction: 0.5)
      if succeeds { promise!.succeed(1) }
      promise = nil
      part.succeed(1)
    }
    #expect(!reporter.report(fraction: 1))
  }

  @Test(
    "R5: the last copy of a future that never resolves releases its listeners, also through derived futures"
  )
  func lastCopyReleasesListeners() {
    Self.expectReleased("a promise that follows never") { object in
      let promise = Promise<Int, TestError>()
      let derived = promise.future.map { $0 }.flatMap { .succeeded($0) }
      derived.whenProgressed(on: .immediate) { _ in object.use() }
      promise.future.whenProgressed(on: .immediate) { _ in object.use() }
      promise.progress.report(fraction: 0.5)
      promise.follow(.never)
      #expect(derived.currentProgress.fractionCompleted == 0.25)
    }
    Self.expectReleased("a part that never resolves") { object in
      let (promise, other) = (Promise<Int, TestError>(), Promise<Int, TestError>())
      let never = Future<Int, TestError>.never
      never.whenProgressed(on: .immediate) { _ in object.use() }
      promise.progress.add(never, share: 0.5)
      other.progress.add(promise.future, share: 0.5)
      promise.progress.add(other.future.map { _ in object }, share: 0.5)
      promise.follow(.never)
    }
    Self.expectReleased("a join of what never resolves") { object in
      let promise = Promise<Int, TestError>()
      let all = Future.all([promise.future, .never, .never])
      let race = Future.race([.never, promise.future.shielded])
      all.whenProgressed(on: .immediate) { _ in object.use() }
      race.whenProgressed(on: .immediate) { _ in object.use() }
      promise.follow(.never)
    }
  }

  @Test("R5, R19: parts that never end, are lazy or are followed leave no memory behind")
  func partsLeaveNoBlocks() {
    let left = CancellationTokenTests.blocksLeft {
      let (whole, part) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      let log = ProgressLog(whole.future)
      whole.progress.add(part.future, share: 0.5)
      whole.progress.add(Source.lazy { $0.succeed(1) }, share: 0.25)
      part.progress.add(Source.never, share: 0.5)
      part.progress.report(fraction: 0.5)
      whole.follow(part.future)
      #expect(log.isSound)
    }
    #expect(left <= 0)
  }

  // MARK: - Long lives

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

  @Test("R5, R19: a long-lived joined future keeps nothing of its short-lived derived futures")
  func shortLivedJoins() {
    let stays = Promise<Int, any Error>()
    let future = stays.future
    func joins(_ count: Int) {
      for _ in 0..<count {
        let ends = Promise<Int, any Error>()
        let race = Source.race([ends.future, future.shielded])
        let log = ProgressLog(race)
        ends.succeed(1)
        #expect(log.events.count == 2)
      }
    }
    #expect(leastBlocksLeft(count: Self.count / 100, joins) <= 0)
    stays.succeed(1)
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
