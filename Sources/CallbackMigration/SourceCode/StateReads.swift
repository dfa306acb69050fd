/// Finds the state that a function reads before it returns: variables that it neither gets nor declares.
///
/// The objects whose functions do the work, such as `api` in `api.load { }`, do not count. Neither do constants of the
/// file, queues, and the conditions of `precondition`.
struct StateReads {
  private let tokens: SourceTokens
  private let body: ClosedRange<Int>
  private let check: ForwardingCheck

  /// - Parameters:
  ///   - body: The braces of the function's body.
  ///   - callbacks: The names of the callbacks.
  ///   - tokens: The file.
  init(in body: ClosedRange<Int>, _ callbacks: [String], _ tokens: SourceTokens) {
    self.tokens = tokens
    self.body = body
    check = ForwardingCheck(tokens: tokens, callbacks: callbacks, queue: nil)
  }

  /// The first read in the body itself, and not in a closure; `nil` if there is none.
  var first: Int? {
    let own = body.filter { tokens.closureOrFunction(around: $0) == body.lowerBound }
    let reads = own.filter { name(at: $0) != nil && !isHarmless($0) }
    guard !reads.isEmpty else { return nil }
    let receivers = Set(own.flatMap(receiver))
    return reads.first { !receivers.contains($0) }
  }

  /// The first variable that a token reads; `nil` if it reads none.
  func name(at index: Int) -> String? {
    check.outerNames(at: index).first { found in
      (found.isOfSelf || !isLoopVariable(found.name)) && !isConstant(found)
    }?.name
  }

  /// The tokens that name the object of a call that is a statement, or that takes a closure.
  private func receiver(ofCall index: Int) -> [Int] {
    guard SourceTokens.isWord(tokens[index]), let site = CallSite(name: index, in: tokens, label: ""),
      site.use != .used || site.callback != nil
    else { return [] }
    return (site.start..<site.name).filter { tokens.parent($0) == tokens.parent(site.start) }
  }

  /// Whether a token stands in an argument that names a queue, or in a check that stops the program.
  private func isHarmless(_ index: Int) -> Bool {
    var bracket = tokens.parent(index)
    while let open = bracket, open > body.lowerBound {
      if tokens[open] == "(", let close = tokens.partner(open) {
        if Self.checks.contains(tokens[open - 1]) { return true }
        let label = tokens.arguments(in: open...close).first { $0.value.contains(index) }?.label ?? ""
        if label == "on" || label.lowercased().hasSuffix("queue") { return true }
      }
      bracket = tokens.parent(open)
    }
    return false
  }

  private static let checks: Set<String> = [
    "assert", "precondition", "assertionFailure", "preconditionFailure", "fatalError", "dispatchPrecondition",
  ]

  /// Whether a `for` of the body declares the variable.
  private func isLoopVariable(_ name: String) -> Bool {
    body.contains { place in
      guard tokens[place] == "for" else { return false }
      return (place + 1..<body.upperBound).prefix { tokens[$0] != "in" }.contains { tokens[$0] == name }
    }
  }

  /// Whether a `let` of a type or of the file declares the name.
  ///
  /// A member of such an object can change.
  private func isConstant(_ found: ForwardingCheck.OuterName) -> Bool {
    guard !found.hasMember else { return false }
    return tokens.items.indices.contains { place in
      guard tokens[place] == found.name, tokens[place - 1] == "let" else { return false }
      return tokens.parent(place).map { tokens[$0] == "{" && tokens.block(at: $0) == .type } ?? true
    }
  }
}
