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
    Operator("all", sum) { made in
      let ticket = made.transform()
      return GraphFuture.all([made.first, made.second]).map { ticket.value($0[0].number &+ $0[1].number) }
    },
    Operator("zip", sum) { made in
      let ticket = made.transform()
      return Future<(TrackedValue, TrackedValue), any Error>.zip(made.first, made.second)
        .map { ticket.value($0.0.number &+ $0.1.number) }
    },
    Operator("allOrErrors", sum) { made in
      let ticket = made.transform()
      return GraphFuture.allOrErrors([made.first, made.second])
        .map { ticket.value($0[0].number &+ $0[1].number) }
        .mapError { $0.errors[0] }
    },
    Operator("allSettled", { first, second in [second, first] }) { made in
      let index = made.random(below: 2)
      return GraphFuture.allSettled([made.first, made.second]).setFailureType(to: (any Error).self)
        .flatMap { .resolved($0[index]) }
    },
    Operator("allOptional", sumOfValues) { made in
      let ticket = made.transform()
      return GraphFuture.allOptional([made.first, made.second]).setFailureType(to: (any Error).self)
        .map { values in ticket.value(values.reduce(0) { $0 &+ ($1?.number ?? 0) }) }
    },
    Operator("allSucceeding", sumOfValues) { made in
      let ticket = made.transform()
      return GraphFuture.allSucceeding([made.first, made.second]).setFailureType(to: (any Error).self)
        .map { values in ticket.value(values.reduce(0) { $0 &+ $1.number }) }
    },
    Operator("race", { first, second in [first, second] }) { made in
      GraphFuture.race([made.first, made.second])
    },
    Operator(
      "firstSuccess",
      { first, second in
        first.number == nil && second.number == nil ? [first] : [first, second].filter { $0.number != nil }
      }
    ) { made in
      GraphFuture.firstSuccess([made.first, made.second]).mapError { $0.errors[0] }
    },
  ]

  static let sequencing = [
    Operator("reduce", sum) { made in
      let (start, ticket) = (made.transform().value(0), made.closure())
      return GraphFuture.reduce(start, [made.first, made.second]) { ticket.value($0.number &+ $1.number) }
    },
    Operator("serial", sum) { made in
      let (ticket, sum) = (made.closure(), made.transform())
      return GraphFuture.serial([made.first, made.second]) { future in
        ticket.run()
        return future
      }
      .map { sum.value($0[0].number &+ $0[1].number) }
    },
    Operator("concurrent", { first, second in Outcome.both(first, second) { $0 &* 2 &+ $1 } }) { made in
      let (ticket, sum) = (made.closure(), made.transform())
      return GraphFuture.concurrent([made.first, made.second, made.first], limit: 2) { future in
        ticket.run()
        return future
      }
      .map { values in sum.value(values.reduce(0) { $0 &+ $1.number }) }
    },
    // A cancelled retry ends with the failure of the last attempt.
    Operator("retry", { first, second in first.number == nil ? [second, first] : [first] }) { made in
      let (site, ticket) = (made.site(), made.closure())
      let (first, second) = (made.first, made.second)
      let delay = [RetryDelay.none, .constant(.microseconds(100)), .custom { .microseconds($0) }][made.random(below: 3)]
      return GraphFuture.retry(attempts: 3, delay: delay, on: site.context) {
        ticket.run()
        return ticket.record.runs > 1 ? second : first
      }
    },
  ]
}
