internal import Futures

/// One move of a run: the work that ran, and the place in its order.
struct OrderMove: Hashable, Comparable, Sendable {
  /// The number of the name: a context, a timer, a step, the body or a task.
  let source: Int32

  /// The number of the task, or of the item among the items of that name, counted from 1.
  let ordinal: Int32

  /// The context or the task of the move.
  var origin: OrderMove {
    let isTask = source == OrderNames.task || source == OrderNames.hop
    return OrderMove(source: source, ordinal: isTask ? ordinal : 0)
  }

  static func < (left: OrderMove, right: OrderMove) -> Bool {
    (left.source, left.ordinal) < (right.source, right.ordinal)
  }
}

/// The names of moves: one table for all runs of a body, so that a move takes eight bytes.
final class OrderNames: Sendable {
  private struct Name: Hashable {
    let text: String
    let isContext: Bool
  }

  private let state = Locked((names: [Name](), sources: [Name: Int32]()))

  // The explorer's own names have negative numbers, because a user's step can have the same name.
  static let body: Int32 = -1
  static let task: Int32 = -2
  static let hop: Int32 = -3
  /// The ordinal of a hop, which is a job of an actor, if the task that calls the actor is not known.
  static let unknownTask: Int32 = -1
  static let main: Int32 = -4
  /// The context of the clock, whose items are timers only.
  static let clock: Int32 = -5

  /// Returns the number of a name.
  /// - Parameters:
  ///   - text: The name.
  ///   - isContext: Whether it is a context, which has a column of its own where an order is shown.
  /// - Returns: The number.
  func source(_ text: String, isContext: Bool = false) -> Int32 {
    let name = Name(text: text, isContext: isContext)
    return state.withLock { state in
      if let source = state.sources[name] { return source }
      let source = Int32(state.names.count)
      state.names.append(name)
      state.sources[name] = source
      return source
    }
  }

  func isContext(_ source: Int32) -> Bool {
    source == Self.main || source >= 0 && state.withLock { $0.names[Int(source)].isContext }
  }

  func name(_ source: Int32) -> String {
    switch source {
    case Self.body: "body"
    case Self.task: "task"
    case Self.hop: "hop"
    case Self.main: "main"
    case Self.clock: "clock"
    default: state.withLock { $0.names[Int(source)].text }
    }
  }

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
      case Self.hop where move.ordinal == Self.unknownTask: return "work of an actor"
      case Self.hop: return "hop of \(move.ordinal == 0 ? "the body" : task(move.ordinal, tasks))"
      default: return ordinals[move.source]?.count == 1 ? name : "\(name)(\(move.ordinal))"
      }
    }
  }

  /// The name of a task: its own, with its number if another task has the same name.
  func task(_ number: Int32, _ tasks: [Int32: OrderTask]) -> String {
    guard let name = tasks[number]?.name, !name.isEmpty else { return "task \(number)" }
    return tasks.count { $0.value.name == name } > 1 ? "\(name) (task \(number))" : name
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
/// the possible moves, sorted by names. `s0*5` stands for five such decisions. The place alone decides; the letter shows that the
/// body still offers that move.
struct OrderChoice: Equatable, Sendable {
  let letter: Character
  let index: Int

  static func string(_ choices: [OrderChoice]) -> String {
    var text = ""
    var rest = choices[...]
    while let first = rest.first {
      let count = rest.prefix { $0 == first }.count
      let one = "\(first.letter)\(first.index)"
      text += count > 2 ? "\(one)*\(count)" : String(repeating: one, count: count)
      rest = rest.dropFirst(count)
    }
    return text
  }

  /// Returns the decisions of a string; `nil` if it is not such a string.
  @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
  static func parse(_ string: String) -> [OrderChoice]? {
    var choices: [OrderChoice] = []
    var rest = Substring(string)
    while let letter = rest.popFirst() {
      guard letter.isLetter, let index = popNumber(&rest) else { return nil }
      var count = 1
      if rest.first == "*" {
        rest.removeFirst()
        guard let number = popNumber(&rest), number <= OrderRun.maximumDecisions else { return nil }
        count = number
      }
      choices += Array(repeating: OrderChoice(letter: letter, index: index), count: count)
      guard choices.count <= OrderRun.maximumDecisions else { return nil }
    }
    return choices
  }

  private static func popNumber(_ text: inout Substring) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    text = text.dropFirst(digits.count)
    return Int(digits)
  }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Duration {
  /// The duration in seconds, for example `10 s` or `0.25 s`.
  var inSeconds: String {
    let (seconds, attoseconds) = components
    guard attoseconds != 0 else { return "\(seconds) s" }
    var fraction = String(String(attoseconds + 1_000_000_000_000_000_000).dropFirst())
    while fraction.last == "0" { fraction.removeLast() }
    return "\(seconds).\(fraction) s"
  }

  var roundedUpToMilliseconds: Duration {
    let (seconds, attoseconds) = components
    let millisecond: Int64 = 1_000_000_000_000_000
    return .seconds(seconds) + .milliseconds((attoseconds + millisecond - 1) / millisecond)
  }
}
