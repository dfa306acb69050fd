import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let following = [
    Operator("shielded") { made in made.first.shielded },
    Operator("follow") { made in
      let promise = GraphPromise()
      promise.follow(made.first)
      return promise.future
    },
    Operator("lazy") { made in
      let (ticket, first) = (made.transform(), made.first)
      return GraphFuture.lazy { promise in
        ticket.run()
        promise.follow(first)
      }
    },
    Operator("forward of two futures", { first, second in [first, second] }) { made in
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
    Operator("Future(on:flattening:)") { made in
      let (site, ticket, first) = (made.site(), made.transform(), made.first)
      return GraphFuture(
        on: site.context,
        flattening: {
          ticket.run(at: site)
          return first
        }
      )
    },
  ]
}
