import AllocationCounter
import Dispatch
import Futures
import TestSupport
import Testing

struct RecoveringTests {
  typealias Source = TransformingTests.Source

  // MARK: - Failure types

  @Test(
    "R4: when a typed future breaks, its erased future fails, and the other futures stay pending",
    arguments: [false, true]
  )
  func eraseBroken(isDroppedBefore: Bool) throws {
    var promise: Promise<Int, TestError>? = Promise("typed")
    let source = promise!.future
    if isDroppedBefore { promise = nil }
    let erased = source.eraseFailure()
    let mapped = source.mapError { $0 as any Error }
    let handled = [
      source.recover { _ in 1 }, source.materialize().map { _ in 1 }, source.map { $0 }.recover { _ in 2 },
    ]
    promise = nil
    for (index, future) in [erased, mapped].enumerated() {
      let error = try #require(throws: BrokenPromise.self, "future \(index)") { try future.peek()?.get() }
      #expect(error.label == "typed", "future \(index)")
    }
    for future in handled { #expect(future.peek() == nil) }
  }

  @Test("A future that cannot fail takes any failure type, and flatMap connects it with futures that can fail")
  func neverConvertsBothWays() {
    let held = HeldContext()
    let promise = Promise<Int, Never>()
    let typed: Future<Int, TestError> = promise.future.setFailureType()
    let named = promise.future.setFailureType(to: OtherError.self)
    let failing = promise.future.flatMap { value -> Future<Int, TestError> in .failed(TestError(value)) }
    let onContext = promise.future.flatMap(on: held.context) { value -> Future<Int, OtherError> in .succeeded(value) }
    let safe = typed.flatMap { value -> Future<String, Never> in .succeeded("\(value)") }
    let skipped = failing.flatMap(on: held.context) { value -> Future<String, Never> in .succeeded("\(value)") }
    #expect(!typed.isResolved && !failing.isResolved)
    promise.succeed(1)
    #expect(typed.peek() == .success(1))
    #expect(named.peek() == .success(1))
    #expect(failing.peek() == .failure(TestError(1)))
    #expect(skipped.peek() == .failure(TestError(1)))
    #expect(safe.peek() == .success("1"))
    #expect(onContext.peek() == nil)
    held.runAll()
    #expect(onContext.peek() == .success(1))
    #expect(Future.succeeded(2).setFailureType(to: TestError.self).peek() == .success(2))
    #expect(
      Future.succeeded(2).flatMap { Future<Int, TestError>.failed(TestError($0)) }.peek() == .failure(TestError(2))
    )
  }

  // MARK: - Contexts

  @Test(
    "tap runs its effect on the context, with any result, before the derived future is resolved",
    arguments: Source.allCases
  )
  func tapRunsBeforeResolution(source: Source) {
    for result in [.success(1), .failure(TestError(2))] as [Result<Int, TestError>] {
      let held = HeldContext()
      let log = Recorder<Result<Int, TestError>>()
      let derived = Locked<Future<Int, TestError>?>(nil)
      let atOnce = source.outcome(result) { source in
        let tapped = source.tap(on: held.context) { result in
          log.record(result)
          #expect(derived.withLock { $0 }?.isResolved == false, "\(result)")
        }
        derived.withLock { $0 = tapped }
        return tapped
      }
      #expect(atOnce == nil, "\(result)")
      #expect(log.events.isEmpty, "\(result)")
      held.runAll()
      #expect(log.events == [result], "\(result)")
      #expect(derived.withLock { $0.take() }?.peek() == result, "\(result)")
      let immediate = source.outcome(result) { $0.tap(on: .immediate) { log.record($0) } }
      #expect(immediate == result, "\(result)")
      #expect(log.events == [result, result], "\(result)")
    }
  }

  @Test(
    "R2a, R5: an effect whose context drops it breaks the derived future; an unreferenced stage still runs its effect"
  )
  func droppedEffects() {
    let held = HeldContext()
    let log = Recorder<Int>()
    let tapped = Future<Int, any Error>.succeeded(1).tap(on: held.context) { _ in log.record(1) }
    let received = Future<Int, any Error>.succeeded(1).receive(on: held.context)
    held.dropAll()
    for future in [tapped, received] { #expect(throws: BrokenPromise.self) { try future.peek()?.get() } }
    let promise = Promise<Int, TestError>()
    _ = promise.future.tap(on: held.context) { _ in log.record(2) }
    promise.succeed(1)
    held.runFirst(times: 2)
    #expect(log.events == [2])
  }

  @Test("tap and receive reach the main actor, with closures that need no annotation")
  @MainActor
  func mainActor() async {
    let model = Model()
    let promise = Promise<Int, TestError>()
    let stages = promise.future.tap(on: .main) { model.results.append($0) }
      .tap(on: .mainImmediate) { _ in
        MainActor.preconditionIsolated()
        model.results.append(.success(2))
      }
    DispatchQueue.global().async { promise.fail(TestError(1)) }
    let received = stages.receive(on: .main).map(on: .global()) { $0 }.receive(on: .mainImmediate)
    await withCheckedContinuation { continuation in
      received.whenResolved(on: .immediate) { result in
        MainActor.assumeIsolated { model.results.append(result) }
        continuation.resume()
      }
    }
    #expect(model.results == [.failure(TestError(1)), .success(2), .failure(TestError(1))])
    let immediate = Future<Int, TestError>.succeeded(3).tap(on: .mainImmediate) { model.results.append($0) }
    #expect(immediate.receive(on: .mainImmediate).peek() == .success(3))
    #expect(model.results.last == .success(3))
  }

  // MARK: - Cost
}

/// An error of another type than the source's.
private struct OtherError: Error, Equatable {
  let text: String
}

@MainActor private final class Model {
  var results: [Result<Int, TestError>] = []
}

extension TransformingTests.Source {
  /// Returns the result of a derived future whose source has `result`.
  fileprivate func outcome<Value, Failure>(
    _ result: Result<Int, TestError>,
    _ derive: (Future<Int, TestError>) -> Future<Value, Failure>
  ) -> Result<Value, Failure>? {
    let promise = Promise<Int, TestError>()
    if self == .promiseBefore { promise.resolve(result) }
    let derived = derive(self == .ready ? .resolved(result) : promise.future)
    promise.resolve(result)
    return derived.peek()
  }
}
