/// The operators and the types of stages, as the names of their classes say them.
///
/// Formatting a name is slow, and a chain can have a million stages, so each class is looked up once.
struct StageNames {
  struct Name {
    var operation: String
    var types: String?
    /// Whether the class is one of a derived future.
    var isDerived = true
  }

  private var names: [ObjectIdentifier: Name] = [:]

  /// Returns the name of a stage.
  /// - Parameters:
  ///   - consumer: The stage.
  ///   - kind: Its kind in the list of its source; `nil` if it is in none.
  /// - Returns: The name.
  mutating func name(of consumer: Consumer, as kind: Consumer.Kind?) -> Name {
    if kind == .shield { return Name(operation: "shielded") }
    let type = type(of: consumer)
    if let name = names[ObjectIdentifier(type)] { return name }
    let name = Self.name(of: String(describing: type))
    names[ObjectIdentifier(type)] = name
    return name
  }

  /// Returns the operator of a class, for example of `MapStage<Data, Outcome<Article, any Error>>`.
  static func name(of type: String) -> Name {
    let (base, arguments) = split(type)
    switch base {
    case "MapStage": return Name(operation: "map", types: types(arguments.first, arguments.last))
    case "FlatMapStage":
      let isOfResult = split(arguments.first ?? "").base == "Result"
      return Name(
        operation: isOfResult ? "transform" : "flatMap",
        types: types(arguments.first, arguments.dropFirst().first)
      )
    case "SubmittedStage":
      return Name(operation: "transform", types: types(arguments.first, arguments.dropFirst(2).first))
    case "InterruptibleStage": return Name(operation: "timeout or cancellation token")
    case "FollowingStage": return Name(operation: "follow")
    default: return Name(operation: base, isDerived: base.hasSuffix("Stage"))
    }
  }

  private static func types(_ old: String?, _ new: String?) -> String? {
    guard let old, let new else { return nil }
    return "\(plain(old)) → \(plain(new))"
  }

  /// The value type in `Outcome<Value, Failure>` or `Result<Value, Failure>`.
  private static func plain(_ type: String) -> String {
    let (base, arguments) = split(type)
    let plain = base == "Outcome" || base == "Result" ? arguments.first ?? type : type
    return plain == "()" ? "Void" : plain
  }

  /// Splits `A<B, C<D>>` into `A` and its arguments.
  private static func split(_ type: String) -> (base: String, arguments: [String]) {
    guard let start = type.firstIndex(of: "<"), type.last == ">" else { return (type, []) }
    var arguments: [String] = []
    var depth = 0
    var argument = ""
    for character in type[type.index(after: start)...].dropLast() {
      if character == ",", depth == 0 {
        arguments.append(argument)
        argument = ""
        continue
      }
      if "<([".contains(character) { depth += 1 }
      if ">)]".contains(character), argument.last != "-" { depth -= 1 }
      if !(argument.isEmpty && character == " ") { argument.append(character) }
    }
    return (String(type[..<start]), arguments + [argument])
  }
}
