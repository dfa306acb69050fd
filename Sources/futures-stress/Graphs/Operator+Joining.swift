import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  /// The outcomes of a join that needs both values.
  private static let sum: @Sendable (Outcome, Outcome) -> [Outcome] = { Outcome.both($0, $1) { $0 &+ $1 } }

  /// The outcomes of a join that leaves out failures.
  private static let sumOfValues: @Sendable (Outcome, Outcome) -> [Outcome] = { first, second in
    [.value((first.number ?? 0) &+ (second.number ?? 0))]
  }

  static let joining = [
    Operator("all", sum) { use in
      let ticket = use.ticket()
      return GraphFuture.all([use.first, use.second]).map { ticket.value($0[0].number &+ $0[1].number) }
    },
    Operator("zip", sum) { use in
      let ticket = use.ticket()
      return Future<(TrackedValue, TrackedValue), any Error>.zip(use.first, use.second)
        .map { ticket.value($0.0.number &+ $0.1.number) }
    },
    Operator("allOrErrors", sum) { use in
      let ticket = use.ticket()
      return GraphFuture.allOrErrors([use.first, use.second])
        .map { ticket.value($0[0].number &+ $0[1].number) }
        .mapError { $0.errors[0] }
    },
    Operator("allSettled", { first, second in [second, first] }) { use in
      let index = use.random(below: 2)
      return GraphFuture.allSettled([use.first, use.second]).setFailureType(to: (any Error).self)
        .flatMap { .resolved($0[index]) }
    },
    Operator("allOptional", sumOfValues) { use in
      let ticket = use.ticket()
      return GraphFuture.allOptional([use.first, use.second]).setFailureType(to: (any Error).self)
        .map { values in ticket.value(values.reduce(0) { $0 &+ ($1?.number ?? 0) }) }
    },
    Operator("allSucceeding", sumOfValues) { use in
      let ticket = use.ticket()
      return GraphFuture.allSucceeding([use.first, use.second]).setFailureType(to: (any Error).self)
        .map { values in ticket.value(values.reduce(0) { $0 &+ $1.number }) }
    },
    Operator("race", { first, second in [first, second] }) { use in
      GraphFuture.race([use.first, use.second])
    },
    Operator(
      "firstSuccess",
      { first, second in
        first.number == nil && second.number == nil ? [first] : [first, second].filter { $0.number != nil }
      }
    ) { use in
      GraphFuture.firstSuccess([use.first, use.second]).mapError { $0.errors[0] }
    },
  ]

  static let sequencing = [
    Operator("reduce", sum) { use in
      let (start, ticket) = (use.ticket().value(0), use.ticketForRepeats())
      return GraphFuture.reduce(start, [use.first, use.second]) { ticket.value($0.number &+ $1.number) }
    },
    Operator("serial", sum) { use in
      let (ticket, sum) = (use.ticketForRepeats(), use.ticket())
      return GraphFuture.serial([use.first, use.second]) { future in
        ticket.run()
        return future
      }
      .map { sum.value($0[0].number &+ $0[1].number) }
    },
    Operator("concurrent", { first, second in Outcome.both(first, second) { $0 &* 2 &+ $1 } }) { use in
      let (ticket, sum) = (use.ticketForRepeats(), use.ticket())
      return GraphFuture.concurrent([use.first, use.second, use.first], limit: 2) { future in
        ticket.run()
        return future
      }
      .map { values in sum.value(values.reduce(0) { $0 &+ $1.number }) }
    },
    // A cancelled retry ends with the failure of the last attempt.
    Operator("retry", { first, second in first.number == nil ? [second, first] : [first] }) { use in
      let (site, ticket) = (use.site(), use.ticketForRepeats())
      let (first, second) = (use.first, use.second)
      let delay = [RetryDelay.none, .constant(.microseconds(100)), .custom { .microseconds($0) }][use.random(below: 3)]
      return GraphFuture.retry(attempts: 3, delay: delay, on: site.context) {
        ticket.run()
        return ticket.record.runs > 1 ? second : first
      }
    },
  ]
}
