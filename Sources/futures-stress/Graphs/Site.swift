import Dispatch
import Futures
import FuturesAsync

/// An execution context, and what its work can rely on.
struct Site: Sendable {
  let name: String
  let context: ExecutionContext
  /// Whether it keeps the order of submission.
  var isOrdered = false
  /// Whether it drops some of its work.
  var dropsWork = false
  /// Whether the calling code runs there; true where that is unknown.
  var isHere: @Sendable () -> Bool = { true }
}

extension Site {
  private static let key = DispatchSpecificKey<String>()

  private static func queue(_ queue: DispatchQueue, isOrdered: Bool) -> Site {
    let name = queue.label
    queue.setSpecific(key: key, value: name)
    return Site(name: name, context: .queue(queue), isOrdered: isOrdered) {
      DispatchQueue.getSpecific(key: key) == name
    }
  }

  private actor Desk {}

  /// The sites that all graphs share.
  static let shared: [Site] = [
    Site(name: ".immediate", context: .immediate, isOrdered: true),
    queue(DispatchQueue(label: "serial queue 1"), isOrdered: true),
    queue(DispatchQueue(label: "serial queue 2"), isOrdered: true),
    queue(DispatchQueue(label: "concurrent queue", attributes: .concurrent), isOrdered: false),
    queue(.main, isOrdered: true),
    Site(name: ".global", context: .global()),
    Site(name: ".actor", context: .actor(Desk()), isOrdered: true),
    Site(name: ".task", context: .task()),
    Site(name: "a context that runs work at once", context: ExecutionContext { $0() }, isOrdered: true),
    Site(
      name: "a context that runs work twice",
      context: ExecutionContext { work in
        work()
        work()
      },
      isOrdered: true
    ),
  ]
}

/// Keeps each piece of work until the next one arrives, and then runs it or drops it, in turn.
final class LateContext: Sendable {
  private struct State {
    var kept: (@Sendable () -> Void)?
    var count = 0
  }
  private let state = Locked(State())

  var site: Site {
    let context = ExecutionContext { work in self.replaceWork(with: work) }
    return Site(name: "a context that drops work", context: context, dropsWork: true)
  }

  /// Ends the work that is kept.
  func flush() { replaceWork(with: nil) }

  private func replaceWork(with new: (@Sendable () -> Void)?) {
    let (old, mustRun) = state.withLock { state in
      defer { state.kept = new }
      if new != nil { state.count += 1 }
      return (state.kept, state.count.isMultiple(of: 2))
    }
    if mustRun { old?() }
  }
}
