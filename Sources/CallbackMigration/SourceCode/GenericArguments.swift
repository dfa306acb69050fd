extension SourceTokens {
  /// Whether a token follows a comma of generic arguments, as in `Dictionary<String, Int>()`.
  ///
  /// The text does not tell all generic arguments from comparisons. In doubt the answer is `false`.
  func isInGenericArguments(_ start: Int) -> Bool {
    guard let bracket = parent(start), let close = partner(bracket) else { return false }
    func isOpen(_ index: Int) -> Bool { self[index] == "<" && touch(index - 1, index) }
    let places = (bracket + 1..<close).filter { parent($0) == bracket }
    var depth = 0
    let open = places.last { index in
      guard index < start else { return false }
      depth += self[index] == ">" ? 1 : isOpen(index) ? -1 : 0
      return depth < 0
    }
    guard let open, self[open - 1].first?.isUppercase == true else { return false }
    depth = 1
    let end = places.first { index in
      guard index >= start else { return false }
      depth += isOpen(index) ? 1 : self[index] == ">" ? -1 : 0
      return depth == 0
    }
    return end.map { ["(", ")", "]", ".", ",", ":"].contains(self[$0 + 1]) } == true
  }
}
