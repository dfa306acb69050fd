internal import Futures

/// One move of a run: the work that ran, and the place in its order.
struct OrderMove: Hashable, Comparable, Sendable {
  /// The number of the name: a context, a timer, a step, the body or a task.
  let source: Int32

  /// The number of the task, or of the item among the items of that name, counted from 1.
  let ordinal: Int32

  /// The context or the task of the move.
  var origin: OrderMove {
    let isTask = [OrderNames.task, OrderNames.hop, OrderNames.onMain].contains(source)
    return OrderMove(source: source, ordinal: isTask ? ordinal : 0)
  }

  static func < (left: OrderMove, right: OrderMove) -> Bool {
    (left.source, left.ordinal) < (right.source, right.ordinal)
  }
}

/// The names of moves: one table for all runs of a body, so that a move takes eight bytes.
final class OrderNames: Sendable {
  /// The numbers of the explorer's own names: a user's name gets another number, even if it is the same.
  static let clock: Int32 = 0, main: Int32 = 1, hop: Int32 = 2, task: Int32 = 3, body: Int32 = 4, onMain: Int32 = 5

  /// The ordinal of a hop, which is a job of an actor, if the task that calls the actor is not known.
  static let unknownTask: Int32 = -1

  private let state = Locked(
    (
      names: ["clock", "main", "hop", "task", "body", "main"].map { ($0, $0 == "main") },
      sources: [String: Int32]()
    )
  )

  /// Returns the number of a name, and keeps whether it is that of a context, which has a column of its own in the table.
  func source(_ text: String, isContext: Bool = false) -> Int32 {
    let key = "\(isContext) \(text)"
    return state.withLock { state in
      if let source = state.sources[key] { return source }
      let source = Int32(state.names.count)
      state.names.append((text, isContext))
      state.sources[key] = source
      return source
    }
  }

  func isContext(_ source: Int32) -> Bool { state.withLock { $0.names[Int(source)].1 } }
  func name(_ source: Int32) -> String { state.withLock { $0.names[Int(source)].0 } }

  /// Returns a readable name for each move.
  ///
  /// The name gets a number if the order has several items of that name.
  func describe(_ moves: [OrderMove], _ tasks: [Int32: OrderTask] = [:]) -> [String] {
    var ordinals: [Int32: Set<Int32>] = [:]
    for move in moves { ordinals[move.source, default: []].insert(move.ordinal) }
    return moves.map { move in
      let name = name(move.source)
      switch move.source {
      case Self.body: return name
      case Self.task: return task(move.ordinal, tasks)
      case Self.onMain: return "\(task(move.ordinal, tasks))\(Self.mainSuffix)"
      case Self.hop where move.ordinal == Self.unknownTask: return "work of an actor"
      case Self.hop: return "hop of \(task(move.ordinal, tasks))"
      default: return ordinals[move.source]?.count == 1 ? name : "\(name)(\(move.ordinal))"
      }
    }
  }

  private static let mainSuffix = " on main"

  /// The name of a task: its own, with its number if another task has the same name.
  func task(_ number: Int32, _ tasks: [Int32: OrderTask]) -> String {
    if number == 0 { return "body" }
    guard let name = tasks[number]?.name, !name.isEmpty else { return "task \(number)" }
    return tasks.count { $0.value.name == name } > 1 ? "\(name) (task \(number))" : name
  }

  /// The column and the text of a move in the table, where contexts, the body and tasks have columns.
  func cell(_ move: OrderMove, named name: String) -> (column: String?, text: String) {
    if move.source == Self.onMain { return (String(name.dropLast(Self.mainSuffix.count)), "main") }
    if isContext(move.source) { return (self.name(move.source), "\(move.ordinal)") }
    return move.source == Self.body || move.source == Self.task ? (name, "●") : (nil, name)
  }

  /// The letter of a move in the string that repeats an order.
  func letter(_ move: OrderMove) -> Character {
    guard let first = name(move.source).lowercased().first, first.isLetter else { return "x" }
    return first
  }
}

/// A decision of a run: one of several moves that were possible.
///
/// A sequence of decisions is written as a string, for example `s0n1t0`: the first letter of the name, and the place among
/// the possible moves, sorted by names. The place alone decides; the letter shows that the body still offers that move.
struct OrderChoice: Sendable, CustomStringConvertible {
  let letter: Character
  let index: Int

  var description: String { "\(letter)\(index)" }

  /// Returns the decisions of a string; `nil` if it is not such a string.
  static func parse(_ string: String) -> [OrderChoice]? {
    var choices: [OrderChoice] = []
    var rest = Substring(string)
    while let letter = rest.popFirst() {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard letter.isLetter, let index = Int(digits) else { return nil }
      choices.append(OrderChoice(letter: letter, index: index))
    }
    return choices
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Duration {
  /// The duration in seconds, for example `10 s` or `0.25 s`.
  var inSeconds: String {
    let seconds = "\(self / .seconds(1))"
    return "\(seconds.hasSuffix(".0") ? String(seconds.dropLast(2)) : seconds) s"
  }

  var roundedUpToMilliseconds: Duration {
    let (seconds, attoseconds) = components
    let millisecond: Int64 = 1_000_000_000_000_000
    return .seconds(seconds) + .milliseconds((attoseconds + millisecond - 1) / millisecond)
  }
}
