import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of the path of cancellations, R12, R16 and R17, for each operator.
@Suite("Cancellation, operator by operator")
struct CancellationFlowTests {
  /// Promises that note when their futures are cancelled.
  final class Producers: Sendable {
    let cancelled = Recorder<String>()

    func promise<Failure: Error>(_ name: String, _: Failure.Type = (any Error).self) -> Promise<Int, Failure> {
      let promise = Promise<Int, Failure>(name)
      promise.onCancel { [cancelled] in cancelled.record(name) }
      return promise
    }
  }

  let producers = Producers()
  var cancelled: [String] { producers.cancelled.events }

  func isCancelled<Value>(_ future: Future<Value, any Error>) -> Bool {
    if case .failure(let error)? = future.peek() { error is CancellationError } else { false }
  }

  /// Each operator on one source, cancelled while the source is pending.
  static let operators: [(name: String, derive: @Sendable (Future<Int, any Error>) -> Future<Int, any Error>)] = [
    ("map", { $0.map { $0 + 1 } }),
    ("map that throws", { $0.map { value throws in value } }),
    ("map on a queue", { $0.map(on: .global()) { $0 + 1 } }),
    ("flatMap", { $0.flatMap { .succeeded($0) } }),
    ("mapError", { $0.mapError { $0 } }),
    ("flatMapError", { $0.flatMapError { .failed($0) } }),
    ("recover that throws", { $0.recover { error in throw error } }),
    ("tap", { $0.tap(on: .immediate) { _ in } }),
    ("receive", { $0.receive(on: .global()) }),
    ("eraseFailure", { $0.eraseFailure() }),
    ("delay", { $0.delay(by: .seconds(1)) }),
    ("timeout", { $0.timeout(after: .seconds(1_000)) }),
    ("timeout with a fallback", { $0.timeout(after: .seconds(1_000), fallback: 1) }),
    ("cancelled(by:)", { $0.cancelled(by: CancellationTokenSource().token) }),
    ("zip", { Future.zip($0, Future<Int, any Error>.never).map { $0.0 } }),
    ("all", { Future.all([$0, .never]).map { $0[0] } }),
    ("race", { Future.race([.never, $0]) }),
    ("firstSuccess", { Future.firstSuccess([$0]).mapError { $0 } }),
    ("reduce", { Future.reduce(0, [$0], +) }),
    ("serial", { future in Future.serial([1]) { _ in future }.map { $0[0] } }),
    ("concurrent", { future in Future.concurrent([1, 2], limit: 2) { _ in future }.map { $0[0] } }),
    ("retry", { future in Future.retry(attempts: 2) { future } }),
    ("flatMap to it", { future in Future<Int, any Error>.succeeded(1).flatMap { _ in future } }),
    (
      "follow",
      { future in
        let promise = Promise<Int, any Error>()
        promise.follow(future)
        return promise.future
      }
    ),
    (
      "lazy",
      { future in
        let lazy = Future<Int, any Error>.lazy { $0.follow(future) }
        return lazy.map { $0 }
      }
    ),
  ]

  @Test(
    "R16: a cancelled derived future leaves its source and cancels it if no consumer remains",
    arguments: operators.indices
  )
  func lastConsumerCancelsItsSource(index: Int) {
    let (name, derive) = Self.operators[index]
    let promise = producers.promise("source")
    let derived = derive(promise.future)
    #expect(cancelled == [])
    derived.cancel()
    #expect(cancelled == ["source"], "\(name)")
    #expect(isCancelled(derived), "\(name)")
    #expect(promise.isResolved, "\(name)")
  }

  @Test("R16: a source with another consumer is not cancelled", arguments: operators.indices)
  func neededSourceIsNotCancelled(index: Int) {
    let (name, derive) = Self.operators[index]
    let promise = producers.promise("source")
    let log = Recorder<Int>()
    promise.future.whenSucceeded(on: .immediate) { log.record($0) }
    let derived = derive(promise.future)
    derived.cancel()
    #expect(isCancelled(derived), "\(name)")
    #expect(cancelled == [], "\(name)")
    promise.succeed(3)
    #expect(log.events == [3], "\(name)")
    #expect(isCancelled(derived), "\(name)")
  }

  @Test("R14: cancelled operators leave nothing in a long-lived source", arguments: operators.indices)
  func cancelledOperatorsLeaveNothing(index: Int) {
    let (name, derive) = Self.operators[index]
    // Queues allocate for themselves. A `CompositeError` cannot represent cancellation, so its future stays pending.
    if name.contains("queue") || name == "receive" || name == "firstSuccess" { return }
    onThread {
      let promise = Promise<Int, any Error>()
      let source = promise.future
      let registration = source.whenResolved(on: .immediate) { _ in }
      for _ in 0..<10 { derive(source).cancel() }
      let before = AllocationCounts.ofThread().liveBlocks
      for _ in 0..<1_000 { derive(source).cancel() }
      let left = AllocationCounts.ofThread().liveBlocks - before
      // Dispatch frees a timer on a thread of its own.
      #expect(name == "delay" || name.hasPrefix("timeout") ? left < 20_000 : left < 100, "\(name): \(left)")
      registration.remove()
    }
  }

  @Test("R17: an effect that is queued when its stage is cancelled never runs, for every failure type")
  func queuedEffectOfCancelledStageNeverRuns() {
    let held = HeldContext()
    let log = Recorder<String>()
    let promise = Promise<Int, TestError>()
    let needed = promise.future.whenResolved(on: .immediate) { _ in }
    let queued = promise.future.tap(on: held.context) { _ in log.record("queued") }
    let later = promise.future.tap(on: held.context) { _ in log.record("later") }
    let received = promise.future.receive(on: held.context)
    later.cancel()
    promise.succeed(1)
    #expect(later.peek() == .success(1))
    #expect(queued.peek() == nil && received.peek() == nil)
    queued.cancel()
    received.cancel()
    #expect(queued.peek() == .success(1) && received.peek() == .success(1))
    held.runAll()
    #expect(log.events == [])
    needed.remove()
  }
}
