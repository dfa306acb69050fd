import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let following = [
    Operator("shielded", passesCancellation: false) { made in made.first.shielded },
    Operator("follow") { made in
      let promise = GraphPromise()
      promise.follow(made.first)
      return promise.future
    },
    Operator("lazy", passesCancellation: false) { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture.lazy { promise in
        ticket.run()
        promise.follow(first)
      }
    },
    Operator("forward of two futures", { first, second in [first, second] }, passesCancellation: false) { made in
      let promise = GraphPromise()
      made.first.forward(to: promise)
      made.second.forward(to: promise)
      return promise.future
    },
    Operator("a callback that resolves a promise") { made in
      let (promise, site, ticket, first) = (GraphPromise(), made.site(), made.transform(), made.first)
      promise.progress.add(first, share: 0.5)
      promise.onCancel {
        ticket.run()
        first.cancel()
      }
      first.whenResolved(on: site.context) { promise.resolve($0) }
      return promise.future
    },
    Operator("Future(on:flattening:)", passesCancellation: false) { made in
      let (site, ticket, first) = (made.site(), made.transform(), made.first)
      return GraphFuture(
        on: site.context,
        flattening: {
          ticket.run(at: site)
          return first
        }
      )
    },
    Operator("a future of another type", passesCancellation: false) { made in
      GraphFuture(ForeignFuture(future: made.first))
    },
    Operator("PendingPromises, shared", passesCancellation: false) { made in
      let pending = PendingPromises<Int, TrackedValue, any Error>()
      let (first, second) = (made.first, made.second)
      let kept = pending.future(sharing: 1) { first }
      let other = pending.future(sharing: 1) { second }
      if made.random(below: 2) == 0 { other.cancel() }
      // The shared work belongs to `pending` too.
      kept.whenResolved(on: .immediate) { _ in withExtendedLifetime(pending) {} }
      return kept
    },
    Operator("PendingPromises, resolved by a callback", passesCancellation: false) { made in
      let pending = PendingPromises<Int, TrackedValue, any Error>()
      let future = pending.future(for: 1)
      made.first.whenResolved(on: .immediate) { pending.resolve(1, with: $0) }
      return future
    },
  ]
}

/// A future of another library.
private struct ForeignFuture: FutureProtocol {
  let future: GraphFuture

  func forward(to completion: @escaping @Sendable (Result<TrackedValue, any Error>) -> Void) {
    future.whenResolved(on: .global(), completion)
  }
}
