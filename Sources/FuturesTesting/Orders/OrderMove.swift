internal import Futures

/// One move of a run: the work that ran, and the place in its order.
struct OrderMove: Hashable, Sendable {
  /// The number of the name: a context, a timer, a step, the body or a task.
  let source: Int32

  /// The number of the task, or of the item among the items of that name, counted from 1.
  let ordinal: Int32
}

/// The names of moves: one table for all runs of a body, so that a move takes eight bytes.
final class OrderNames: Sendable {
  private struct State {
    var names: [String] = []
    var sources: [String: Int32] = [:]

    /// The sources that are contexts: each has a column of its own where an order is shown.
    var contextSources: [String: Int32] = [:]
    var contexts: Set<Int32> = []

    mutating func add(_ name: String) -> Int32 {
      names.append(name)
      return Int32(names.count - 1)
    }
  }

  private let state = Locked(State())

  /// The body.
  ///
  /// The explorer's own names have negative numbers, because a user's step can have the same name.
  static let body: Int32 = -1
  static let task: Int32 = -2
  static let hop: Int32 = -3
  /// The ordinal of a hop, which is a job of an actor, if the task that calls the actor is not known.
  static let unknownTask: Int32 = -1
  static let main: Int32 = -4
  /// The context of the clock, whose items are timers only.
  static let clock: Int32 = -5

  /// Returns the number of a name.
  func source(_ name: String) -> Int32 {
    state.withLock { state in
      if let source = state.sources[name] { return source }
      let source = state.add(name)
      state.sources[name] = source
      return source
    }
  }

  /// Returns the number of a context's name.
  func contextSource(_ name: String) -> Int32 {
    state.withLock { state in
      if let source = state.contextSources[name] { return source }
      let source = state.add(name)
      state.contextSources[name] = source
      state.contexts.insert(source)
      return source
    }
  }

  func isContext(_ source: Int32) -> Bool { source == Self.main || state.withLock { $0.contexts.contains(source) } }

  func name(_ source: Int32) -> String {
    switch source {
    case Self.body: "body"
    case Self.task: "task"
    case Self.hop: "hop"
    case Self.main: "main"
    case Self.clock: "clock"
    default: state.withLock { $0.names[Int(source)] }
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
      case Self.hop: return hop(of: move.ordinal, tasks)
      default: return ordinals[move.source]?.count == 1 ? name : "\(name)(\(move.ordinal))"
      }
    }
  }

  private func hop(of number: Int32, _ tasks: [Int32: OrderTask]) -> String {
    switch number {
    case Self.unknownTask: "work of an actor"
    case 0: "hop of the body"
    default: "hop of \(task(number, tasks))"
    }
  }

  /// A readable name of one move, without the other moves of its order.
  func describe(_ move: OrderMove) -> String {
    switch move.source {
    case Self.body, Self.task, Self.hop: describe([move])[0]
    default: "\(name(move.source))(\(move.ordinal))"
    }
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
/// the possible moves. `s0*5` stands for five such decisions. The place alone decides; the letter shows that the body still offers
/// that move.
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
  static func parse(_ string: String) -> [OrderChoice]? {
    var choices: [OrderChoice] = []
    var rest = Substring(string)
    while let letter = rest.popFirst() {
      guard letter.isLetter, let index = popNumber(&rest) else { return nil }
      var count = 1
      if rest.first == "*" {
        rest.removeFirst()
        guard let number = popNumber(&rest), number <= maximumDecisions else { return nil }
        count = number
      }
      choices += Array(repeating: OrderChoice(letter: letter, index: index), count: count)
      guard choices.count <= maximumDecisions else { return nil }
    }
    return choices
  }

  /// More decisions than a run can have.
  private static let maximumDecisions = 1_000_000

  private static func popNumber(_ text: inout Substring) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    text = text.dropFirst(digits.count)
    return Int(digits)
  }
}

extension [OrderChoice] {
  /// The decisions up to the last that took another move than the first.
  var withoutLastDefaults: [OrderChoice] {
    Array(self[..<(lastIndex { $0.index > 0 }.map { $0 + 1 } ?? 0)])
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
