import AllocationCounter
import Dispatch
import Futures
import TestSupport
import Testing

/// R6, on threads with a stack of 512 KiB.
///
/// A debug build takes fewer elements where the test would take long otherwise; the stack would overflow with a
/// hundredth of them.
@Suite("Depth")
struct DepthTests {
  #if TSAN
    static let count = 20_000
  #elseif DEBUG
    static let count = 100_000
  #else
    static let count = 1_000_000
  #endif

  /// For the chains that R6 names, which a debug build handles in full, too.
  #if TSAN
    static let chainLength = 20_000
  #else
    static let chainLength = 1_000_000
  #endif

  @Test("R6: a chain of map stages resolves")
  func mapChain() {
    onThread {
      let promise = Promise<Int, any Error>()
      let before = AllocationCounts.ofThread().liveBlocks
      do {
        var future = promise.future
        for _ in 0..<Self.chainLength { future = future.map { $0 + 1 } }
        promise.succeed(0)
        #expect(try! future.peek()?.get() == Self.chainLength)
      }
      #expect(AllocationCounts.ofThread().liveBlocks - before < 100)
    }
  }

  @Test("R6: a chain of map stages is released unresolved, and leaves nothing behind")
  func releasedChain() {
    @Sendable func release<Failure: Error>(_: Failure.Type, length: Int) {
      var promise: Promise<Int, Failure>? = Promise()
      var future = promise!.future
      for _ in 0..<length { future = future.map { $0 + 1 } }
      promise = nil
      #expect(future.isResolved == (Failure.self == (any Error).self))
    }
    onThread {
      let left = leastBlocksLeft(count: Self.chainLength) { length in
        release(Never.self, length: length)
        release((any Error).self, length: length)
      }
      #expect(left <= 0)
    }
  }

  @Test("R6: recursion through flatMap with ready steps takes no stack and no memory")
  func readyRecursion() {
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      return n == 0 ? .succeeded(0) : Future<Int, any Error>.succeeded(n).flatMap { _ in f(n - 1, peak) }
    }
    expectFlat(f)
  }

  @Test("R6: recursion through flatMap with asynchronous steps takes no stack and no memory")
  func asynchronousRecursion() {
    let held = HeldContext()
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      let step = Promise<Int, any Error>()
      held.context.submit { step.succeed(1) }
      return n == 0 ? .succeeded(0) : step.future.flatMap { _ in f(n - 1, peak) }
    }
    expectFlat(f, running: held)
  }

  @Test("R6: recursion through flatMap on a context takes no stack and no memory")
  func recursionOnContext() {
    let held = HeldContext()
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      return n == 0
        ? .succeeded(0) : Future<Int, any Error>.succeeded(n).flatMap(on: held.context) { _ in f(n - 1, peak) }
    }
    expectFlat(f, running: held)
  }

  @Test("R6: recursion through flatMap on a context, with asynchronous steps, takes no stack and no memory")
  func asynchronousRecursionOnContext() {
    let held = HeldContext()
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      let step = Promise<Int, any Error>()
      held.context.submit { step.succeed(1) }
      return n == 0 ? .succeeded(0) : step.future.flatMap(on: held.context) { _ in f(n - 1, peak) }
    }
    expectFlat(f, running: held)
  }

  @Test("R6: recursion by promises that follow what flatMap derives takes no stack and no memory")
  func followDerivedRecursion() {
    let held = HeldContext()
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      let promise = Promise<Int, any Error>()
      guard n > 0 else { return .succeeded(0) }
      let step = Promise<Int, any Error>()
      held.context.submit { promise.follow(step.future.flatMap { _ in f(n - 1, peak) }) }
      held.context.submit { step.succeed(1) }
      return promise.future
    }
    expectFlat(f, running: held)
  }

  @Test("R6: a long chain of followers that were merged is released")
  func mergedChain() {
    onThread {
      let source = Promise<Int, Never>()
      let last: Future<Int, Never>
      do {
        let promises = (0..<Self.count).map { _ in Promise<Int, Never>() }
        for index in 1..<promises.count { promises[index].follow(promises[index - 1].future) }
        promises[0].follow(source.future)
        last = promises[promises.count - 1].future
      }
      source.succeed(1)
      #expect(last.peek() == .success(1))
    }
  }

  @Test("R6: callbacks on a context that runs them at once take no stack")
  func inlineContextRecursion() {
    let inline = ExecutionContext { work in work() }
    @Sendable func f(_ n: Int, _ done: @escaping @Sendable () -> Void) {
      guard n > 0 else { return done() }
      Future.succeeded(n).whenResolved(on: inline) { _ in f(n - 1, done) }
    }
    onThread {
      let log = Recorder<Int>()
      f(Self.count) { log.record(1) }
      #expect(log.events == [1])
      var future = Future<Int, any Error>.succeeded(0)
      let promise = Promise<Int, any Error>()
      promise.follow(future)
      future = promise.future
      for _ in 0..<Self.count { future = future.map(on: inline) { $0 + 1 } }
      #expect(try! future.peek()?.get() == Self.count)
    }
  }

  @Test("R6: recursion by promises that follow each other takes no stack and no memory")
  func followRecursion() {
    let held = HeldContext()
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      let promise = Promise<Int, any Error>()
      guard n > 0 else { return .succeeded(0) }
      held.context.submit { promise.follow(f(n - 1, peak)) }
      return promise.future
    }
    expectFlat(f, running: held)
  }

  @Test("R6: recursion through callbacks of resolved futures takes no stack and no memory")
  func callbackRecursion() {
    @Sendable func f(_ n: Int, _ peak: Peak, _ done: @escaping @Sendable () -> Void) {
      peak.note()
      guard n > 0 else { return done() }
      Future<Int, any Error>.succeeded(n).whenResolved(on: .immediate) { _ in f(n - 1, peak, done) }
    }
    onThread {
      let peak = Peak()
      let log = Recorder<Int>()
      f(Self.count, peak) { log.record(1) }
      #expect(log.events == [1])
      #expect(peak.growth < 64 * 1024)
    }
  }

  @Test("R6: a chain of followers resolves")
  func followerChain() {
    onThread {
      let promises = (0..<Self.count).map { _ in Promise<Int, any Error>() }
      for index in 1..<promises.count { promises[index].follow(promises[index - 1].future) }
      promises[0].succeed(7)
      #expect(try! promises[promises.count - 1].future.peek()?.get() == 7)
    }
  }

  @Test("R6: a promise that is dropped in a callback that is dropped … takes no stack")
  func nestedDrops() {
    onThread {
      var last: Promise<Int, Never>? = Promise()
      for _ in 0..<Self.count {
        let next = Promise<Int, Never>()
        let captured = last
        next.future.whenResolved(on: .immediate) { _ in withExtendedLifetime(captured) {} }
        last = next
      }
      last = nil
    }
  }

  @Test("R6: recursions that take turns on one thread keep no memory, either")
  func recursionsThatTakeTurns() {
    @Sendable func f(_ n: Int, _ peak: Peak) -> Future<Int, any Error> {
      peak.note()
      return n == 0 ? .succeeded(1) : Future<Int, any Error>.succeeded(n).flatMap { _ in f(n - 1, peak) }
    }
    onThread {
      let peak = Peak()
      let sum = Future<Int, any Error>.succeeded(1).flatMap { _ in
        let parts = (0..<5).map { _ in f(Self.count / 5, peak) }
        return parts.dropFirst().reduce(parts[0]) { sum, part in sum.flatMap { sum in part.map { sum + $0 } } }
      }
      #expect(try! sum.peek()?.get() == 5)
      #expect(peak.growth < 64 * 1024)
    }
  }
}

/// Expects that `f` comes to 0 from `DepthTests.count`, on a small stack, and in memory that does not grow on the way.
///
/// `held` is the context on which its asynchronous steps are resolved; without one it must be there at once.
private func expectFlat(
  _ f: @escaping @Sendable (Int, Peak) -> Future<Int, any Error>,
  running held: HeldContext? = nil
) {
  onThread {
    let peak = Peak()
    let future = f(DepthTests.count, peak)
    #expect(future.isResolved == (held == nil))
    held?.runAll()
    #expect(try! future.peek()?.get() == 0)
    #expect(peak.growth < 64 * 1024)
  }
}

/// How far the live bytes of a thread have risen, from the thousandth call on.
private final class Peak: @unchecked Sendable {
  // @unchecked: used by one thread.
  private var calls = 0
  private var base: Int64 = 0
  private(set) var growth: Int64 = 0

  func note() {
    calls += 1
    let live = AllocationCounts.ofThread().liveBytes
    if calls == 1_000 { base = live }
    if calls > 1_000 { growth = max(growth, live - base) }
  }
}
