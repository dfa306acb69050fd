import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let following = [
    Operator("shielded") { use in use.first.shielded },
    Operator("follow") { use in
      let promise = GraphPromise()
      promise.follow(use.first)
      return promise.future
    },
    Operator("lazy") { use in
      let (ticket, first) = (use.ticket(), use.first)
      return GraphFuture.lazy { promise in
        ticket.run()
        promise.follow(first)
      }
    },
    Operator("forward of two futures", { first, second in [first, second] }) { use in
      let promise = GraphPromise()
      use.first.forward(to: promise)
      use.second.forward(to: promise)
      return promise.future
    },
    Operator("a callback that resolves a promise") { use in
      let (promise, site, ticket, first) = (GraphPromise(), use.site(), use.ticket(), use.first)
      promise.progress.add(first, share: 0.5)
      promise.onCancel {
        ticket.run()
        first.cancel()
      }
      first.whenResolved(on: site.context) { promise.resolve($0) }
      return promise.future
    },
    Operator("Future(on:flattening:)") { use in
      let (site, ticket, first) = (use.site(), use.ticket(), use.first)
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
