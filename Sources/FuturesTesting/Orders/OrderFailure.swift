public import Futures

/// How many orders `exploreOrders` has run, and whether these were all.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct OrderReport: Sendable, CustomStringConvertible {
  /// The number of different orders that ran.
  public let orders: Int

  /// A lower bound of the number of orders; equal to `orders` if these were all.
  public let knownOrders: Int

  /// Whether all orders ran, and there was no work whose orders are not explored.
  ///
  /// On a platform where `exploreOrders` cannot see such work, the work does not count here, and the description says
  /// so. Only whole moves are ordered: if a task calls an actor and returns within one move, no other work comes
  /// between.
  public let isExhaustive: Bool

  /// Whether a task has called an actor: it could change to the actor and back within one move.
  let callsActors: Bool

  /// The work that left the runs, without the names of its places.
  let left: [OutsideNotice]

  /// The other work that was not explored.
  let sentences: [String]

  /// The work whose orders were not explored, because it left the runs.
  ///
  /// For example, an element names work on a Dispatch queue, and the line that submits it. To find the line takes a tenth of a
  /// second. On a platform where `exploreOrders` cannot see such work, an element is a sentence that says so.
  public var unexplored: [String] {
    var seen: Set<String> = []
    return left.map(\.description).filter { seen.insert($0).inserted } + sentences
  }

  /// For example "all 252 orders", or "1,000 of at least 26,385 orders".
  ///
  /// If work was not explored, or if tasks have called actors, the text says so, and does not say "all".
  public var description: String {
    let notExplored = (callsActors ? ["other work while a task changes between actors"] : []) + unexplored
    let count =
      if knownOrders > orders {
        "\(orders.grouped) of at least \(knownOrders.grouped) orders"
      } else if orders == 1 {
        notExplored.isEmpty ? "the only order" : "1 order"
      } else {
        notExplored.isEmpty ? "all \(orders.grouped) orders" : "\(orders.grouped) orders"
      }
    return notExplored.isEmpty ? count : "\(count); not explored: \(notExplored.shortList(separator: "; "))"
  }
}

/// An order in which the body of `exploreOrders` fails.
///
/// Its description names the moves of the order, the reason, and the call that runs this order alone.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct OrderFailure: Error, Sendable, CustomStringConvertible {
  /// The reason of a failure.
  public enum Reason: Sendable {
    /// The body threw this error.
    case thrown(any Error)
    /// The test library recorded a failed expectation. The search repeats the order, to record it at its line.
    case expectation
    /// The body waits, and nothing is left to run. `waiting` has label, place and number of consumers of each awaited
    /// future.
    case deadlock(waiting: [String])
    /// Work from outside the contexts and tasks of the test took part; with a sentence that names the work.
    case uncontrolled(String)
    /// The body made 20,000 moves, or the work that it left 10,000, and did not end.
    case endless
    /// The body behaved differently in two runs with the same decisions.
    case notDeterministic(String)
    /// The string of `repeating` does not fit the body.
    case unknownOrder(String)
  }

  /// The reason.
  public let reason: Reason

  let sentence: String

  /// The dependencies in a deadlock; `nil` for other reasons.
  public let graph: WaitForGraph?

  /// The moves of the order: items of contexts, timers, steps and parts of tasks.
  ///
  /// The search has shrunk the first order that failed, so few of its moves are out of the order of submission.
  public var order: [String] { rows.map(\.name) }

  let rows: [OrderRow]

  /// The places that made the tasks of the order, at most ten.
  let sites: [(task: String, site: CallSite)]

  let leftTasks: [String]

  /// Where the tasks of the order were made, for example “task 1: App/Cache.swift:12”.
  public var taskPlaces: [String] {
    sites.compactMap { task, site in site.description.map { "\(task): \($0)" } }
  }

  /// The string for `exploreOrders(repeating:)`; empty for the order of submission.
  public let repeating: String

  /// How many orders ran.
  public let report: OrderReport

  /// The file of the call.
  public let fileID: String

  /// The line of the call.
  public let line: UInt

  /// The function or the trait that runs the order alone.
  package var caller = "exploreOrders"

  /// The failure in sentences, with the order and the string that repeats it.
  ///
  /// A long order is shortened in the middle. With more than six moves, or with notes, `timeline` follows.
  public var description: String {
    switch reason {
    case .notDeterministic(let difference): return "The test body is not deterministic: \(difference)"
    case .unknownOrder(let sentence): return sentence
    default: break
    }
    let count = report.orders == 1 ? "" : ", found after \(report.orders.grouped) orders"
    let moves = order.isEmpty ? "the body alone" : order.shortList(separator: " ▸ ")
    let showsTable = order.count > 6 || rows.contains { !$0.notes.isEmpty }
    let table = showsTable ? timeline.map { "\n\($0)" } ?? "" : ""
    let places = taskPlaces.isEmpty ? "" : "\n\(taskPlaces.shortList(separator: "; "))"
    let call = repeating.isEmpty ? "limit: 1" : "repeating: \"\(repeating)\""
    return """
      Fails in this order\(count): \(moves)
      \(sentence)\(deadlockDetails)\(table)\(places)\(unexplored)
      Run it alone: \(caller)(\(call)) at \(fileID):\(line)
      """
  }

  private var unexplored: String {
    // Empty where the platform does not observe work that leaves a run: every failure would repeat the sentence that says so.
    if report.unexplored.isEmpty || OrderRun.unobserved != nil { return "" }
    return "\nNot explored: \(report.unexplored.shortList(separator: "; "))"
  }

  /// The graph of a deadlock; if no awaited future is known, the tasks that can be suspended.
  private var deadlockDetails: String {
    guard case .deadlock(let waiting) = reason else { return "" }
    if let graph, !graph.nodes.isEmpty { return "\n\(graph.description.dropLast())" }  // without the line's end
    guard waiting.isEmpty, !leftTasks.isEmpty else { return "" }
    return " Not released, so suspended or held by a variable: \(leftTasks.shortList(separator: ", "))."
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderFailure.Reason {
  var sentence: String {
    switch self {
    case .thrown(let error): return "It threw: \(error)"
    case .expectation: return "An expectation failed."
    case .deadlock(let waiting):
      let list =
        waiting.isEmpty
        ? "It awaits no future, so it waits for a continuation, or for a task that does."
        : "Awaited: \(waiting.shortList(separator: "; "))."
      return "The body waits, and nothing is left to run. \(list)"
    case .uncontrolled(let sentence):
      let ofMain = OrderRun.controlsDispatch ? ", the main actor and `Task.sleep`" : ""
      return """
        \(sentence) The explorer controls the contexts of `orders`, tasks, default actors\(ofMain). It does not control actors \
        with executors of their own, other Dispatch queues and threads. Pass contexts of `orders` to the code under test.
        """
    case .endless: return "The body did not end."
    case .notDeterministic(let sentence), .unknownOrder(let sentence): return sentence
    }
  }

  /// Whether the failure depends on the order, so that a repeated order shows it again.
  var dependsOnOrder: Bool { isSame(as: self) }  // `isSame` is `true` only for such reasons

  /// Whether both are deadlocks, failed expectations or errors of one type; `false` for reasons that depend on no order.
  func isSame(as other: OrderFailure.Reason?) -> Bool {
    switch (self, other) {
    case (.thrown(let left), .thrown(let right)): type(of: left) == type(of: right)
    case (.expectation, .expectation), (.deadlock, .deadlock): true
    default: false  // two kinds, or a kind that comes in every order or ends the search
    }
  }
}

extension [String] {
  /// The elements, or the first and the last ones if there are many.
  func shortList(separator: String) -> String {
    let (beginning, end) = (40, 20)
    guard count > beginning + end else { return joined(separator: separator) }
    let omitted = "… (\((count - beginning - end).grouped) more) …"
    return (prefix(beginning) + [omitted] + suffix(end)).joined(separator: separator)
  }
}
