/// A file that `generate` has written.
struct GeneratedFile {
  private let tokens: SourceTokens

  init(_ tokens: SourceTokens) { self.tokens = tokens }

  /// The UTF-8 range of a counterpart with its documentation, its attributes and the empty line before it.
  /// - Parameters:
  ///   - title: The title of the counterpart.
  ///   - type: The name of the type around the counterpart, such as `Store.Cache`; empty outside types.
  ///   - isSync: Whether the counterpart is synchronous.
  /// - Returns: The range; `nil` if there is no such counterpart, or more than one.
  func range(of title: String, in type: String, isSync: Bool = false) -> Range<Int>? {
    let found = FunctionText.all(titled: title, in: tokens).filter {
      $0.isAsync != isSync && tokens.typeNames(around: $0.name)?.joined(separator: ".") == type
    }
    guard found.count == 1, let body = found[0].body else { return nil }
    let source = tokens.source
    var line = source.line(of: tokens.items[found[0].name].range.lowerBound)
    while line > 0, ["///", "@"].contains(where: { source.line(line - 1).trimmed.hasPrefix($0) }) { line -= 1 }
    if line > 0, source.line(line - 1).allSatisfy(\.isWhitespace) { line -= 1 }
    let end = source.line(of: tokens.items[body.upperBound].range.upperBound - 1)
    return source.start(
      ofLine: line
    )..<max(source.start(ofLine: end + 1), tokens.items[body.upperBound].range.upperBound)
  }
}
