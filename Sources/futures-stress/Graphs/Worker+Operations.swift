import Dispatch
import Futures
import FuturesAsync

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Worker {
  /// Performs random operations on a graph that other threads use too.
  func operate(on graph: Graph, count: Int) {
    for _ in 0..<count { operate(on: graph) }
  }

  private func operate(on graph: Graph) {
    let place = graph.places[random(below: graph.places.count)]
    let node = graph.nodes[random(below: graph.nodes.count)]
    let future = node.future
    switch random(below: 24) {  // the size of each range is the frequency of its operation
    case 0...2: place.takePromise()?.succeed(TrackedValue(random(below: 1_000), surroundings.alive))
    case 3: place.promise?.fail(Refused())  // keeps the promise, so that later operations resolve it again
    case 4: _ = place.takePromise()  // drops it
    case 5: place.takePromise()?.follow(.succeeded(TrackedValue(1, surroundings.alive)))
    case 6...7: future.cancel()
    case 8...9:
      if !graph.attachments.isEmpty { graph.attachments[random(below: graph.attachments.count)].remove() }
    case 10...11: place.promise?.progress.report(fraction: Double(random(below: 100)) / 100)
    case 12...13: surroundings.advance(by: .milliseconds(1))
    case 14:
      if random(below: 20) == 0 { surroundings.token.cancel() }  // rarely: all futures share the token
    case 15: _ = (future.currentProgress, future.isResolved)
    case 16: _ = future.wait(timeout: .microseconds(random(below: 50)))
    case 17...18: awaitResult(of: node)
    case 19: readProgress(of: node)
    case 20: attachReentrant(to: node)
    case 21: attach(to: node)
    case 22: attach(to: node).remove()
    default:
      let derived = derive(from: node, graph.nodes[random(below: graph.nodes.count)])
      attach(to: derived)
      if random(below: 2) == 0 { derived.future.cancel() }
    }
  }

  /// Awaits in a task, which can be cancelled; the await must end in any case.
  private func awaitResult(of node: Node) {
    let choice = [AwaitCancellation.abandon, .cancel, .ignore][random(below: 3)]
    let ticket = ticket("an await (\(choice))", node: node.number, .once)
    let future = node.future
    let task = Task {
      _ = try? await future.value(onCancel: choice)
      ticket.run()
    }
    cancelSometimes(task)
  }

  /// Reads the progress in a task, which checks that it does not decrease.
  private func readProgress(of node: Node) {
    let ticket = ticket("a reader of the progress", node: node.number, .once)
    let future = node.future
    let task = Task {
      var last = -1.0
      for await progress in future.progress {
        if progress.fractionCompleted < last { ticket.record.noteMistake("saw the progress decrease to \(progress)") }
        last = progress.fractionCompleted
      }
      ticket.run()
    }
    cancelSometimes(task)
  }

  /// Cancels a quarter of the tasks here, and a quarter on another thread.
  private func cancelSometimes(_ task: Task<Void, Never>) {
    switch random(below: 4) {
    case 0: task.cancel()
    case 1: DispatchQueue.global().async { task.cancel() }
    default: break
    }
  }

  /// Attaches a callback that uses its future again: cancels it, which does nothing, and attaches a callback to a derived future.
  private func attachReentrant(to node: Node) {
    let ticket = ticket("a callback that uses its future", node: node.number, .once)
    let inner = self.ticket("a callback that another one attaches", node: node.number, .once)
    let future = node.future
    future.whenResolved(on: .immediate) { _ in
      ticket.run()
      future.cancel()
      future.map { $0 }.whenResolved(on: .immediate) { _ in inner.run() }
    }
  }
}
