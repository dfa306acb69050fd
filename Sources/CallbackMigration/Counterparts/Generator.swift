internal import Foundation

/// Writes the counterparts of a plan as source files.
package struct Generator {
  private let plan: CounterpartPlan

  /// The source files of the module, which show how the module imports.
  private let sources: [SourceFile]

  package init(_ plan: CounterpartPlan) {
    self.plan = plan
    // The inventory has no sources if the module's own files are unknown. Then at least the functions' files are read.
    let paths = Set(plan.inventory.sources + plan.entries.map(\.function.path))
    sources = paths.sorted().map(SourceFile.init)
  }

  /// The first line of each file that the tool writes; the tool replaces no file that begins otherwise.
  package static let marker = "// Written by `swift package migrate-callbacks generate`; it may write this file again."

  /// Whether the tool has written a file, by its first line.
  static func wrote(_ path: String) -> Bool {
    (try? Data(contentsOf: URL(filePath: path)))?.starts(with: Data(marker.utf8)) == true
  }

  /// The text of one file with all counterparts; the same module gives the same text.
  package var text: String { text(of: plan.entries) }

  /// The text of a file beside each source file, by the path of the source file.
  package var textsBeside: [String: String] {
    Dictionary(grouping: plan.entries.filter { !$0.counterparts.isEmpty }, by: \.function.path).mapValues(text)
  }

  /// The path of the counterparts file beside a source file.
  package static func pathBeside(_ path: String) -> String {
    let name = path.hasSuffix(".swift") ? String(path.dropLast(".swift".count)) : path
    return name + "+Counterparts.swift"
  }

  /// The text of a file with the counterparts of some functions; only the marker if there are none.
  private func text(of entries: [CounterpartPlan.Entry]) -> String {
    let files = Dictionary(uniqueKeysWithValues: sources.map { ($0.path, $0) })  // `init` reads each path once
    var extensions: [Extension] = []
    var imports = ImportList(of: sources, in: plan.inventory.module)
    for entry in entries where !entry.counterparts.isEmpty {
      let function = entry.function
      guard let file = files[function.path] else { continue }  // never: `init` reads the file of each function
      imports.add(file)
      if function.visibility >= .public { imports.noteModules(ofPublicTypes: entry.counterparts.flatMap(\.types)) }
      let header = Extension.header(of: function, plan.inventory.spelling(for: function))
      let condition = file.condition(ofLine: function.line)
      if let index = extensions.firstIndex(where: { $0.header == header && $0.condition == condition }) {
        extensions[index].counterparts += entry.counterparts
      } else {
        let scope = function.symbol.scope
        extensions.append(
          Extension(header: header, condition: condition, scope: scope, counterparts: entry.counterparts)
        )
      }
    }
    guard !extensions.isEmpty else { return Self.marker + "\n" }
    let counterparts = extensions.flatMap(\.counterparts)
    // The highest access level of a future counterpart, which the import of Futures needs.
    func highestAccess(_ counterparts: [Counterpart]) -> AccessLevel? {
      counterparts.filter { $0.kind == .future }.map(\.function.visibility).max()
    }
    let importLines = imports.lines(
      futures: highestAccess(counterparts),
      widest: highestAccess(plan.entries.flatMap(\.counterparts)),  // `import Futures` has a level in all files or none
      usesFutures: counterparts.contains(where: \.usesFutures),  // an async one can need `UncheckedTransfer`
      isAsync: counterparts.contains { $0.kind == .async }
    )
    var lines = [Self.marker]
    if !importLines.isEmpty { lines += [""] + importLines }
    for part in extensions.sorted(by: { $0.order < $1.order }) { lines += [""] + part.lines }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// The counterparts of one extension, or those of functions outside types.
private struct Extension {
  /// The lines before the functions, such as `extension Store {`; empty outside types.
  let header: String

  /// The `#if` condition around the functions.
  let condition: String?
  let scope: String
  var counterparts: [Counterpart]

  /// The sort key of an extension: the name of its type comes first.
  var order: (String, String, String) { (scope, header, condition ?? "") }

  /// The lines of the extension, with an empty line between two functions.
  var lines: [String] {
    let indentation = header.isEmpty ? "" : "  "
    let parts = counterparts.map { $0.lines.map { line in line.isEmpty ? line : indentation + line } }
    let functions = Array(parts.joined(separator: [""]))
    let lines = header.isEmpty ? functions : header.split(separator: "\n").map(String.init) + functions + ["}"]
    return condition.map { ["#if \($0)"] + lines + ["#endif"] } ?? lines
  }

  /// The beginning of the extension of a function's type, with the availability of the type.
  static func header(of function: CallbackFunction, _ spelling: TypeSpelling) -> String {
    guard !function.symbol.scope.isEmpty else { return "" }
    let availability = (function.owner?.availabilityAttributes ?? []).map { $0 + "\n" }.joined()
    let constraints = function.extensionConstraints { constraint in  // a hidden type gets its module: `Swift.Result`
      constraint.rhsPrecise.map { spelling.text(constraint.rhs, $0) } ?? constraint.rhs
    }
    return availability + "extension \(function.symbol.scope)\(constraints) {"
  }
}

extension CallbackFunction {
  /// The `where` clause of the extension around the function, whose right sides `spell` writes; empty if there is none.
  func extensionConstraints(_ spell: (SymbolGraph.Symbol.Constraint) -> String = \.rhs) -> String {
    // Among the constraints of the extension, the graph repeats those of the type.
    let own = owner?.swiftGenerics?.constraints ?? []
    let added = (symbol.swiftExtension?.constraints ?? []).filter { !own.contains($0) }
    let constraints = added.map { constraint in
      "\(constraint.lhs)\(constraint.kind == "sameType" ? " ==" : ":") \(spell(constraint))"
    }
    return constraints.isEmpty ? "" : " where \(constraints.joined(separator: ", "))"
  }
}
