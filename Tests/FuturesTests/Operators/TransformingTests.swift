import AllocationCounter
import Dispatch
import Futures
import TestSupport
import Testing

struct TransformingTests {
  /// The source of a test: made resolved, or resolved by a promise before or after the derivation.
  enum Source: CaseIterable, Sendable {
    case ready, promiseBefore, promiseAfter
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

  @Test("tap runs its effect on the context, with any result, before the derived future is resolved")
  func tapRunsBeforeResolution() {
    for result in [.success(1), .failure(TestError(2))] as [Result<Int, TestError>] {
      let (held, promise, log) = (HeldContext(), Promise<Int, TestError>(), Recorder<Result<Int, TestError>>())
      let derived = Locked<Future<Int, TestError>?>(nil)
      let tapped = promise.future.tap(on: held.context) { result in
        log.record(result)
        #expect(derived.withLock { $0.take() }?.isResolved == false, "\(result)")
      }
      derived.withLock { $0 = tapped }
      promise.resolve(result)
      #expect(log.events.isEmpty && tapped.peek() == nil, "\(result)")
      held.runAll()
      #expect(log.events == [result] && tapped.peek() == result, "\(result)")
    }
  }

  @Test(
    "R4: when a typed future breaks, its erased future fails, and the other futures stay pending",
    arguments: [false, true]
  )
  func eraseBroken(isDroppedBefore: Bool) throws {
    var promise: Promise<Int, TestError>? = Promise("typed")
    let source = promise!.future
    if isDroppedBefore { promise = nil }
    let failing = [source.eraseFailure(), source.mapError { $0 as any Error }]
    let pending = [
      source.recover { _ in 1 }, source.materialize().map { _ in 1 }, source.map { $0 }.recover { _ in 2 },
    ]
    promise = nil
    for (index, future) in failing.enumerated() {
      let error = try #require(throws: BrokenPromise.self, "future \(index)") { try future.peek()?.get() }
      #expect(error.label == "typed", "future \(index)")
    }
    for future in pending { #expect(future.peek() == nil) }
  }

  @Test("A resolved future, and futures derived from it inline, allocate nothing")
  func noAllocation() {
    #if !DEBUG
      onThread {
        func run() -> Int {
          let future = Future<Int, TestError>.succeeded(20).map { $0 + 1 }.flatMap { .succeeded($0 * 2) }
          let failed = Future<Int, TestError>.failed(TestError(20)).mapError { TestError($0.number + 1) }
          let recovered = failed.flatMapError { Future<Int, TestError>.succeeded($0.number) }.recover { _ in 0 }
          let result = recovered.setFailureType(to: TestError.self).materialize().peek()?.get()
          let value = future.tap(on: .immediate) { _ in }.receive(on: .immediate).eraseFailure().ignoreValue()
          var sum = (try? future.peek()?.get()) ?? 0
          if case .success(let number)? = result { sum += number }
          if case .success? = value.peek() { sum += 1 }
          return sum
        }
        #expect(run() == 64)
        let before = AllocationCounts.ofThread().allocations
        let value = run()
        let after = AllocationCounts.ofThread().allocations
        #expect(after == before)
        #expect(value == 64)
      }
    #endif
  }
}
