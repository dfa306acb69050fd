import AllocationCounter
import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of R6, on threads with a stack of 512 KiB.
///
/// A level takes at least 100 bytes of stack, so 10,000 nested levels overflow it.
struct DepthTests {
  static let count = TestTier.choose(standard: 10_000, thorough: 1_000_000)

  @Test("R2, R6: a delivery that nests too deeply runs after the callback of the outermost delivery has returned")
  func deferredDelivery() {
    let promises = (0...18).map { _ in Promise<Int, any Error>() }
    let log = Locked<[String]>([])
    for level in 0..<18 {
      promises[level].future.whenResolved(on: .immediate) { _ in
        log.withLock { $0.append("begin \(level)") }
        promises[level + 1].succeed(0)
        log.withLock { $0.append("end \(level)") }
      }
    }
    promises[0].succeed(0)
    let nested = (0..<16).map { "begin \($0)" } + (0..<16).reversed().map { "end \($0)" }
    #expect(log.withLock { $0 } == nested + ["begin 16", "begin 17", "end 17", "end 16"])
  }

  @Test("R6: a chain of map stages resolves")
  func mapChain() {
    onThread {
      let promise = Promise<Int, any Error>()
      let before = AllocationCounts.ofThread().liveBlocks
      do {
        var future = promise.future
        for _ in 0..<Self.count { future = future.map { $0 + 1 } }
        promise.succeed(0)
        #expect(try! future.peek()?.get() == Self.count)
      }
      #expect(AllocationCounts.ofThread().liveBlocks - before < 100)
    }
  }

  @Test("R6: a chain of map stages is released unresolved, and leaves no memory behind")
  func releasedChain() {
    @Sendable func release<Failure: Error>(_: Failure.Type, length: Int) {
      var promise: Promise<Int, Failure>? = Promise()
      var future = promise!.future
      for _ in 0..<length { future = future.map { $0 + 1 } }
      promise = nil
      #expect(future.isResolved == (Failure.self == (any Error).self))
    }
    onThread {
      let left = leastBlocksLeft(count: Self.count) { length in
        release(Never.self, length: length)
        release((any Error).self, length: length)
      }
      #expect(left <= 0)
    }
  }

  @Test(
    "R6: a long chain of followers resolves and is released, with and without its promises",
    arguments: [false, true]
  )
  func followerChain(isDropped: Bool) {
    onThread {
      let source = Promise<Int, Never>()
      let last: Future<Int, Never>
      var kept: [Promise<Int, Never>] = []
      do {
        let promises = (0..<Self.count).map { _ in Promise<Int, Never>() }
        for index in 1..<promises.count { promises[index].follow(promises[index - 1].future) }
        promises[0].follow(source.future)
        last = promises[promises.count - 1].future
        if !isDropped { kept = promises }
      }
      source.succeed(1)
      #expect(last.peek() == .success(1))
      withExtendedLifetime(kept) {}
    }
  }

  @Test(
    "R6, R19: recursion through futures takes no stack and no memory, also with a listener to its progress",
    arguments: Recursion.allCases,
    [false, true]
  )
  private func recursionStaysFlat(recursion: Recursion, hasListener: Bool) {
    onThread {
      let held = HeldContext()
      let peak = MemoryGrowth()
      let future = recursion.countDown(from: Self.count, on: held, noting: peak)
      // A promise that follows keeps the progress that a listener has asked for.
      if hasListener, !Recursion.followers.contains(recursion) { future.whenProgressed(on: .immediate) { _ in } }
      #expect(future.isResolved == Recursion.resolvingAtOnce.contains(recursion), "\(recursion)")
      held.runAll()
      #expect(try! future.peek()?.get() == 0, "\(recursion)")
      #expect(peak.growth < 64 * 1024, "\(recursion), listener: \(hasListener)")
    }
  }

  @Test(
    "R6: recursion through callbacks of resolved futures takes no stack and no memory, even on a user-defined context",
    arguments: [false, true]
  )
  func callbackRecursionStaysFlat(hasOwnContext: Bool) {
    let context = hasOwnContext ? ExecutionContext { work in work() } : .immediate
    @Sendable func f(_ n: Int, _ peak: MemoryGrowth, _ done: @escaping @Sendable () -> Void) {
      peak.note()
      guard n > 0 else { return done() }
      Future<Int, any Error>.succeeded(n).whenResolved(on: context) { _ in f(n - 1, peak, done) }
    }
    onThread {
      let peak = MemoryGrowth()
      let log = Recorder<Int>()
      f(Self.count, peak) { log.record(1) }
      #expect(log.events == [1], "own context: \(hasOwnContext)")
      #expect(peak.growth < 64 * 1024, "own context: \(hasOwnContext)")
    }
  }

  /// The stack that Rules.md promises for a debug and for a release build; a sanitizer needs more.
  #if ASAN || TSAN
    static let smallStack = 512 * 1024
  #elseif DEBUG
    static let smallStack = 192 * 1024
  #else
    static let smallStack = 64 * 1024
  #endif

  @Test("R6: user code that nests as deep as the library lets it fits into a small stack", arguments: Nest.allCases)
  private func nestsFitIntoSmallStack(nest: Nest) {
    onThread(stackSize: Self.smallStack) { nest.run(levels: Self.count) }
  }

  @Test("R7: removals in deinitializers, each caused by the one before, nest 250 deep on a stack of 512 KiB")
  func nestedRemovals() {
    final class Removing: Sendable {
      private let registration: Registration
      init(_ registration: Registration) { self.registration = registration }
      deinit { registration.remove() }
      func use() {}
    }
    onThread {
      let promise = Promise<Int, any Error>()
      let source = CancellationTokenSource()
      let log = Recorder<Int>()
      var (last, lastHandler) = (promise.future.whenResolved(on: .immediate) { _ in }, source.token.register {})
      for _ in 0..<250 {
        let (removing, removingHandler) = (Removing(last), Removing(lastHandler))
        last = promise.future.whenResolved(on: .immediate) { _ in
          removing.use()
          log.record(1)
        }
        lastHandler = source.token.register {
          removingHandler.use()
          log.record(2)
        }
      }
      last.remove()
      lastHandler.remove()
      #expect(!promise.future.hasConsumers)
      promise.succeed(1)
      source.cancel()
      #expect(log.events == [])
    }
  }

  @Test("R6: recursions that take turns on one thread keep no memory, either")
  func recursionsThatTakeTurns() {
    @Sendable func f(_ n: Int, _ peak: MemoryGrowth) -> Future<Int, any Error> {
      peak.note()
      return n == 0 ? .succeeded(1) : Future<Int, any Error>.succeeded(n).flatMap { _ in f(n - 1, peak) }
    }
    onThread {
      let peak = MemoryGrowth()
      let sum = Future<Int, any Error>.succeeded(1).flatMap { _ in
        let parts = (0..<5).map { _ in f(Self.count / 5, peak) }
        return parts.dropFirst().reduce(parts[0]) { sum, part in sum.flatMap { sum in part.map { sum + $0 } } }
      }
      #expect(try! sum.peek()?.get() == 5)
      #expect(peak.growth < 64 * 1024)
    }
  }
}

/// User code and the library that call each other, as deep as the trampoline allows.
private enum Nest: CaseIterable, Sendable {
  case callbacks, contexts, drops

  func run(levels: Int) {
    let promises = (0..<levels).map { _ in Promise<Int, any Error>() }
    switch self {
    case .callbacks:
      for level in 1..<levels {
        promises[level - 1].future.whenResolved(on: .immediate) { _ in promises[level].succeed(1) }
      }
      promises[0].succeed(1)
      #expect(promises[levels - 1].isResolved)
    case .contexts:
      let context = ExecutionContext { work in work() }
      var future = promises[0].future
      for _ in 0..<levels { future = future.map(on: context) { $0 } }
      promises[0].succeed(1)
      #expect(future.isResolved)
    case .drops:
      var last: Promise<Int, any Error>?
      let first = Promise<Int, any Error>()
      let future = first.future
      last = first
      for _ in 0..<levels {
        let next = Promise<Int, any Error>()
        next.future.whenResolved(on: .immediate) { [last] _ in withExtendedLifetime(last) {} }
        last = next
      }
      _ = consume first
      last = nil
      #expect(future.isResolved)
    }
  }
}

/// A function that calls itself through futures until it has counted down to 0.
private enum Recursion: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case readySteps = "flatMap of ready steps"
  case asynchronousSteps = "flatMap of asynchronous steps"
  case readyStepsOnContext = "flatMap of ready steps, on a context"
  case asynchronousStepsOnContext = "flatMap of asynchronous steps, on a context"
  case earlySteps = "flatMap of steps that resolve before the transform returns"
  case following = "promises that follow each other"
  case followingDerived = "promises that follow the results of flatMap"
  case readyErrors = "flatMapError of ready steps"
  case asynchronousErrors = "flatMapError of asynchronous steps"
  case errorsOnContext = "flatMapError on a context"

  static let followers = [following, followingDerived]
  static let resolvingAtOnce = [readySteps, earlySteps, readyErrors]

  var testDescription: String { rawValue }

  /// Counts down from `n`, with the asynchronous work on `held`.
  func countDown(from n: Int, on held: HeldContext, noting peak: MemoryGrowth) -> Future<Int, any Error> {
    peak.note()
    guard n > 0 else { return .succeeded(0) }
    let next: @Sendable (Int) -> Future<Int, any Error> = { _ in countDown(from: n - 1, on: held, noting: peak) }
    switch self {
    case .readySteps: return .succeeded(n).flatMap(next)
    case .readyStepsOnContext: return .succeeded(n).flatMap(on: held.context, next)
    case .asynchronousSteps:
      let promise = Promise<Int, any Error>()
      held.context.submit { promise.succeed(1) }
      return promise.future.flatMap(next)
    case .asynchronousStepsOnContext:
      let promise = Promise<Int, any Error>()
      held.context.submit { promise.succeed(1) }
      return promise.future.flatMap(on: held.context, next)
    case .earlySteps:
      let promise = Promise<Int, any Error>()
      let future = promise.future.flatMap(next)
      promise.succeed(1)
      return future
    case .following:
      let promise = Promise<Int, any Error>()
      held.context.submit { promise.follow(next(n)) }
      return promise.future
    case .readyErrors: return .failed(TestError(n)).flatMapError { _ in next(n) }
    case .errorsOnContext: return .failed(TestError(n)).flatMapError(on: held.context) { _ in next(n) }
    case .asynchronousErrors:
      let promise = Promise<Int, any Error>()
      held.context.submit { promise.fail(TestError(n)) }
      return promise.future.flatMapError { _ in next(n) }
    case .followingDerived:
      let (promise, step) = (Promise<Int, any Error>(), Promise<Int, any Error>())
      held.context.submit { promise.follow(step.future.flatMap(next)) }
      held.context.submit { step.succeed(1) }
      return promise.future
    }
  }
}
