import Futures

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Operator {
  static let transforming = [
    Operator("map", { first, _ in [first.map { $0 &+ 1 }] }) { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.map(on: site.context) { ticket.value($0.number &+ 1, at: site) }
    },
    Operator("map(on: .main)", { first, _ in [first.map { $0 &+ 1 }] }) { made in
      let ticket = made.transform()
      return made.first.map(on: .main) { value in
        MainActor.assertIsolated()
        return ticket.value(value.number &+ 1)
      }
    },
    Operator("map that throws", { first, _ in first.number == nil ? [first] : [.refused] }) { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.map(on: site.context) { _ throws(any Error) in
        ticket.run(at: site)
        throw Refused()
      }
    },
    Operator("flatMap to another future", { first, second in [first.number == nil ? first : second] }) { made in
      let (site, ticket, second) = (made.site(), made.transform(), made.second)
      let share = Double(made.random(below: 5)) / 4
      return made.first.flatMap(on: site.context, progressShare: share) { _ in
        ticket.run(at: site)
        return second
      }
    },
    Operator("flatMap to a value") { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.flatMap(on: site.context) { .succeeded(ticket.value($0.number, at: site)) }
    },
    Operator("tap") { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.tap(on: site.context) { _ in ticket.run(at: site) }
    },
    Operator("receive") { made in made.first.receive(on: made.site().context) },
    Operator("receive(on: .main)") { made in made.first.receive(on: .main) },
    Operator("ignoreValue", { first, _ in [first.map { _ in 1 }] }) { made in
      let ticket = made.transform()
      return made.first.eraseFailure().ignoreValue().map { ticket.value(1) }
    },
    Operator("materialize") { made in
      made.first.materialize().setFailureType(to: (any Error).self).flatMap { .resolved($0) }
    },
  ]

  static let recovering = [
    Operator("recover", { first, _ in [.value(first.number ?? 0)] }) { made in
      let ticket = made.transform()
      return made.first.recover { _ in ticket.value(0) }.setFailureType()
    },
    Operator("recover that throws", { first, _ in [first.number == nil ? .refused : first] }) { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.recover(on: site.context) { _ throws(any Error) in
        ticket.run(at: site)
        throw Refused()
      }
    },
    Operator("mapError", { first, _ in [first.number == nil ? .refused : first] }) { made in
      let (site, ticket) = (made.site(), made.transform())
      return made.first.mapError(on: site.context) { _ in
        ticket.run(at: site)
        return Refused() as any Error
      }
    },
    Operator("flatMapError to another future", { first, second in [first.number == nil ? second : first] }) { made in
      let (site, ticket, second) = (made.site(), made.transform(), made.second)
      return made.first.flatMapError(on: site.context) { _ in
        ticket.run(at: site)
        return second
      }
    },
  ]
}
