import Futures

/// Checks that cancelling the end of a random chain cancels its source before `cancel()` returns (R15, R16).
///
/// No other thread uses the chain, so its outcome does not depend on time.
enum CancellationProbe {
  static func faults(_ worker: Worker) -> [Fault] {
    let promise = GraphPromise()
    let source = worker.add("the source of a chain", promise.future)
    let ticket = worker.ticket("the onCancel handler of a pending promise", node: source.origin.number, .once)
    promise.onCancel { ticket.run() }
    worker.hasLongDelays = true
    defer { worker.hasLongDelays = false }
    var end = source
    for _ in 0...worker.random(below: 6) {
      end = worker.derive(by: Operator.passingCancellation, from: end, end)
    }
    // A consumer that leaves without being cancelled does not cancel the source.
    worker.attach(to: end).remove()
    guard !source.future.isResolved else {
      return [Fault("removing a callback cancelled the source", node: end.origin.number)]
    }
    end.future.cancel()
    return withExtendedLifetime(promise) {
      source.future.isResolved ? [] : [Fault("cancelling it did not cancel its source", node: end.origin.number)]
    }
  }
}
