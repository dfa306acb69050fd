import Futures

/// Random futures that depend on each other, with callbacks.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Graph: Sendable {
  let places: [Place<TrackedValue>]
  let nodes: [Node]
  let attachments: [Attachment]

  /// Makes a graph in `size` steps, of which most derive a future, and the others attach a callback; `worker` makes the futures.
  init(size: Int, _ worker: Worker) {
    let promises = max(2 + worker.random(below: 4), size / 20)
    let places = (0..<promises).map { _ in Place<TrackedValue>() }
    for (index, place) in places.enumerated() {
      let node = worker.add("promise \(index)", place.future)
      guard worker.random(below: 3) == 0 else { continue }  // a third of the promises has a handler
      let ticket = worker.ticket("the onCancel handler", node: node.number, .atMostOnce)
      place.promise?.onCancel { ticket.run() }
    }
    worker.add("a value", .succeeded(TrackedValue(7, worker.surroundings.alive)))
    worker.add("a failure", .failed(Refused()))
    var attachments: [Attachment] = []
    for _ in 0..<size {
      if worker.random(below: 17) < 6 {
        attachments.append(worker.attach(to: worker.randomNode()))
      } else {
        worker.derive(from: worker.randomNode(), worker.randomNode())
      }
    }
    self.places = places
    self.attachments = attachments
    nodes = worker.product.nodes
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Worker {
  /// One of the worker's futures; half of the time one of the newest, so that chains become long.
  fileprivate func randomNode() -> Node {
    let count = product.nodes.count
    return product.nodes[random(below: 2) == 0 ? random(below: count) : count - 1 - random(below: min(count, 3))]
  }
}
