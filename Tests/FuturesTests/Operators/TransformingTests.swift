import AllocationCounter
import Dispatch
import Futures
import TestSupport
import Testing

@Suite("map and flatMap")
struct TransformingTests {
  /// The source of a test: made resolved, or resolved by a promise before or after the derivation.
  enum Source: CaseIterable, Sendable {
    case ready, promiseBefore, promiseAfter
  }

  @Test(
    "A derived inner future without another handle is private; its result reaches the outer future",
    arguments: Source.allCases
  )
  func flatMapDerived(source: Source) {
    let inner = Promise<Int, TestError>()
    let promise = Promise<Int, TestError>()
    if source == .promiseBefore { promise.succeed(1) }
    let derived = (source == .ready ? .succeeded(1) : promise.future).flatMap { _ in
      inner.future.map { "\($0)" }.flatMap { text in inner.future.map { text + "\($0)" } }
    }
    promise.succeed(1)
    let log = Recorder<String>()
    let registration = derived.whenSucceeded(on: .immediate) { log.record($0) }
    derived.whenSucceeded(on: .immediate) { log.record("second " + $0) }
    #expect(registration.remove())
    inner.succeed(4)
    #expect(log.events == ["second 44"])
    #expect(derived.peek() == .success("44"))
  }

  @Test("A stage on a context resolves the stages after it, also as a private one", arguments: [false, true])
  func privateStageOnContext(outerIsOnContext: Bool) {
    let held = HeldContext()
    let (outer, inner) = (Promise<Int, TestError>(), Promise<Int, TestError>())
    let context = outerIsOnContext ? held.context : .immediate
    let mapped = outer.future.flatMap(on: context) { _ in inner.future.map(on: held.context) { $0 + 1 } }
    let flatMapped = outer.future.flatMap(on: context) { _ in
      inner.future.flatMap(on: held.context) { .succeeded($0 + 2) }
    }
    let follower = Promise<Int, TestError>()
    follower.follow(inner.future.map(on: held.context) { $0 + 3 })
    outer.succeed(1)
    held.runAll()
    inner.succeed(41)
    held.runAll()
    #expect(mapped.peek() == .success(42))
    #expect(flatMapped.peek() == .success(43))
    #expect(follower.future.peek() == .success(44))
  }

  @Test("R2a: a context that runs its work twice runs the transform once")
  func contextRunsTransformTwice() {
    let held = HeldContext()
    let log = Recorder<Int>()
    let derived = Future<Int, TestError>.succeeded(1).map(on: held.context) { log.record($0) }
    held.runFirst(times: 2)
    #expect(log.events == [1])
    #expect(derived.isResolved)
  }

  @Test("A transform that returns its own derived future traps with a message")
  func derivedFollowsItself() async {
    await #expect(processExitsWith: .failure) {
      let promise = Promise<Int, Never>()
      let box = Recorder<Future<Int, Never>>()
      box.record(promise.future.flatMap { _ in box.events[0] })
      promise.succeed(1)
    }
    await #expect(processExitsWith: .failure) {
      let promise = Promise<Int, Never>()
      let box = Locked<Future<Int, Never>?>(nil)
      let derived = promise.future.flatMap { _ in box.withLock { $0.take()! } }
      box.withLock { $0 = derived }
      promise.succeed(1)
    }
  }

  @Test("A resolved future, and futures derived from it inline, allocate nothing")
  func noAllocation() {
    #if !DEBUG
      onThread {
        func run() -> Int {
          let future = Future<Int, TestError>.succeeded(20).map { $0 + 1 }.flatMap { .succeeded($0 * 2) }
          return (try? future.peek()?.get()) ?? 0
        }
        #expect(run() == 42)
        let before = AllocationCounts.ofThread().allocations
        let value = run()
        let after = AllocationCounts.ofThread().allocations
        #expect(after == before)
        #expect(value == 42)
      }
    #endif
  }
}
