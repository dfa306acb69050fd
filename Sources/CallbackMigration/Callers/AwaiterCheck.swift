internal import Foundation

/// Finds code after the await of a function, which runs later if that function takes longer.
///
/// A function waits for its callback once the call in its body is converted. So its callers continue later, too.
struct AwaiterCheck {
  private struct Place: Hashable {
    let path: String
    let name: Int
  }

  private let finder: CallFinder
  private var known: [Place: String?] = [:]
  private var conformances: Conformances?

  init(finder: CallFinder) { self.finder = finder }

  /// Returns the reason why callers would notice that a function waits longer; `nil` if none would.
  /// - Parameters:
  ///   - path: The file of the function in the copy.
  ///   - name: The token with the function's name.
  /// - Returns: The reason.
  /// - Throws: An error if the server fails.
  mutating func reason(_ path: String, _ name: Int) throws(MigrationError) -> String? {
    let place = Place(path: path, name: name)
    if let reason = known[place] { return reason }
    // A function can call itself: this entry ends the recursion, so only its other callers decide.
    known[place] = .some(nil)
    let reason = try found(place)
    known[place] = reason
    return reason
  }

  private mutating func found(_ place: Place) throws(MigrationError) -> String? {
    let tokens = finder.files.tokens(place.path)
    let start = tokens.statementStart(before: place.name)
    if (start..<place.name).contains(where: { tokens[$0] == "override" }) {
      return "`\(tokens[place.name])` overrides a function whose callers are not known"
    }
    let position = tokens.source.position(of: tokens.items[place.name].range.lowerBound)
    if let type = try finder.declarations(of: place.path).around(position).type?.split(separator: ".").last,
      let title = FunctionText(name: place.name, in: tokens)?.title
    {
      let conformances = self.conformances ?? Conformances(of: finder.copy.swiftFiles.map(finder.files.tokens))
      self.conformances = conformances
      let isPrivate = (start..<place.name).contains { ["private", "fileprivate"].contains(tokens[$0]) }
      if let name = conformances.protocolRequiring(title, ofMemberOf: String(type), isPrivate: isPrivate) {
        return "`\(title)` can implement a requirement of `\(name)`, whose callers are not known"
      }
    }
    try finder.server.open(place.path, tokens.source.text)
    let references = try finder.server.references(place.path, position)
    for reference in references where reference.path.hasPrefix(finder.copy.folder.path + "/") {
      let tokens = finder.files.tokens(reference.path)
      guard let offset = tokens.source.offset(of: reference.position), let name = tokens.index(at: offset) else {
        continue
      }
      if let reason = try reason(at: name, reference.path, tokens, of: place) { return reason }
    }
    return nil
  }

  private mutating func reason(
    at name: Int,
    _ path: String,
    _ tokens: SourceTokens,
    of place: Place
  ) throws(MigrationError) -> String? {
    let location = "\(path.dropFirst(finder.copy.folder.path.count + 1)):\(tokens.line(name))"
    let title = tokens[name]
    guard let site = CallSite(name: name, in: tokens, label: "") else {
      return "`\(title)` is used as a value at \(location), and the code that calls it is not known"
    }
    let scope = CallScope(of: site, in: tokens)
    if scope.levels.contains(where: { $0.block == .loop }) {
      return "the loop at \(location) awaits `\(title)`, and its next turn would begin later"
    }
    if let index = tokens.statement(after: scope) {
      return "line \(tokens.line(index)) after `\(title)` at \(location) would run later"
    }
    guard isStatement(site, tokens) else {
      return "the code at \(location) uses the value of `\(title)`, and would get it later"
    }
    switch scope.boundary {
    case .task(_, isKept: false): return nil
    case .task: return "the task at \(location) is kept, and would end later"
    case .function(let outer, isAsync: true): return try self.reason(path, outer)
    case .function, .closure, .accessor, .none: return "nothing says what runs after `\(title)` at \(location)"
    }
  }

  /// Whether an awaited call is a statement, as in `try await refresh()`.
  private func isStatement(_ site: CallSite, _ tokens: SourceTokens) -> Bool {
    var start = site.start
    while ["await", "try"].contains(tokens[start - 1]) || tokens[start - 1] == "?" && tokens[start - 2] == "try" {
      start -= 1
    }
    if tokens[start - 1] == "=", tokens[start - 2] == "_" { return true }
    let before = tokens[start - 1]
    if start == 0 || before == "{" || before == ";" || before == "in" { return true }
    return tokens.statementStart(before: start + 1) == start
  }
}
