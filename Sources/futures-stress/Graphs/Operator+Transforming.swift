import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let transforming = [
    Operator("map", { first, _ in [first.map { $0 &+ 1 }] }) { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.map(on: site.context) { ticket.value($0.number &+ 1, at: site) }
    },
    Operator("map(on: .main)", { first, _ in [first.map { $0 &+ 1 }] }) { use in
      let ticket = use.ticket()
      return use.first.map(on: .main) { value in
        MainActor.assertIsolated()
        return ticket.value(value.number &+ 1)
      }
    },
    Operator("map that throws", { first, _ in first.number == nil ? [first] : [.refused] }) { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.map(on: site.context) { _ throws(any Error) in
        ticket.run(at: site)
        throw Refused()
      }
    },
    Operator("flatMap to another future", { first, second in [first.number == nil ? first : second] }) { use in
      let (site, ticket, second) = (use.site(), use.ticket(), use.second)
      let share = Double(use.random(below: 5)) / 4
      return use.first.flatMap(on: site.context, progressShare: share) { _ in
        ticket.run(at: site)
        return second
      }
    },
    Operator("flatMap to a value") { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.flatMap(on: site.context) { .succeeded(ticket.value($0.number, at: site)) }
    },
    Operator("tap") { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.tap(on: site.context) { _ in ticket.run(at: site) }
    },
    Operator("receive") { use in use.first.receive(on: use.site().context) },
    Operator("receive(on: .main)") { use in use.first.receive(on: .main) },
    Operator("ignoreValue", { first, _ in [first.map { _ in 1 }] }) { use in
      let ticket = use.ticket()
      return use.first.eraseFailure().ignoreValue().map { ticket.value(1) }
    },
    Operator("materialize") { use in
      use.first.materialize().setFailureType(to: (any Error).self).flatMap { .resolved($0) }
    },
  ]

  static let recovering = [
    Operator("recover", { first, _ in [.value(first.number ?? 0)] }) { use in
      let ticket = use.ticket()
      return use.first.recover { _ in ticket.value(0) }.setFailureType()
    },
    Operator("recover that throws", { first, _ in [first.number == nil ? .refused : first] }) { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.recover(on: site.context) { _ throws(any Error) in
        ticket.run(at: site)
        throw Refused()
      }
    },
    Operator("mapError", { first, _ in [first.number == nil ? .refused : first] }) { use in
      let (site, ticket) = (use.site(), use.ticket())
      return use.first.mapError(on: site.context) { _ in
        ticket.run(at: site)
        return Refused() as any Error
      }
    },
    Operator("flatMapError to another future", { first, second in [first.number == nil ? second : first] }) { use in
      let (site, ticket, second) = (use.site(), use.ticket(), use.second)
      return use.first.flatMapError(on: site.context) { _ in
        ticket.run(at: site)
        return second
      }
    },
  ]
}
