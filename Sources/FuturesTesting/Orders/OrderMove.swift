internal import Futures

/// The owner of moves: a context, a step, a timer, the tasks.
enum OrderSource: Hashable, Comparable, Sendable {
  /// `hop` is a job of an actor or of a `Task.yield()`, and `onMain` a part of a task on the main actor.
  case body, clock, hop, main, onMain, task
  case context(String)
  /// A step, a timer or a sleep.
  case other(String)

  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  static func timer(_ delay: Duration) -> OrderSource { other("timer \(delay)") }

  var name: String {
    switch self {
    case .context(let name), .other(let name): name
    case .onMain: "main task"
    default: "\(self)"
    }
  }
}

/// One move of a run: the work that ran, and the place in its order.
struct OrderMove: Hashable, Comparable, Sendable {
  let source: OrderSource

  /// The number of the task, or of the item among the items of the source, counted from 1; -1 if the task of a hop is not known.
  let ordinal: Int32

  static func < (left: OrderMove, right: OrderMove) -> Bool {
    left.source == right.source ? left.ordinal < right.ordinal : left.source < right.source
  }

  /// The column in the table: contexts, the main queue, the body and tasks have one each, and all other moves share one.
  var column: OrderMove {
    switch source {
    case .body, .task, .hop, .onMain: OrderMove(source: .task, ordinal: ordinal)  // the column of the task
    case .main, .context: OrderMove(source: source, ordinal: 0)
    default: OrderMove(source: .other(""), ordinal: 0)
    }
  }
}

extension [OrderMove] {
  /// Returns a readable name for each move (a task's is in `tasks`), with a number if several items have that name.
  func names(_ tasks: [Int32: OrderTask] = [:]) -> [String] {
    var ordinals: [OrderSource: Set<Int32>] = [:]
    for move in self { ordinals[move.source, default: []].insert(move.ordinal) }
    return map { move in
      switch move.source {
      case .body, .task: tasks.name(of: move.ordinal)
      case .onMain: "\(tasks.name(of: move.ordinal)) on main"
      case .hop where move.ordinal < 0: "work of an actor"  // its task is not known
      case .hop: "hop of \(tasks.name(of: move.ordinal))"
      case let source: ordinals[source]?.count == 1 ? source.name : "\(source.name)(\(move.ordinal))"
      }
    }
  }
}

extension [Int32: OrderTask] {
  /// The name of a task: its own, with its number if another task has the same name.
  func name(of number: Int32) -> String {
    if number == 0 { return "body" }
    guard let name = self[number]?.name, !name.isEmpty else { return "task \(number)" }
    return count { $0.value.name == name } > 1 ? "\(name) (task \(number))" : name
  }
}
