import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let timing = [
    Operator("timeout on a manual context", { first, _ in [first, .timedOut] }) { use in
      use.first.timeout(after: use.delay(upTo: .milliseconds(5)), on: use.surroundings.manualContext)
    },
    Operator("timeout with a failure", { first, _ in [first, .refused] }) { use in
      let ticket = use.ticket()
      return use.first.timeout(after: use.delay(upTo: .milliseconds(3)), failingWith: ticket.refusal())
    },
    Operator("timeout with a fallback", { first, _ in [first, .value(0)] }) { use in
      let ticket = use.ticket()
      let delay = use.delay(upTo: .milliseconds(5))
      return use.first.timeout(after: delay, on: use.surroundings.manualContext, fallback: ticket.value(0))
    },
    Operator("delay on a manual context") { use in
      use.first.delay(by: use.delay(upTo: .milliseconds(5)), on: use.surroundings.manualContext)
    },
    Operator("delay") { use in
      use.first.delay(by: use.delay(upTo: .microseconds(100)), on: use.site().context)
    },
    Operator("cancelled(by:)") { use in use.first.cancelled(by: use.surroundings.token.token) },
    Operator("after, then the future") { use in
      let (ticket, first) = (use.ticket(), use.first)
      return Future<Void, Never>.after(use.delay(upTo: .microseconds(500))).flatMap {
        ticket.run()
        return first
      }
    },
  ]
}

extension Ticket {
  /// Notes a run of the autoclosure that calls this function, and returns the failure of the timeout.
  fileprivate func refusal() -> any Error {
    run()
    return Refused()
  }
}
