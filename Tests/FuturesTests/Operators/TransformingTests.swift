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

    func run(
      _ result: Result<Int, TestError>,
      _ derive: (Future<Int, TestError>) -> Future<String, TestError>
    ) -> Result<String, TestError>? {
      let promise = Promise<Int, TestError>()
      if self == .promiseBefore { promise.resolve(result) }
      let derived = derive(self == .ready ? .resolved(result) : promise.future)
      promise.resolve(result)
      return derived.peek()
    }
  }

  @Test("A transform can throw the failure", arguments: Source.allCases)
  func throwingTransforms(source: Source) {
    let map: @Sendable (Int) throws(TestError) -> String = { value throws(TestError) in
      if value > 1 { throw TestError(value) }
      return "\(value)"
    }
    let flatMap: @Sendable (Int) throws(TestError) -> Future<String, TestError> = { value throws(TestError) in
      .succeeded(try map(value))
    }
    #expect(source.run(.success(1)) { $0.map(map) } == .success("1"))
    #expect(source.run(.success(2)) { $0.map(map) } == .failure(TestError(2)))
    #expect(source.run(.success(1)) { $0.flatMap(flatMap) } == .success("1"))
    #expect(source.run(.success(2)) { $0.flatMap(flatMap) } == .failure(TestError(2)))
    #expect(source.run(.failure(TestError(3))) { $0.flatMap(flatMap) } == .failure(TestError(3)))
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

  @Test("Transforms run on their context, and failures pass without a hop")
  func transformsRunOnTheirContext() {
    let held = HeldContext()
    let source = Promise<Int, TestError>()
    let mapped = source.future.map(on: held.context) { $0 + 1 }
    let flatMapped = source.future.flatMap(on: held.context) { value in mapped.map { $0 + value } }
    let failed = Future<Int, TestError>.failed(TestError(1)).map(on: held.context) { $0 }
    #expect(failed.peek() == .failure(TestError(1)))
    source.succeed(1)
    #expect(held.count == 2)
    #expect(mapped.peek() == nil)
    held.runAll()
    #expect(mapped.peek() == .success(2))
    #expect(flatMapped.peek() == .success(3))
    let ready = Future<Int, TestError>.succeeded(1).map(on: held.context) { $0 + 1 }
    #expect(ready.peek() == nil)
    held.runFirst(times: 2)
    #expect(ready.peek() == .success(2))
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
