internal import Foundation

/// Writes a file of counterparts.
public struct Generator {
  private let inventory: Inventory
  private let style: CounterpartStyle
  private let pattern: TitlePattern

  /// Takes what to write counterparts for.
  /// - Parameters:
  ///   - inventory: The functions of a module.
  ///   - style: Which counterparts.
  ///   - pattern: Only for functions whose title matches it, such as `Store.*`; for all if `nil`.
  public init(_ inventory: Inventory, style: CounterpartStyle, only pattern: String?) {
    self.inventory = inventory
    self.style = style
    self.pattern = TitlePattern(part: pattern)
  }

  /// The first line of each file that this writes, by which it knows them.
  public static let marker = "// Written by `swift package migrate-callbacks generate`; it may write this file again."

  /// The text of the file; the same for the same module.
  public var text: String {
    let counts = CounterpartCounts(inventory.functions) { refusal($0, $1) == nil && !$0.counterpart($1).exists }
    var files: [String: SourceFile] = [:]
    var extensions: [Extension] = []
    var imports = ImportList()
    var refusals: [String] = []
    for function in inventory.functions {
      var counterparts: [Counterpart] = []
      var reasons: [(kind: Counterpart.Kind, reason: Refusal)] = []
      for kind in kinds(for: function) where !function.counterpart(kind).exists {
        if let reason = refusal(function, kind) {
          reasons.append((kind, reason))
        } else if counts.isAmbiguous(function, kind) {
          reasons.append((kind, Refusal("another function differs from it only in its callback")))
        } else if function.isDeprecated, !function.counterpart(kind).wasWritten {
          reasons.append((kind, Refusal("it is deprecated, and calling it would warn")))
        } else {
          counterparts.append(
            Counterpart(kind: kind, function: function, module: inventory.module, types: inventory.typeNames)
          )
        }
      }
      let isSame = Set(reasons.map(\.reason.reason)).count == 1 && reasons.count == style.kinds.count
      for (kind, reason) in isSame ? [reasons[0]] : reasons {
        let which = isSame ? "" : kind == .async ? ", async" : ", future"
        refusals.append("// - \(function.file): \(function.title)\(which): \(reason.reason).")
        if let setting = reason.setting { refusals.append("//   " + setting) }
      }
      guard !counterparts.isEmpty else { continue }
      if case .none = function.handle, function.returnsValue, function.knowledge.value(.handle) == nil {
        let type = function.declaration.returnType.text
        refusals.append(
          "// - \(function.file): \(function.title), result: its counterparts drop the `\(type)` that it returns."
        )
      }
      let file = files[function.path] ?? SourceFile(path: function.path)
      files[function.path] = file
      imports.add(file)
      if function.visibility >= .public { imports.use(counterparts.flatMap(\.types)) }
      let part = Extension(function, condition: file.condition(ofLine: function.line), counterparts)
      if let index = extensions.firstIndex(where: { $0.isSame(as: part) }) {
        extensions[index].counterparts += counterparts
      } else {
        extensions.append(part)
      }
    }
    // Its lines are as long as what it calls.
    var lines = [Self.marker, "// swift-format-ignore-file"]
    if !extensions.isEmpty {
      let counterparts = extensions.flatMap(\.counterparts)
      let futures = counterparts.filter { $0.kind == .future }.map(\.function.visibility).max()
      lines +=
        [""]
        + imports.lines(
          futures: futures,
          usesFutures: counterparts.contains(where: \.usesFutures),
          isAsync: counterparts.contains { $0.kind == .async }
        )
    }
    for part in extensions { lines += [""] + part.lines }
    if !refusals.isEmpty {
      lines += ["", "// Not written, because it would be a guess, or not the same:"] + refusals
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A function that the pattern leaves out keeps what was written for it before.
  private func kinds(for function: CallbackFunction) -> [Counterpart.Kind] {
    if pattern.matches(function.title) { return style.kinds }
    return CounterpartStyle.both.kinds.filter { function.counterpart($0).wasWritten }
  }

  // MARK: - What is not written

  /// Why no counterpart of this kind is written; `nil` if one is.
  private func refusal(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Refusal? {
    let declaration = function.declaration
    switch function.callbacks.shape {
    case .repeated(let refusal), .unknown(let refusal): return refusal
    default: break
    }
    if declaration.keyword == "init" { return Refusal("an initializer returns before its callback comes") }
    if declaration.isOperator { return Refusal("it is an operator") }
    if declaration.isAsync { return Refusal("it is async already") }
    if declaration.isRethrowing { return Refusal("it rethrows what a closure throws") }
    if function.visibility < .internal { return Refusal("it is private, and another file cannot call it") }
    if function.symbol.spi == true { return Refusal("it is for those who import it by `@_spi`") }
    if function.isUnavailable { return Refusal("it is unavailable") }
    if let refusal = roleRefusal(function, kind) { return refusal }
    if declaration.modifiers.contains("optional") { return Refusal("it is an optional requirement") }
    for (index, parameter) in declaration.parameters.enumerated() where !function.callbacks.omitted.contains(index) {
      if parameter.name == "self" { return Refusal("a parameter is called `self`") }
      if parameter.isVariadic { return Refusal("`\(parameter.name)` is variadic, and cannot be passed on") }
      if let word = parameter.specifiers.intersection(Declaration.Parameter.ownershipWords).min() {
        return Refusal("`\(parameter.name)` is `\(word)`")
      }
      if parameter.type.contains(where: { $0.text == "repeat" }) {
        return Refusal("`\(parameter.name)` is a parameter pack")
      }
    }
    if case .refused(let refusal) = function.handle { return refusal }
    if let (name, reason) = inventory.foreignDefault(of: function) { return Refusal("`\(name)`, a default, \(reason)") }
    return kind == .async ? asyncRefusal(function) : futureRefusal(function)
  }

  private func roleRefusal(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Refusal? {
    switch function.role {
    case .plain, .requirement: return nil
    case .override: return Refusal("it overrides one whose counterpart calls it")
    case .delegateMethod(let name):
      if function.knowledge.says(.once) { return nil }
      return Refusal("it is a method of `\(name)`, which other code calls", .once, function.title)
    case .witness(let name):
      guard let requirement = inventory.requirement(of: function), !requirement.isDeprecated,
        requirement.counterpart(kind).exists || refusal(requirement, kind) == nil
      else { return nil }
      return Refusal("it implements a requirement of `\(name)`, whose counterpart calls it")
    }
  }

  private func asyncRefusal(_ function: CallbackFunction) -> Refusal? {
    let isSaid = function.globalActor != nil || function.isNonisolated
    if inventory.isMainActorTheDefault, function.scope.isEmpty, !isSaid {
      return Refusal("nothing here says whether it belongs to the main actor; add `@MainActor` or `nonisolated`")
    }
    if function.hasPlainCounterpart {
      return Refusal(
        "`\(function.counterpart(.async).title)` is there, and async code that calls it would get the new one"
      )
    }
    if function.callbacks.callbacks.allSatisfy({ function.declaration.parameters[$0].defaultValue != nil }) {
      return Refusal("async code that calls it without its callback would get the new one")
    }
    return nil
  }

  private func futureRefusal(_ function: CallbackFunction) -> Refusal? {
    let type = function.callbacks.shape.values.map { $0.map(\.text).joined(separator: ", ") } ?? ""
    switch function.sendability {
    case .yes: return nil
    case .no: return Refusal("`\(type)` is not Sendable")
    case .unknown: return Refusal("nothing here says whether `\(type)` is Sendable")
    }
  }
}

/// How many functions would get each counterpart.
private struct CounterpartCounts {
  private var counts: [Int: [String: Int]] = [:]

  init(
    _ functions: [CallbackFunction],
    where isCounted: (CallbackFunction, Counterpart.Kind) -> Bool
  ) {
    for function in functions {
      for kind in CounterpartStyle.both.kinds where isCounted(function, kind) {
        for key in function.counterpartKeys(kind).prefix(1) {
          counts[function.precedence, default: [:]][key, default: 0] += 1
        }
      }
    }
  }

  /// Whether another function would get the same counterpart, and does not give way.
  func isAmbiguous(_ function: CallbackFunction, _ kind: Counterpart.Kind) -> Bool {
    let keys = function.counterpartKeys(kind)
    func count(_ precedence: Int) -> Int { keys.reduce(0) { $0 + (counts[precedence]?[$1] ?? 0) } }
    return count(function.precedence) > 1 || counts.keys.contains { $0 < function.precedence && count($0) > 0 }
  }
}

extension CallbackFunction {
  /// The lowest of several gets the counterpart: deprecated functions give way, and so do those with a queue.
  fileprivate var precedence: Int {
    (isRenamedToCounterpart ? 2 : isDeprecated ? 4 : 0) + (callbacks.queue == nil ? 0 : 1)
  }

  /// What makes a counterpart another one: its type, name, labels and parameters; also as those of the superclasses would be.
  fileprivate func counterpartKeys(_ kind: Counterpart.Kind) -> [String] {
    let key = counterpart(kind).key
    let constraints = Extension.constraints(of: self)
    return scopes.map { "\($0)\(constraints) \(key)" }
  }
}

/// The counterparts of one type, or of none.
private struct Extension {
  /// Empty for functions that belong to no type.
  private let header: String

  /// Under which it is compiled.
  private let condition: String?
  var counterparts: [Counterpart]

  init(_ function: CallbackFunction, condition: String?, _ counterparts: [Counterpart]) {
    header = Self.header(of: function)
    self.condition = condition
    self.counterparts = counterparts
  }

  func isSame(as other: Extension) -> Bool { header == other.header && condition == other.condition }

  var lines: [String] {
    let parts = counterparts.map { $0.lines.map { header.isEmpty || $0.isEmpty ? $0 : "  " + $0 } }
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
