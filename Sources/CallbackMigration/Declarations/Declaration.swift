/// The declaration of a function, read from the compiler's tokens.
package struct Declaration {
  package struct Parameter {
    /// The argument label; `_` if callers write none.
    package let label: String
    package fileprivate(set) var name: String

    /// The name as an expression, with backticks where it needs them.
    var reference: String { Self.reservedWords.contains(name) ? "`\(name)`" : name }

    /// Keywords: a parameter can have such a name, but an expression needs backticks for it.
    private static let reservedWords: Set<String> = [
      "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
      "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
      "import", "in", "init", "internal", "is", "nil", "operator", "precedencegroup", "private", "protocol", "public",
      "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws",
      "true", "try", "typealias", "where", "while",
    ]

    /// The type with attributes and `inout`, without the default value.
    package let type: ArraySlice<Token>
    package let isVariadic: Bool
    package let defaultValue: ArraySlice<Token>?

    /// The modifiers of the type, such as `inout` and `@escaping`.
    package var specifiers: Set<String> {
      var reader = TokenReader(type)
      return reader.takeSpecifiers()
    }

    static let ownershipWords: Set<String> = ["inout", "borrowing", "consuming", "sending", "isolated"]

    /// The parameter as a counterpart declares it, with `type` as the spelling of its type.
    package func text(_ type: String) -> String {
      let names = label == name ? name : "\(label) \(name)"
      let value = defaultValue.map { " = \($0.text)" } ?? ""
      return "\(names): \(type)\(isVariadic ? "..." : "")\(value)"
    }
  }

  /// The attributes of the function itself, such as `@MainActor`.
  package let attributes: [String]
  package let modifiers: [String]

  /// `func` or `init`.
  package let keyword: String
  package let name: String

  /// The generic parameters, without the angle brackets.
  package let generics: ArraySlice<Token>
  package let parameters: [Parameter]

  /// `async`, `throws`, `throws(E)`, `rethrows`.
  package let effects: [String]

  /// The result type; empty if there is none.
  package let returnType: ArraySlice<Token>

  /// The generic requirements with `where`; empty if there are none.
  package let requirements: ArraySlice<Token>

  /// Reads the tokens of a declaration; `nil` if they declare no function, or have no readable parameters.
  package init?(_ tokens: [Token]) {
    var reader = TokenReader(tokens)
    attributes = reader.takeAttributes().map(\.text)
    // Before `func` or `init` stand modifiers, also with arguments, as in `private(set)` and `nonisolated(unsafe)`.
    var modifiers: [String] = []
    var keyword: String?
    while keyword == nil, let word = reader.take() {
      if word.text == "func" || word.text == "init" { keyword = word.text } else { modifiers.append(word.text) }
      if keyword == nil, let arguments = reader.takeBracketed("(", ")") { modifiers.append("(\(arguments.text))") }
    }
    guard let keyword else { return nil }
    self.keyword = keyword
    self.modifiers = modifiers
    name = keyword == "init" ? "init" : reader.take(upTo: ["<", "("]).text
    _ = reader.take("?") || reader.take("!")  // of a failable initializer
    generics = reader.takeBracketed("<", ">") ?? []
    guard let parameters = reader.takeBracketed("(", ")") else { return nil }
    var named = parameters.elements.compactMap(Parameter.init)
    guard named.count == parameters.elements.count else { return nil }
    // A counterpart passes its parameters to the function, so each needs a name.
    for index in named.indices where named[index].name == "_" { named[index].name = "argument\(index + 1)" }
    self.parameters = named
    var effects: [String] = []
    while let next = reader.next, next.text != "->", next.text != "where" {
      _ = reader.take()
      let argument = next.text == "throws" ? reader.takeBracketed("(", ")") : nil
      effects.append(next.text + (argument.map { "(\($0.text))" } ?? ""))
    }
    self.effects = effects
    returnType = reader.take("->") ? reader.take(upTo: ["where"]) : []
    requirements = reader.rest
  }

  /// The names of the function's own generic parameters.
  var genericParameters: [String] { generics.elements.compactMap { $0.first?.text } }

  var isAsync: Bool { effects.contains("async") }
  var isThrowing: Bool { effects.contains { $0.hasPrefix("throws") } }
  var isRethrowing: Bool { effects.contains("rethrows") }
  var isNonisolated: Bool { modifiers.contains("nonisolated") }
  var isStatic: Bool { modifiers.contains("static") || modifiers.contains("class") }

  /// The attribute with the global actor on which the function runs, such as `@MainActor`; `nil` for none.
  ///
  /// Of the attributes with a capital letter, only `@Sendable` and those of Interface Builder are no global actors.
  var globalActor: String? {
    attributes.first { $0.dropFirst().first?.isUppercase == true && $0 != "@Sendable" && !$0.hasPrefix("@IB") }
  }

  /// Whether the function is an operator; the name of `<` is empty, because `init` takes `<` for generic parameters.
  package var isOperator: Bool { name.first.map { !$0.isLetter && $0 != "_" && $0 != "`" } ?? true }

  /// The name without backticks.
  var plainName: String { name.filter { $0 != "`" } }

  /// The parameters without those at the indices in `omitted`.
  func parameters(without omitted: Set<Int>) -> [Parameter] {
    parameters.enumerated().filter { !omitted.contains($0.offset) }.map(\.element)
  }

  /// The name in documentation, such as `user(id:completion:)`, without the parameters at the indices in `omitted`.
  package func title(without omitted: Set<Int> = []) -> String {
    "\(plainName)(\(parameters(without: omitted).map { $0.label + ":" }.joined()))"
  }
}

extension Declaration.Parameter {
  /// Reads a parameter, such as `id number: Int = 1`; `nil` if the tokens are no parameter.
  fileprivate init?(_ tokens: ArraySlice<Token>) {
    var reader = TokenReader(tokens)
    _ = reader.takeAttributes()  // of the parameter itself, such as a result builder
    guard let first = reader.take() else { return nil }
    let second = reader.next?.text == ":" ? nil : reader.take()
    guard reader.take(":") else { return nil }
    label = first.text
    name = (second ?? first).text
    type = reader.take(upTo: ["=", "..."])
    isVariadic = reader.take("...")
    defaultValue = reader.take("=") ? reader.rest : nil
  }
}
