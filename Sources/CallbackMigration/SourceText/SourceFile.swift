internal import Foundation

/// Facts of a source file that the graph lacks: its imports, and its conditional declarations.
struct SourceFile {
  let path: String

  /// The lines, without the space around them.
  let lines: [String]

  /// An `import`, or an `#if` with imports only.
  enum ImportPart: Equatable {
    case line(Import)
    case directive(String)
    case block([ImportPart])

    var imports: [Import] {
      switch self {
      case .line(let line): [line]
      case .directive: []
      case .block(let parts): parts.flatMap(\.imports)
      }
    }
  }

  /// The imports that a file of counterparts can copy.
  private(set) var imports: [ImportPart] = []

  /// All imports, including those beside other code in an `#if`.
  private(set) var allImports: [Import] = []

  /// The condition of each line; empty for none.
  private var conditions: [String] = []

  init(path: String) {
    self.path = path
    let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""  // an unreadable file shows no facts
    lines = text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }).map(\.trimmed)
    var open: [Condition] = []
    // The lines of the outermost `#if` so far. If the `#if` holds only imports, a file of counterparts copies it.
    var block: [ImportPart] = []
    var isOnlyImports = true
    for line in lines {
      if line.hasPrefix("#if") { open.append(Condition()) }
      if line.hasPrefix("#"), !open.isEmpty { open[open.count - 1].read(line) }
      // The text is empty for `#ifdef`, which can stand in a string literal with C code.
      conditions.append(open.map(\.text).filter { !$0.isEmpty }.joined(separator: " && "))
      let found = Import(line)
      if let found { allImports.append(found) }
      if !open.isEmpty {
        if line.hasPrefix("#") { block.append(.directive(line)) } else if let found { block.append(.line(found)) }
        isOnlyImports = isOnlyImports && (line.isEmpty || line.hasPrefix("#") || line.hasPrefix("//") || found != nil)
      } else if let found {
        imports.append(.line(found))
      }
      if line.hasPrefix("#endif"), open.popLast() != nil, open.isEmpty {
        if isOnlyImports { imports.append(.block(block)) }
        (block, isOnlyImports) = ([], true)
      }
    }
  }

  /// The `#if` condition of a line; `nil` if it is always compiled.
  func condition(ofLine line: Int) -> String? {
    guard conditions.indices.contains(line - 1), !conditions[line - 1].isEmpty else { return nil }
    return conditions[line - 1]
  }

  /// One `#if`, up to the line that has been read.
  private struct Condition {
    /// The negated conditions of the branches before.
    private var earlier: [String] = []

    /// The condition of the branch; `nil` for `#else`.
    private var current: String?

    /// Reads a line that begins with `#`; `#if`, `#elseif` and `#else` begin the next branch.
    mutating func read(_ line: String) {
      let keyword = "#" + line.dropFirst().prefix(while: \.isLetter)
      guard ["#if", "#elseif", "#else"].contains(keyword) else { return }
      if let current { earlier.append("!(\(current))") }
      let condition = line.dropFirst(keyword.count).components(separatedBy: "//")[0].trimmed  // without a comment
      current = keyword == "#else" ? nil : condition
    }

    var text: String { (earlier + (current.map { ["(\($0))"] } ?? [])).joined(separator: " && ") }
  }
}

extension StringProtocol {
  var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
}

struct Import: Equatable {
  /// The text after `import`, such as `Foundation` or `struct Foundation.Data`.
  let spelling: String
  let module: String

  /// `public` or another; `nil` where the file does not say.
  let access: String?

  /// Reads a line; `nil` if it is no import.
  init?(_ line: String) {
    // Attributes are not copied: a `@preconcurrency` that does nothing would warn.
    var words = line.split(separator: " ").map(String.init)[...]
    while words.first?.hasPrefix("@") == true { words.removeFirst() }
    access = words.first.flatMap { AccessLevel(rawValue: $0) }?.rawValue
    if access != nil { words.removeFirst() }
    // The name can follow a kind, as in `struct Foundation.Data`, and a comment can follow the name.
    guard words.popFirst() == "import", let name = words.first(where: { !Self.kinds.contains($0) }) else { return nil }
    module = name.split(separator: ".").first.map(String.init) ?? name
    spelling = words.prefix(through: words.firstIndex(of: name) ?? words.startIndex).joined(separator: " ")
  }

  /// Modules that neither declare a type `Future`, as Combine does, nor export one of another module.
  static let modulesWithoutFuture: Set<String> = [
    "AppKit", "CoreFoundation", "CoreGraphics", "Darwin", "Dispatch", "Foundation", "FoundationEssentials",
    "FoundationNetworking", "Futures", "FuturesAsync", "FuturesFoundation", "Glibc", "Musl", "Security", "Swift",
    "Synchronization", "UIKit", "os",
  ]

  private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
}

/// The imports of a file of counterparts: the imports and `#if` blocks of the files whose functions it calls, each once.
struct ImportList {
  private var parts: [SourceFile.ImportPart] = []
  private var spellings: Set<String> = []  // of the imports in `parts` that each build has: those outside `#if`

  /// The modules that a file of the target imports with an access level.
  private let explicit: Set<String>

  /// The modules that a file of the target imports without an access level.
  private let implicit: Set<String>

  /// Whether a file of the target writes `public import`; a target whose imports are public by default does not.
  private let saysPublic: Bool
  private var modulesOfPublicTypes: Set<String> = []  // of types that a public counterpart names

  /// The module of the counterparts, which no import brings.
  private let ownModule: String

  init(of filesOfTarget: [SourceFile], in module: String) {
    ownModule = module
    let all = filesOfTarget.flatMap(\.imports).flatMap(\.imports)  // the parts of each file, then their imports
    explicit = Set(all.filter { $0.access != nil }.map(\.module))
    implicit = Set(all.filter { $0.access == nil }.map(\.module))
    saysPublic = all.contains { $0.access == "public" }
  }

  /// Adds the imports and the whole `#if` blocks that bring something new; the library is not new, because `lines` imports it.
  mutating func add(_ file: SourceFile) {
    for part in file.imports where !parts.contains(part) {
      let others = part.imports.filter { $0.module != "Futures" && $0.module != "FuturesAsync" }
      guard others.contains(where: { !spellings.contains($0.spelling) }) else { continue }
      if case .line = part { spellings.formUnion(others.map(\.spelling)) }
      parts.append(part)
    }
  }

  /// Notes the modules of the types in a public counterpart, so that `lines` imports them publicly.
  mutating func noteModules(ofPublicTypes tokens: [Token]) {
    for type in tokens.compactMap(\.type) {
      if let module = Self.module(ofType: type) { modulesOfPublicTypes.insert(module) }
    }
  }

  /// Whether an import of `imported` can bring the types of `module`.
  ///
  /// If no import names `module`, any import can bring its types: Foundation brings those of Dispatch.
  private func canBring(_ module: String, byImportOf imported: String) -> Bool {
    // `C` stands for any module of C, so any import can bring it. `Foundation` also brings the types of `FoundationEssentials`.
    if module == "C" || module.hasPrefix(imported) { return true }
    return module != ownModule && !parts.flatMap(\.imports).contains { module.hasPrefix($0.module) }
  }

  /// The lines, sorted by module, with conditional ones at the end.
  /// - Parameters:
  ///   - futures: The highest access level of a future counterpart in the file; `nil` without one.
  ///   - widest: The same, for all files that are written together.
  ///   - usesFutures: Whether the file needs the module Futures.
  ///   - isAsync: Whether the file has async counterparts.
  /// - Returns: The lines.
  func lines(futures: AccessLevel?, widest: AccessLevel?, usesFutures: Bool, isAsync: Bool) -> [String] {
    var lines: [(place: String, text: String)] = []
    if usesFutures {
      // All files must agree on whether this import has a level, so `widest` decides. Public future counterparts need a level.
      // Others do not: callers may write a plain `import Futures`. Without future counterparts (`nil`), `internal` hides Futures.
      let hasLevel = widest.map { $0 >= .public } ?? true
      let level = (futures ?? .internal) >= .public ? "public " : "internal "
      lines.append(("Futures", libraryLine("Futures", hasLevel ? level : nil)))
    }
    // No declaration names FuturesAsync, so it needs no level. If no file has a future counterpart, `internal` hides it, too.
    if isAsync { lines.append(("FuturesAsync", libraryLine("FuturesAsync", widest == nil ? "internal " : nil))) }
    var blocks: [String] = []
    for part in parts {
      if case .line(let found) = part { lines.append((found.spelling, line(found))) } else { blocks += text(of: part) }
    }
    return lines.sorted { $0.place < $1.place }.map(\.text) + blocks
  }

  /// Writes an import of the library; `access` is the wanted level, or `nil` to have one only if other imports of `module` do.
  private func libraryLine(_ module: String, _ access: String?) -> String {
    // If another file's import of the module has no level, it can be public. Then the level `internal` here would be an error.
    // So this import has no level either. In a target that writes `public import`, an import without a level is internal.
    if implicit.contains(module), !saysPublic { return "import " + module }
    return (access ?? (explicit.contains(module) ? "internal " : "")) + "import " + module
  }

  private func text(of part: SourceFile.ImportPart) -> [String] {
    switch part {
    case .line(let found): [line(found)]
    case .directive(let text): [text]
    case .block(let parts): parts.flatMap(text)
    }
  }

  /// Writes an import, with an access level if the target's own imports of the module have one.
  private func line(_ found: Import) -> String {
    guard explicit.contains(found.module) else { return "import " + found.spelling }
    let bringsPublicType = modulesOfPublicTypes.contains { canBring($0, byImportOf: found.module) }
    return (bringsPublicType ? "public " : "internal ") + "import " + found.spelling
  }

  /// Returns the module in an identifier such as `s:10Foundation4DataV`; `nil` for the standard library: `s:Si`.
  private static func module(ofType type: String) -> String? {
    if type.hasPrefix("c:") { return "C" }  // such an identifier names no module, and `canBring` takes `C` for any
    let digits = type.dropFirst(2).prefix(while: \.isNumber)
    guard type.hasPrefix("s:"), let count = Int(digits) else { return nil }
    return String(type.dropFirst(2 + digits.count).prefix(count))
  }
}
