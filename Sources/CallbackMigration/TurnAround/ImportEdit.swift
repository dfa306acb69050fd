/// Adds the imports of a wrapper to a file.
struct ImportEdit {
  /// The source files of the module, which show how the module imports.
  let sources: [SourceFile]

  /// The change of a file; `nil` if the file has the imports already.
  func edit(of source: SourceText, for modules: [String]) -> SourceEdit? {
    let list = ImportList(of: sources)
    var last: Int?
    var place: Int?
    var missing = modules
    var depth = 0
    for line in 0...source.line(of: source.text.utf8.count) {
      let text = source.line(line).trimmed
      if text.hasPrefix("#if") { depth += 1 }
      if text.hasPrefix("#endif") { depth -= 1 }
      guard depth == 0, let found = Import(text) else { continue }
      // Foundation has the declarations of Dispatch.
      missing.removeAll { $0 == found.target || $0 == "Dispatch" && found.target == "Foundation" }
      last = line
      if modules.first.map({ found.module > $0 }) == true, place == nil { place = line }
    }
    guard !missing.isEmpty else { return nil }
    let lines = missing.map { list.libraryLine($0, nil) + "\n" }.joined()
    // An attribute can have a line of its own.
    while let line = place, line > 0, source.line(line - 1).trimmed.hasPrefix("@"),
      Import(source.line(line - 1).trimmed) == nil
    {
      place = line - 1
    }
    let start = source.start(ofLine: place ?? last.map { $0 + 1 } ?? firstLineOfCode(source))
    return SourceEdit(start..<start, lines + (last == nil ? "\n" : ""))
  }

  /// The line after the comments at the head of a file.
  private func firstLineOfCode(_ source: SourceText) -> Int {
    var line = 0
    let end = source.line(of: source.text.utf8.count)
    while line < end {
      let text = source.line(line).trimmed
      guard text.isEmpty || text.hasPrefix("//") && !text.hasPrefix("///") else { break }
      line += 1
    }
    return line
  }
}
