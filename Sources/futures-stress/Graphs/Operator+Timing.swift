import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let timing = [
    Operator("timeout on a manual context", { first, _ in [first, .timedOut] }) { made in
      made.first.timeout(after: made.delay(upTo: .milliseconds(5)), on: made.surroundings.manualContext)
    },
    Operator("timeout with a failure", { first, _ in [first, .refused] }) { made in
      let ticket = made.transform()
      return made.first.timeout(after: made.delay(upTo: .milliseconds(3)), failingWith: ticket.refusal())
    },
    Operator("timeout with a fallback", { first, _ in [first, .value(0)] }) { made in
      let ticket = made.transform()
      let delay = made.delay(upTo: .milliseconds(5))
      return made.first.timeout(after: delay, on: made.surroundings.manualContext, fallback: ticket.value(0))
    },
    Operator("delay on a manual context") { made in
      made.first.delay(by: made.delay(upTo: .milliseconds(5)), on: made.surroundings.manualContext)
    },
    Operator("delay") { made in
      made.first.delay(by: made.delay(upTo: .microseconds(100)), on: made.site().context)
    },
    Operator("cancelled(by:)") { made in made.first.cancelled(by: made.surroundings.token.token) },
    Operator("after, then the future") { made in
      let (ticket, first) = (made.transform(), made.first)
      return Future<Void, Never>.after(made.delay(upTo: .microseconds(500))).flatMap {
        ticket.run()
        return first
      }
    },
  ]
}

extension Ticket {
  fileprivate func refusal() -> any Error {
    run()
    return Refused()
  }
}
