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

  @Test(
    "R15, R16: a cancelled operator ends, leaves its source, and cancels the source if no consumer remains",
    arguments: Operator.leavingSource,
    [false, true]
  )
  func cancelledOperatorLeavesSource(operation: Operator, isNeeded: Bool) {
    let it = Surroundings()
    let promise = producers.promise("source")
    let other = isNeeded ? promise.future.whenResolved(on: .immediate) { _ in } : nil
    let derived = operation.derive(promise.future, it)
    let (isTyped, isShield) = (operation.traits.contains(.typed), operation.traits.contains(.shields))
    let stopsSource = operation.traits.contains(.same) || !isShield && !isNeeded
    derived.cancel()
    #expect(cancelled == (stopsSource ? ["source"] : []))
    #expect(promise.isResolved == stopsSource)
    #expect(derived.isCancelled() == !isTyped)
    #expect(derived.isResolved() == (!isTyped || stopsSource))
    promise.succeed(3)
    it.manual.advance(by: .seconds(10))
    #expect(derived.isResolved())
    #expect(derived.isCancelled() == !isTyped)
    other?.remove()
  }

  @Test(
    "R14: cancelled operators leave nothing in a long-lived source",
    arguments: Operator.leavingSource.filter { $0.traits.isDisjoint(with: [.usesDispatch, .same, .typed]) }
  )
  func cancelledOperatorsLeaveNothing(operation: Operator) {
    let it = Surroundings()
    let promise = Promise<Int, any Error>()
    let source = promise.future
    let registration = source.whenResolved(on: .immediate) { _ in }
    let left = CancellationTokenTests.blocksLeft {
      for _ in 0..<1_000 { operation.derive(source, it).cancel() }
      it.manual.advance(by: .seconds(1_000))
    }
    #expect(left < 100)
    registration.remove()
  }

  @Test(
    "R16, R17: work that is queued when its stage is cancelled never runs, is released, and leaves the source alone",
    arguments: Operator.queueing
  )
  func queuedWorkOfCancelledStageNeverRuns(operation: Operator) {
    let promise = producers.promise("source")
    promise.succeed(1)
    let manual = ManualContext()
    weak var captured: Captured?
    let uses: Recorder<Int>
    let derived: AnyFuture
    do {
      let it = Surroundings(manual: manual)
      (captured, uses) = (it.captured, it.captured.uses)
      derived = operation.derive(promise.future, it)
    }
    let before = uses.events.count
    #expect(manual.pendingCount == 1 && !derived.isResolved())
    derived.cancel()
    #expect(derived.isCancelled() && captured == nil && cancelled == [])
    manual.advance(by: .seconds(10))
    #expect(uses.events.count == before)
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
