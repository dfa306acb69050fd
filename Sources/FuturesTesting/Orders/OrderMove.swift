internal import Futures

/// The owner of moves: a context, a step, a timer, the tasks.
struct OrderSource: Hashable, Comparable, Sendable {
  /// The explorer's own sources are no others, even if the user takes their names.
  enum Kind: Comparable { case own, context, other }

  let kind: Kind
  let name: String

  static let body = own("body"), task = own("task"), hop = own("hop"), clock = own("clock"), main = own("main")

  /// The parts of tasks on the main actor.
  static let onMain = own("main task")

  private static func own(_ name: String) -> OrderSource { OrderSource(kind: .own, name: name) }
  static func context(_ name: String) -> OrderSource { OrderSource(kind: .context, name: name) }
  static func other(_ name: String) -> OrderSource { OrderSource(kind: .other, name: name) }
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  static func timer(_ delay: Duration) -> OrderSource { other("timer \(delay.inSeconds)") }

  static func < (left: OrderSource, right: OrderSource) -> Bool { (left.kind, left.name) < (right.kind, right.name) }
}

/// One move of a run: the work that ran, and the place in its order.
struct OrderMove: Hashable, Comparable, Sendable {
  let source: OrderSource

  /// The number of the task, or of the item among the items of the source, counted from 1.
  let ordinal: Int32

  /// The ordinal of a hop, which is a job of an actor, if the task that calls the actor is not known.
  static let unknownTask: Int32 = -1

  /// The letter in the string that repeats an order.
  var letter: Character {
    guard let first = source.name.lowercased().first, first.isLetter else { return "x" }
    return first
  }

  static func < (left: OrderMove, right: OrderMove) -> Bool {
    left.source == right.source ? left.ordinal < right.ordinal : left.source < right.source
  }

  /// The column and the text in the table, where contexts, the body and tasks have columns.
  func cell(_ tasks: [Int32: OrderTask], named name: String) -> (column: String?, text: String) {
    switch source {
    case .body, .task: (name, "●")
    case .onMain: (tasks.name(of: ordinal), "main")
    case .main: (source.name, "\(ordinal)")
    default: source.kind == .context ? (source.name, "\(ordinal)") : (nil, name)
    }
  }
}

extension [OrderMove] {
  /// Returns a readable name for each move.
  ///
  /// The name gets a number if the order has several items of that name.
  func names(_ tasks: [Int32: OrderTask] = [:]) -> [String] {
    var ordinals: [OrderSource: Set<Int32>] = [:]
    for move in self { ordinals[move.source, default: []].insert(move.ordinal) }
    return map { move in
      switch move.source {
      case .body, .task: tasks.name(of: move.ordinal)
      case .onMain: "\(tasks.name(of: move.ordinal)) on main"
      case .hop where move.ordinal == OrderMove.unknownTask: "work of an actor"
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
