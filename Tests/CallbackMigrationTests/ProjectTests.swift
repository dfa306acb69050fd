internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("The executable, without the plugin")
struct ProjectTests {
  private func arguments(_ words: String...) throws -> MigrationArguments {
    try MigrationArguments(words, isPlugin: false)
  }

  @Test("It takes a module with its folders, and says so where one is missing")
  func projectIsRead() throws {
    let options = ["--module", "App", "--sources", "S", "--symbol-graphs"]
    #expect(try MigrationArguments(["report"] + options + ["G"], isPlugin: false).command == .report(isJSON: false))
    for words in [["report"], ["generate", "--module", "App", "--sources", "S"]] {
      let error = #expect(throws: MigrationError.self) { try MigrationArguments(words, isPlugin: false) }
      #expect(error?.description.hasPrefix("--module, --sources and --symbol-graphs name a module") == true)
    }
  }

  @Test("The plugin knows its package, so it has none of these options")
  func pluginHasNoProject() {
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(["report", "--module", "App"]) }
    #expect(error?.description.hasPrefix("`report` has no option --module; it has ") == true)
  }

  @Test("An option that is a switch takes no value: `--json=no` does not ask for JSON")
  func switchHasNoValue() {
    let words = ["report", "--target", "App", "--json=no"]
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(words) }
    #expect(error?.description == "--json takes no value.")
  }

  @Test("The help begins with the command as its reader typed it, and has the compiler's options for a module")
  func helpFitsTheCommand() throws {
    let plugin = try MigrationArguments([]).help
    #expect(plugin.hasPrefix("Usage: swift package migrate-callbacks report   [--target T]"))
    #expect(!plugin.contains("--module") && plugin.contains("--allow-writing-to-package-directory"))
    let executable = try arguments().help
    #expect(executable.hasPrefix("Usage: migrate-callbacks report   [--json]"))
    #expect(!executable.contains("swift package") && !executable.contains("--target"))
    for option in SymbolGraph.compilerOptions(folder: "FOLDER") { #expect(executable.contains(option), "\(option)") }
    for line in (plugin + executable).split(separator: "\n") { #expect(line.count <= 124, "\(line)") }
  }

  @Test("A call of the plugin is none of a person")
  func pluginCallIsRecognized() {
    #expect(PluginCall(["run", "/request.json", "--", "report"])?.arguments == ["report"])
    #expect(PluginCall(["plan", "/request.json", "--"])?.step == .plan)
    #expect(PluginCall(["report", "--package-path", "."]) == nil)
    #expect(PluginCall([]) == nil)
  }

  @Test("A project that plain `swiftc` compiles is read from the graphs of its build")
  func moduleOfAnotherBuildIsRead() throws {
    let folder = try Folder()
    try folder.write(
      """
      struct Store: Sendable {
        struct Options: Sendable { var limit = 1 }
        struct Page: Sendable {
          func load(_ options: Options, completion: @escaping @Sendable (Swift.Result<Options, any Swift.Error>) -> Void) {}
        }
      }
      extension Collection where Element: Sendable, Self: Sendable {
        func pick(completion: @escaping @Sendable (Element?) -> Void) { completion(first) }
      }
      protocol Loading: Sendable {
        associatedtype Item: Sendable
        func item(completion: @escaping @Sendable (Item) -> Void)
      }
      """,
      to: "Sources/Store.swift"
    )
    #expect(throws: MigrationError.self) { try run("report", in: folder) }
    try folder.compile("App", "Sources/Store.swift")
    let report = try run("report", in: folder)
    #expect(report.hasPrefix("App: 3 functions take a callback; 0 (0 %) have an async counterpart, 3 can be written"))
    let text = try run("generate", in: folder)
    // An extension of `Page` does not see the types of `Store`.
    #expect(text.contains("func load(_ options: Store.Options) async throws -> Store.Options"), "\(text)")
    #expect(text.contains("func pickFuture() -> Future<Element?, any Error>"), "\(text)")
    #expect(text.contains("func itemFuture() -> Future<Item, any Error>"), "\(text)")
    let output = "\(folder.path)/Sources/Counterparts.swift"
    #expect(try run("generate", "--output", output, in: folder).isEmpty)
    #expect(try run("generate", "--output", output, in: folder).isEmpty)
  }

  @Test("A module that extends another holds its counterparts")
  func counterpartsOfOtherModulesCount() throws {
    let folder = try Folder()
    try folder.write(
      """
      public struct Store: Sendable {
        public func load(completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {}
      }
      """,
      to: "Sources/Store.swift"
    )
    try folder.write("import App\nextension Store { public func load() async throws -> Int { 1 } }", to: "Bridge.swift")
    try folder.compile("App", "Sources/Store.swift")
    try folder.compile("Bridge", "Bridge.swift")
    #expect(
      try run("report", in: folder).hasPrefix("App: 1 function takes a callback; 1 (100 %) have an async counterpart")
    )
  }

  @Test("Symbol graphs that are older than the sources, or those of other sources, are refused")
  func oldGraphsAreRefused() throws {
    let folder = try Folder()
    let source = "struct Store: Sendable {\n  func load(completion: @escaping @Sendable (Int) -> Void) {}\n}\n"
    try folder.write(source, to: "Sources/Store.swift")
    try folder.compile("App", "Sources/Store.swift")
    try folder.write("// A new line.\n" + source, to: "Sources/Store.swift")
    let old = #expect(throws: MigrationError.self) { try run("report", in: folder) }
    #expect(
      old?.description.hasSuffix(
        """
        Sources/Store.swift:2 does not declare Store.load(completion:): the symbol graphs in \(folder.path)/graphs are older \
        than the sources. Delete them, and build App again.
        """
      ) == true,
      "\(old?.description ?? "")"
    )
    try folder.write(source, to: "Elsewhere/Store.swift")
    let other = #expect(throws: MigrationError.self) { try run("report", in: folder, sources: "Elsewhere") }
    #expect(
      other?.description
        == """
        The symbol graphs of App are those of other files, such as \(folder.path)/Sources/Store.swift, and not of \
        \(folder.path)/Elsewhere.
        """
    )
  }

  private func run(_ words: String..., in folder: Folder, sources: String = "Sources") throws -> String {
    let options = [
      "--module", "App", "--sources", "\(folder.path)/\(sources)", "--symbol-graphs", "\(folder.path)/graphs",
      "--minimum-access", "internal",
    ]
    return try MigrationRun.run(try MigrationArguments(words + options, isPlugin: false)).text
  }
}

/// A temporary folder, which goes with the last reference.
final class Folder {
  let url = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).standardizedFileURL
  var path: String { url.path }

  init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: url) }

  func write(_ text: String, to name: String) throws {
    let file = url.appending(path: name)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  /// Compiles a module as a build without SwiftPM does.
  func compile(_ module: String, _ source: String) throws {
    try run(
      ["-I", path, "-emit-module", "-emit-module-path", "\(path)/\(module).swiftmodule"]
        + SymbolGraph.compilerOptions(folder: "\(path)/graphs") + ["\(path)/\(source)"],
      module: module
    )
  }

  private func run(_ options: [String], module: String, in folder: String = "graphs") throws {
    let current = url.appending(path: folder)
    try FileManager.default.createDirectory(at: current, withIntermediateDirectories: true)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swiftc", "-parse-as-library", "-module-name", module] + options
    process.currentDirectoryURL = current
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
  }
}
