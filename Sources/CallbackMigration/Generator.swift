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
    let current = twinCounts { !$0.isDeprecated }
    let deprecated = twinCounts(where: \.isDeprecated)
    let renamed = twinCounts(where: \.isRenamedToTwin)
    var files: [String: SourceFile] = [:]
    var extensions: [Extension] = []
    var imports = ImportList()
    var refusals: [String] = []
    for function in inventory.functions where pattern.matches(function.title) {
      var twins: [Twin] = []
      var reasons: [(kind: Twin.Kind, reason: String)] = []
      for kind in style.kinds where !function.twin(kind).exists {
        if let reason = refusal(function, kind) {
          reasons.append((kind, reason))
        } else if isAmbiguous(
          function,
          kind,
          current,
          function.isRenamedToTwin ? renamed : function.isDeprecated ? deprecated : nil
        ) {
          reasons.append((kind, "another function differs from it only in its callback"))
        } else if function.isDeprecated, !function.twin(kind).wasWritten {
          reasons.append((kind, "it is deprecated, and calling it would warn"))
        } else {
          twins.append(Twin(kind: kind, function: function, module: inventory.module, types: inventory.typeNames))
        }
      }
      let isSame = Set(reasons.map(\.reason)).count == 1 && reasons.count == style.kinds.count
      for (kind, reason) in isSame ? [reasons[0]] : reasons {
        let which = isSame ? "" : kind == .async ? ", async" : ", future"
        refusals.append("// - \(function.file): \(function.title)\(which): \(reason).")
      }
      guard !twins.isEmpty else { continue }
      switch function.handle {
      case .refused(let reason): refusals.append("// - \(function.file): \(function.title), cancelling: \(reason).")
      case .none where function.returnsValue:
        let type = function.declaration.returnType.text
        refusals.append(
          "// - \(function.file): \(function.title), result: its twins drop the `\(type)` that it returns."
        )
      case .none, .calls: break
      }
      let file = files[function.path] ?? SourceFile(path: function.path)
      files[function.path] = file
      imports.add(file)
      if function.visibility >= .public { imports.use(twins.flatMap(\.types)) }
      let part = Extension(function, condition: file.condition(ofLine: function.line), twins)
      if let index = extensions.firstIndex(where: { $0.isSame(as: part) }) {
        extensions[index].twins += twins
      } else {
        extensions.append(part)
      }
    }
    // Its lines are as long as what it calls.
    var lines = [Self.marker, "// swift-format-ignore-file"]
    if !extensions.isEmpty {
      let twins = extensions.flatMap(\.twins)
      let futures = twins.filter { $0.kind == .future }.map(\.function.visibility).max()
      lines += [""] + imports.lines(futures: futures, isAsync: twins.contains { $0.kind == .async })
    }
    for part in extensions { lines += [""] + part.lines }
    if !refusals.isEmpty {
      lines += ["", "// Not written, because it would be a guess, or not the same:"] + refusals
    }
    return lines.joined(separator: "\n") + "\n"
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
    if function.visibility < .internal { return "it is private, and another file cannot call it" }
    if function.symbol.spi == true { return "it is for those who import it by `@_spi`" }
    if function.isUnavailable { return "it is unavailable" }
    if inventory.overrides(function) { return "it overrides one whose twin calls it" }
    if declaration.modifiers.contains("optional") { return "it is an optional requirement" }
    for (index, parameter) in declaration.parameters.enumerated() where !function.callbacks.omitted.contains(index) {
      if parameter.name == "self" { return "a parameter is called `self`" }
      if parameter.isVariadic { return "`\(parameter.name)` is variadic, and cannot be passed on" }
      if let word = parameter.specifiers.intersection(Declaration.Parameter.ownershipWords).min() {
        return "`\(parameter.name)` is `\(word)`"
      }
      if parameter.type.contains(where: { $0.text == "repeat" }) { return "`\(parameter.name)` is a parameter pack" }
    }
    if let (name, reason) = inventory.foreignDefault(of: function) { return "`\(name)`, a default, \(reason)" }
    return kind == .async ? asyncRefusal(function) : futureRefusal(function)
  }

  private func asyncRefusal(_ function: CallbackFunction) -> String? {
    let isSaid = function.globalActor != nil || function.isNonisolated
    if inventory.isMainActorTheDefault, function.scope.isEmpty, !isSaid {
      return "nothing here says whether it belongs to the main actor; add `@MainActor` or `nonisolated`"
    }
    if function.hasPlainTwin {
      return "`\(function.twin(.async).title)` is there, and async code that calls it would get the new one"
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

  /// How many functions would get each twin.
  private func twinCounts(where isCounted: (CallbackFunction) -> Bool) -> [String: Int] {
    var counts: [String: Int] = [:]
    for function in inventory.functions where isCounted(function) {
      for kind in style.kinds where refusal(function, kind) == nil && !function.twin(kind).exists {
        for key in function.twinKeys(kind).prefix(1) { counts[key, default: 0] += 1 }
      }
    }
    return counts
  }

  /// Whether another function would get the same twin; one that is deprecated gives way to one that is not.
  private func isAmbiguous(
    _ function: CallbackFunction,
    _ kind: Twin.Kind,
    _ current: [String: Int],
    _ deprecated: [String: Int]?
  ) -> Bool {
    let keys = function.twinKeys(kind)
    let count = keys.reduce(0) { $0 + (current[$1] ?? 0) }
    guard let deprecated else { return count > 1 }
    return count > 0 || keys.reduce(0) { $0 + (deprecated[$1] ?? 0) } > 1
  }
}

extension CallbackFunction {
  /// What makes a twin another one: its type, name, labels and parameters; also as those of the superclasses would be.
  fileprivate func twinKeys(_ kind: Twin.Kind) -> [String] {
    let key = twin(kind).key
    let constraints = Extension.constraints(of: self)
    return scopes.map { "\($0)\(constraints) \(key)" }
  }
}

/// The twins of one type, or of none.
private struct Extension {
  /// Empty for functions that belong to no type.
  private let header: String

  /// Under which it is compiled.
  private let condition: String?
  var twins: [Twin]

  init(_ function: CallbackFunction, condition: String?, _ twins: [Twin]) {
    header = Self.header(of: function)
    self.condition = condition
    self.twins = twins
  }

  func isSame(as other: Extension) -> Bool { header == other.header && condition == other.condition }

  var lines: [String] {
    let parts = twins.map { $0.lines.map { header.isEmpty || $0.isEmpty ? $0 : "  " + $0 } }
    let joined = parts.enumerated().flatMap { $0.offset == 0 ? $0.element : [""] + $0.element }
    let lines = header.isEmpty ? joined : header.split(separator: "\n").map(String.init) + joined + ["}"]
    return condition.map { ["#if \($0)"] + lines + ["#endif"] } ?? lines
  }

  /// The conditions of an extension, with `where`; empty if there are none.
  static func constraints(of function: CallbackFunction) -> String {
    // The graph repeats those of the type itself.
    let own = function.owner?.swiftGenerics?.constraints ?? []
    let added = (function.symbol.swiftExtension?.constraints ?? []).filter { !own.contains($0) }
    let constraints = added.map { constraint in
      "\(constraint.lhs)\(constraint.kind == "sameType" ? " ==" : ":") \(constraint.rhs)"
    }
    return constraints.isEmpty ? "" : " where \(constraints.joined(separator: ", "))"
  }

  private static func header(of function: CallbackFunction) -> String {
    guard !function.scope.isEmpty else { return "" }
    let availability = AvailabilityText(function.owner?.availability).attributes.map { $0 + "\n" }.joined()
    return availability + "extension \(function.scope.joined(separator: "."))\(constraints(of: function)) {"
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
