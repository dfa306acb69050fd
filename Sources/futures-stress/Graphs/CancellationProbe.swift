import Futures

/// Cancels the ends of random chains that no other thread uses, so that the outcome does not depend on time.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
enum CancellationProbe {
  /// Checks that cancelling the end of a chain cancels its source before `cancel()` returns (R15, R16).
  static func faults(_ worker: Worker) -> [Fault] {
    let promise = GraphPromise()
    let source = worker.add("the source of a chain", promise.future)
    let ticket = worker.ticket("the onCancel handler of a pending promise", node: source.origin.number, .once)
    promise.onCancel { ticket.run() }
    let end = chain(from: source, worker)
    // Removing a callback is no cancellation: the source must stay pending.
    worker.attach(to: end).remove()
    guard !source.future.isResolved else {
      return [Fault("removing a callback cancelled the source", node: end.origin.number)]
    }
    end.future.cancel()
    return withExtendedLifetime(promise) {
      source.future.isResolved ? [] : [Fault("cancelling it did not cancel its source", node: end.origin.number)]
    }
  }

  /// Cancels a chain whose source is resolved, so that its delays have begun.
  ///
  /// The delays are long: a timer that is not removed keeps its closure, and the check of released closures finds that.
  static func cancelDelays(_ worker: Worker) {
    let value = TrackedValue(1, worker.surroundings.alive)
    chain(from: worker.add("a value", .succeeded(value)), worker).future.cancel()
  }

  private static func chain(from source: Node, _ worker: Worker) -> Node {
    worker.hasLongDelays = true
    defer { worker.hasLongDelays = false }
    var end = source
    for _ in 0...worker.random(below: 6) {
      end = worker.derive(by: Operator.passingCancellation, from: end, end)
    }
    return end
  }
}
