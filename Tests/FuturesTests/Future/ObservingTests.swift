import Dispatch
import Futures
import TestSupport
import Testing

struct ObservingTests {
  @Test("R2: a callback that another thread attaches during the delivery runs after the earlier callbacks")
  func attachedByAnotherThreadDuringDelivery() {
    let promise = Promise<Int, TestError>()
    let log = Recorder<String>()
    let future = promise.future
    future.whenResolved(on: .immediate) { _ in
      log.record("a")
      race([{ future.whenResolved(on: .immediate) { _ in log.record("c") } }])
    }
    future.whenResolved(on: .immediate) { _ in log.record("b") }
    promise.succeed(1)
    #expect(log.events == ["a", "b", "c"])
  }

  @Test("R2: a callback that was deferred for its depth is not overtaken by one that is attached less deep")
  func deferredIsNotOvertaken() {
    let log = Recorder<Int>()
    // At the last of these depths, one of the two callbacks is at the maximum depth and the other above it.
    for depth in 1...15 {
      nestDeliveries(depth) {
        let future = Future.succeeded(1)
        Future.succeeded(2).whenResolved(on: .immediate) { _ in
          future.whenResolved(on: .immediate) { _ in log.record(0) }
        }
        future.whenResolved(on: .immediate) { _ in log.record(1) }
      }
    }
    #expect(log.events == Array(repeating: [0, 1], count: 15).flatMap { $0 })
  }

  @Test("R2: on a serial queue, callbacks and transforms are submitted at once and in order, at any depth of callbacks")
  func orderOnSerialQueueAtAnyDepth() {
    let queue = DispatchQueue(label: "serial")
    let (log, submitted) = (Recorder<Int>(), Recorder<Int>())
    for depth in 1...20 {
      nestDeliveries(depth) {
        let future = Future.succeeded(1)
        _ = future.map(on: .queue(queue)) { _ in log.record(0) }
        future.whenResolved(on: .queue(queue)) { _ in log.record(1) }
        // A callback can wait for work of another queue.
        queue.sync {}
        submitted.record(log.events.count)
      }
    }
    #expect(submitted.events == (1...20).map { 2 * $0 })
    #expect(log.events == Array(repeating: [0, 1], count: 20).flatMap { $0 })
  }

  @Test("R2a: a context that runs its work twice runs the callback or transform once", arguments: [false, true])
  func contextRunsWorkTwice(isResolvedBefore: Bool) {
    let (held, log, promise) = (HeldContext(), Recorder<Int>(), Promise<Int, Never>())
    if isResolvedBefore { promise.succeed(1) }
    promise.future.whenResolved(on: held.context) { _ in log.record(1) }
    _ = promise.future.map(on: held.context) { _ in log.record(2) }
    promise.future.whenProgressed(on: held.context) { progress in log.record(3 + Int(progress.fractionCompleted)) }
    promise.succeed(1)
    while held.count > 0 { held.runFirst(times: 2) }
    #expect(log.events.sorted() == (isResolvedBefore ? [1, 2, 4] : [1, 2, 3, 4]))
  }

  @Test("R3: a callback and a deinitializer that it triggers can use the same future")
  func callbackUsesItsOwnFuture() {
    final class Reentrant: Sendable {
      let future: Future<Int, TestError>
      let log: Recorder<String>
      init(_ future: Future<Int, TestError>, _ log: Recorder<String>) { (self.future, self.log) = (future, log) }
      deinit { future.whenResolved(on: .immediate) { [log] _ in log.record("from deinit") } }
    }
    let log = Recorder<String>()
    let promise = Promise<Int, TestError>()
    let registration: Registration
    do {
      let object = Reentrant(promise.future, log)
      registration = promise.future.whenResolved(on: .immediate) { _ in _ = object }
    }
    registration.remove()
    promise.future.whenResolved(on: .immediate) { [future = promise.future] _ in
      #expect(!promise.succeed(2))
      #expect(future.peek() == .success(1))
      future.map { $0 }.whenResolved(on: .immediate) { _ in log.record("nested") }
    }
    promise.succeed(1)
    #expect(log.events == ["from deinit", "nested"])
  }
}
