/// The operators and the types of stages.
///
/// Formatting a type is slow, and a chain can have a million stages, so each class is looked up once.
struct StageNames {
  struct Name {
    var operation: String
    var types: String?
  }

  private var names: [ObjectIdentifier: Name] = [:]

  /// Returns the name of a stage; `nil` for a state that is no stage, such as the state of a promise.
  mutating func name(of stage: FutureState, _ facts: NodeFacts) -> Name? {
    guard let operation = facts.operation else { return nil }
    guard let types = facts.types else { return Name(operation: "\(operation)") }  // no type to format
    let id = ObjectIdentifier(type(of: stage))
    if let name = names[id] { return name }  // each class with types has one operator and one pair of types
    let name = Name(operation: "\(operation)", types: "\(Self.text(types.0)) → \(Self.text(types.1))")
    names[id] = name
    return name
  }

  private static func text(_ type: Any.Type) -> String { type == Void.self ? "Void" : String(describing: type) }
}
