internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("The annotations that deprecate functions with a counterpart")
struct DeprecationTests {
  /// The diff of functions, each with an async counterpart, in a file of its own.
  private func diff(
    _ declarations: [String],
    _ style: CounterpartStyle = .both,
    only pattern: String? = nil,
    lineEnd: String = "\n"
  ) throws -> String {
    var builder = GraphBuilder()
    builder.root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let folder = URL(filePath: builder.root).appending(path: "Sources/App")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: builder.root) }
    try declarations.joined(separator: lineEnd).write(
      to: folder.appending(path: "App.swift"),
      atomically: true,
      encoding: .utf8
    )
    builder.type("protocol Store")
    builder.type("class Disk", "Store")
    for (index, declaration) in declarations.enumerated() {
      let parts = declaration.components(separatedBy: " // ")
      let owner = parts.count > 1 ? parts[1] : nil
      builder.function(
        parts[0],
        of: owner,
        line: index + 1,
        origin: parts.count > 2 ? parts[2] : nil,
        isRequirement: owner == "Store"
      )
      let name = parts[0].dropFirst(5).prefix { $0 != "(" }
      builder.function("func \(name)() async throws -> Int", of: owner, file: "Sources/App/Async.swift")
    }
    return try DeprecationDiff(builder.inventory(), style: style, only: pattern).text()
  }

  @Test("A function with a counterpart is deprecated, if it matches the pattern")
  func patternChooses() throws {
    let functions = ["func load", "func save"].map { "\($0)(completion: @escaping (Int) -> Void)" }
    let both = try diff(functions)
    #expect(both.contains(#"renamed: "load()""#) && both.contains(#"renamed: "save()""#), "\(both)")
    let one = try diff(functions, only: "load")
    #expect(one.contains(#"renamed: "load()""#) && !one.contains(#"renamed: "save()""#), "\(one)")
    #expect(try diff(functions, .futures).isEmpty)
    #expect(try diff(functions, lineEnd: "\r\n").contains(#"renamed: "save()""#))
  }

  @Test(
    "A function whose callers or conforming types could not change is not deprecated",
    arguments: [
      "func save(completion: (() -> Void)? = nil)",
      "func save(completion: @escaping (Int) -> Void) // Store",
      "func save(completion: @escaping (Int) -> Void) // Disk // Store.save(completion:)",
      "func save(completion: @escaping (Int) -> Void) // Disk // ElsewhereDelegate.save(completion:)",
    ]
  )
  func othersStay(declaration: String) throws {
    #expect(try diff([declaration]).isEmpty)
  }
}
