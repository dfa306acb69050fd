internal import Foundation

/// Writes a file of twins.
public struct Generator {
  private let inventory: Inventory
  private let style: TwinStyle
  private let pattern: Pattern

  /// Takes what to write twins for.
  /// - Parameters:
  ///   - inventory: The functions of a module.
  ///   - style: Which twins.
  ///   - pattern: Only for functions whose title matches it, such as `Store.*`; for all if `nil`.
  public init(_ inventory: Inventory, style: TwinStyle, only pattern: String?) {
    self.inventory = inventory
    self.style = style
    self.pattern = Pattern(pattern)
  }

  /// The first line of each file that this writes, by which it knows them.
  public static let marker = "// Written by `swift package migrate-callbacks generate`; it may write this file again."

  /// The text of the file; the same for the same module.
  public var text: String {
    var extensions: [Extension] = []
    var imports: [String] = []
    var refusals: [String] = []
    for function in inventory.functions where pattern.matches(function.title) {
      var twins: [Twin] = []
      var reasons: [(kind: Twin.Kind, reason: String)] = []
      for kind in kinds where !hasTwin(function, kind) {
        if let reason = refusal(function, kind) {
          reasons.append((kind, reason))
        } else {
          twins.append(Twin(kind: kind, function: function))
        }
      }
      let isSame = Set(reasons.map(\.reason)).count == 1 && twins.isEmpty
      for (kind, reason) in isSame ? [reasons[0]] : reasons {
        let which = isSame ? "" : kind == .async ? ", async" : ", future"
        refusals.append("// - \(function.file): \(function.title)\(which): \(reason).")
      }
      guard !twins.isEmpty else { continue }
      if case .refused(let reason) = function.handle {
        refusals.append("// - \(function.file): \(function.title), cancelling: \(reason).")
      }
      for line in ImportLines(file: function.path).lines where !imports.contains(line) { imports.append(line) }
      let header = Extension.header(of: function)
      if let index = extensions.firstIndex(where: { $0.header == header }) {
        extensions[index].twins += twins
      } else {
        extensions.append(Extension(header: header, twins: twins))
      }
    }
    var lines = [Self.marker]
    if !extensions.isEmpty { lines += [""] + ownImports(extensions) + imports.filter { !$0.hasSuffix(" Futures") } }
    for part in extensions { lines += [""] + part.lines }
    if !refusals.isEmpty {
      lines += ["", "// Not written, because it would be a guess, or not the same:"] + refusals
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var kinds: [Twin.Kind] {
    switch style {
    case .async: [.async]
    case .futures: [.future]
    case .both: [.async, .future]
    }
  }

  private func hasTwin(_ function: CallbackFunction, _ kind: Twin.Kind) -> Bool {
    kind == .async ? function.hasAsyncTwin : function.hasFutureTwin
  }

  private func ownImports(_ extensions: [Extension]) -> [String] {
    let twins = extensions.flatMap(\.twins)
    var lines: [String] = []
    if let most = twins.filter({ $0.kind == .future }).map(\.function.access).max() {
      lines.append(most >= .public ? "public import Futures" : "import Futures")
    }
    if twins.contains(where: { $0.kind == .async }) { lines.append("import FuturesAsync") }
    return lines
  }

  // MARK: - What is not written

  /// Why no twin of this kind is written; `nil` if one is.
  private func refusal(_ function: CallbackFunction, _ kind: Twin.Kind) -> String? {
    let declaration = function.declaration
    switch function.callbacks.shape {
    case .repeated: return "its callback may come again and again; `callbackStream` makes a sequence of it"
    case .unknown(let reason): return reason
    default: break
    }
    if declaration.keyword == "init" { return "an initializer returns before its callback comes" }
    if declaration.isOperator { return "it is an operator" }
    if declaration.isAsync { return "it is async already" }
    if declaration.isRethrowing { return "it rethrows what a closure throws" }
    if function.access < .internal || function.owner.map({ $0.accessLevel.hasSuffix("private") }) == true {
      return "it is private, and another file cannot call it"
    }
    if function.isUnavailable { return "it is unavailable" }
    if declaration.modifiers.contains("optional") { return "it is an optional requirement" }
    for (index, parameter) in declaration.parameters.enumerated() where !function.callbacks.omitted.contains(index) {
      if parameter.isVariadic { return "`\(parameter.name)` is variadic, and cannot be passed on" }
      if let word = parameter.specifiers.intersection(Declaration.Parameter.ownershipWords).min() {
        return "`\(parameter.name)` is `\(word)`"
      }
      if parameter.type.contains(where: { $0.text == "repeat" }) { return "`\(parameter.name)` is a parameter pack" }
    }
    if isAmbiguous(function, kind) { return "another function differs from it only in its callback" }
    return kind == .async ? asyncRefusal(function) : futureRefusal(function)
  }

  private func asyncRefusal(_ function: CallbackFunction) -> String? {
    if function.hasPlainTwin {
      return "`\(function.asyncTitle)` is there, and async code that calls it would get the new one"
    }
    if function.callbacks.omitted.allSatisfy({ function.declaration.parameters[$0].defaultValue != nil }) {
      return "async code that calls it without its callback would get the new one"
    }
    return nil
  }

  private func futureRefusal(_ function: CallbackFunction) -> String? {
    let type = function.callbacks.shape.values.map { $0.map(\.text).joined(separator: ", ") } ?? ""
    switch function.sendability {
    case .yes: return nil
    case .no: return "`\(type)` is not Sendable"
    case .unknown: return "nothing here says whether `\(type)` is Sendable"
    }
  }

  /// Whether another function would get the same twin.
  private func isAmbiguous(_ function: CallbackFunction, _ kind: Twin.Kind) -> Bool {
    inventory.functions.count { other in
      other.scope == function.scope && other.twinKey(kind) == function.twinKey(kind)
    } > 1
  }
}

extension CallbackFunction {
  /// What makes a twin another one: name, labels and types.
  fileprivate func twinKey(_ kind: Twin.Kind) -> String {
    let omitted = callbacks.omitted.union(kind == .future ? callbacks.progress.map { [$0.parameter] } ?? [] : [])
    let types = declaration.parameters.indices.filter { !omitted.contains($0) }.map {
      declaration.parameters[$0].type.text
    }
    return (kind == .async ? asyncTitle : futureTitle) + types.joined(separator: ",") + "\(declaration.isStatic)"
  }
}

/// The twins of one type, or of none.
private struct Extension {
  /// Empty for functions that belong to no type.
  let header: String
  var twins: [Twin]

  var lines: [String] {
    let parts = twins.map { $0.lines.map { header.isEmpty || $0.isEmpty ? $0 : "  " + $0 } }
    let joined = parts.enumerated().flatMap { $0.offset == 0 ? $0.element : [""] + $0.element }
    return header.isEmpty ? joined : header.split(separator: "\n").map(String.init) + joined + ["}"]
  }

  static func header(of function: CallbackFunction) -> String {
    guard !function.scope.isEmpty else { return "" }
    let constraints = (function.symbol.swiftExtension?.constraints ?? []).map { constraint in
      "\(constraint.lhs)\(constraint.kind == "sameType" ? " ==" : ":") \(constraint.rhs)"
    }
    let condition = constraints.isEmpty ? "" : " where \(constraints.joined(separator: ", "))"
    let availability = AvailabilityText(function.owner?.availability).attribute.map { $0 + "\n" } ?? ""
    return availability + "extension \(function.scope.joined(separator: "."))\(condition) {"
  }
}

/// The imports of a source file, whose types the twins of its functions name.
private struct ImportLines {
  let lines: [String]

  init(file: String) {
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
    var lines: [String] = []
    var condition: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(\.trimmed) {
      let words = line.split(separator: " ").map(String.init).filter { !$0.hasPrefix("@") }
      if line.hasPrefix("#if ") || !condition.isEmpty {
        condition.append(line)
        guard line == "#endif" else { continue }
        let isOnlyImports = condition.allSatisfy { $0.isEmpty || $0.hasPrefix("#") || Self.isImport($0) }
        if isOnlyImports { lines.append(condition.filter { !$0.isEmpty }.joined(separator: "\n")) }
        condition = []
      } else if Self.isImport(line) {
        lines.append(line)
      } else if !line.isEmpty, !line.hasPrefix("//"), !words.isEmpty, !line.hasPrefix("/*"), !line.hasPrefix("*") {
        break
      }
    }
    self.lines = lines
  }

  private static func isImport(_ line: String) -> Bool {
    let access = ["public", "package", "internal", "fileprivate", "private"]
    let words = line.split(separator: " ").filter { !$0.hasPrefix("@") && !access.contains(String($0)) }
    return words.first == "import"
  }
}

/// A title with `*` for anything; without one, a part of it.
private struct Pattern {
  private let parts: [String]?

  init(_ pattern: String?) {
    parts = pattern.map { pattern in
      let pattern = pattern.contains("*") ? pattern : "*\(pattern)*"
      return pattern.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    }
  }

  func matches(_ title: String) -> Bool {
    guard let parts, let first = parts.first, let last = parts.last else { return true }
    guard title.hasPrefix(first) else { return false }
    var rest = title.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
