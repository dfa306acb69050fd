import Dispatch
import Futures
import FuturesAsync

/// An execution context, and its guarantees for work.
struct Site: Sendable {
  let name: String
  let context: ExecutionContext
  /// Whether the context keeps the order of submission.
  var isOrdered = false
  /// Whether the context drops some of its work.
  var dropsWork = false
  /// Whether the calling code runs in the context; true where that is unknown.
  var isHere: @Sendable () -> Bool = { true }
}

extension Site {
  private static let key = DispatchSpecificKey<String>()

  /// Marks a queue with its label, so that its work can check where it runs.
  private static func marked(_ queue: DispatchQueue) -> DispatchQueue {
    queue.setSpecific(key: key, value: queue.label)
    return queue
  }

  private static let serialQueues = ["serial queue 1", "serial queue 2"].map { marked(DispatchQueue(label: $0)) }
  private static let concurrentQueue = marked(DispatchQueue(label: "concurrent queue", attributes: .concurrent))
  private static let mainQueue = marked(.main)

  private actor Desk {}
  private static let desk = Desk()

  private init(_ queue: DispatchQueue, isOrdered: Bool) {
    let name = queue.label
    self.init(name: name, context: .queue(queue), isOrdered: isOrdered) {  // `isHere`
      DispatchQueue.getSpecific(key: Self.key) == name
    }
  }

  /// The sites that are the same for every graph.
  ///
  /// Computed, not stored: LeakSanitizer cannot follow a context from a static variable, because `ExecutionContext` holds
  /// an enumeration that has its tag in the pointer.
  static var common: [Site] {
    serialQueues.map { Site($0, isOrdered: true) } + [
      Site(mainQueue, isOrdered: true),
      Site(concurrentQueue, isOrdered: false),
      Site(name: ".immediate", context: .immediate, isOrdered: true),
      Site(name: ".global", context: .global()),
      Site(name: ".actor", context: .actor(desk), isOrdered: true),
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
}

/// A context that keeps each piece of work until the next one arrives, and then runs or drops it, by turns.
final class LateContext: Sendable {
  private struct State {
    var kept: (@Sendable () -> Void)?
    var arrivals = 0
  }
  private let state = Locked(State())

  var site: Site {
    let context = ExecutionContext { work in self.replaceWork(with: work) }
    return Site(name: "a context that drops work", context: context, dropsWork: true)
  }

  /// Runs or drops the work that is kept, although no other work arrives.
  func flush() { replaceWork(with: nil) }

  /// Keeps `new`, and runs the work before it if the number of arrivals, with `new`, is even; otherwise drops that work.
  private func replaceWork(with new: (@Sendable () -> Void)?) {
    let (old, mustRun) = state.withLock { state in
      defer { state.kept = new }
      if new != nil { state.arrivals += 1 }
      return (state.kept, state.arrivals.isMultiple(of: 2))
    }
    if mustRun { old?() }
  }
}
