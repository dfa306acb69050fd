internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("The executable, without the plugin")
struct ProjectTests {
  private static let module = ["--module", "App", "--sources", "S", "--symbol-graphs", "G"]

  private func arguments(_ words: String...) throws -> MigrationArguments {
    try MigrationArguments(words, isPlugin: false)
  }

  @Test("It takes a package, by default in the current folder, or a module with its folders")
  func projectIsRead() throws {
    #expect(try arguments("report").project == .package(folder: "."))
    #expect(try arguments("convert", "--package-path", "../App").project == .package(folder: "../App"))
    #expect(
      try arguments("generate", "--module", "App", "--sources", "Sources", "--symbol-graphs=/tmp/graphs").project
        == .module(name: "App", sources: "Sources", symbolGraphs: "/tmp/graphs")
    )
    let both = try MigrationArguments(
      ["callers", "--index-store", "I", "--build", "make"] + Self.module,
      isPlugin: false
    )
    #expect(both.project == .module(name: "App", sources: "S", symbolGraphs: "G", index: .store("I")))
    #expect(try arguments("--help").project == nil)
    #expect(try MigrationArguments(["report"]).project == nil)
  }

  @Test(
    "The error names the mistake in one sentence",
    arguments: [
      (["report", "--sources", "S"], "--sources needs --module"),
      (["report", "--module", "App", "--sources", "S"], "--module needs --sources and --symbol-graphs"),
      (["report", "--module", "App", "--target", "T"], "--target and --module contradict each other."),
      (["report", "--module", "App", "--package-path", "."], "--package-path and --module contradict each other."),
      (["callers", "--index-store", "I"], "--index-store needs --module"),
      (["convert", "--build", "make"], "--build needs --module"),
      (
        ["callers"] + module,
        "`callers` needs the compiler's index of App. Name the folder that its build has written with"
      ),
      (
        ["convert", "--index-store", "I"] + module,
        "`convert` needs the compiler's index of App. Name a shell command with"
      ),
      (["turn-around"] + module, "`turn-around` needs the compiler's index of App. Name a shell command with --build."),
      (["convert", "--build", "make", "--test"] + module, "--test runs `swift test`, so it needs a package."),
    ]
  )
  func mistakeIsNamed(arguments: [String], message: String) {
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(arguments, isPlugin: false) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test("The plugin knows its package, so it has none of these options")
  func pluginHasNoProject() {
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(["report", "--module", "App"]) }
    #expect(error?.description.hasPrefix("`report` has no option --module; it has ") == true)
  }

  @Test("The help begins with the command as its reader typed it, and has the compiler's options for a module")
  func helpFitsTheCommand() throws {
    let plugin = try MigrationArguments([]).help
    #expect(plugin.hasPrefix("Usage: swift package migrate-callbacks report      [--target T]"))
    #expect(!plugin.contains("--module") && plugin.contains("--disable-sandbox"))
    let executable = try arguments().help
    #expect(executable.hasPrefix("Usage: migrate-callbacks report      [--target T]"))
    #expect(!executable.contains("swift package") && executable.contains("--package-path PATH"))
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

  @Test("SwiftPM's description gives the targets with their modules, sources and dependencies")
  func packageIsDescribed() throws {
    let description = """
      {
        "dependencies": [{"identity": "other"}, {"identity": "swift-futures"}],
        "targets": [
          {"name": "my-tool", "c99name": "my_tool", "type": "executable", "module_type": "SwiftTarget",
           "path": "Sources/my-tool", "sources": ["main.swift"], "target_dependencies": ["Middle"]},
          {"name": "Middle", "c99name": "Middle", "type": "library", "module_type": "SwiftTarget",
           "path": "Sources/Middle", "sources": ["B.swift", "A/A.swift"], "target_dependencies": ["Base", "CBase"]},
          {"name": "Base", "c99name": "Base", "type": "library", "module_type": "SwiftTarget",
           "path": "Base", "sources": ["Base.swift"], "product_dependencies": ["Futures", "FuturesAsync"]},
          {"name": "CBase", "c99name": "CBase", "type": "library", "module_type": "ClangTarget",
           "path": "CBase", "sources": ["base.c"]},
          {"name": "BaseTests", "c99name": "BaseTests", "type": "test", "module_type": "SwiftTarget",
           "path": "Tests/BaseTests", "sources": ["T.swift"], "target_dependencies": ["Base"]}
        ]
      }
      """
    let request = try PackageDescription(json: Data(description.utf8)).request(folder: URL(filePath: "/package"))
    #expect(request.package == "/package")
    #expect(request.library == "swift-futures")
    #expect(request.targets.map(\.name) == ["Base", "BaseTests", "Middle", "my-tool"])
    #expect(request.targets.map(\.module) == ["Base", "BaseTests", "Middle", "my_tool"])
    #expect(request.targets.map(\.isLibrary) == [true, false, true, false])
    #expect(request.targets.map(\.isTest) == [false, true, false, false])
    #expect(request.targets[2].sources == ["/package/Sources/Middle/A/A.swift", "/package/Sources/Middle/B.swift"])
    #expect(request.targets[0].dependencies == ["Futures", "FuturesAsync"])
    #expect(request.targets[2].dependencies == ["Base", "CBase"])
    #expect(request.targets[3].allDependencies == ["Base", "CBase", "Futures", "FuturesAsync", "Middle"])
    #expect(throws: MigrationError.self) { try PackageDescription(json: Data("warning".utf8)) }
  }

  @Test("A folder without Package.swift is refused, with both ways to name a project")
  func missingPackageIsSaid() throws {
    let folder = try Folder()
    let error = #expect(throws: MigrationError.self) {
      try MigrationRun.run(try arguments("report", "--package-path", folder.path))
    }
    #expect(
      error?.description
        == "There is no Package.swift in \(folder.path). Name a package with --package-path, or a module with --module."
    )
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
      """,
      to: "Sources/Store.swift"
    )
    #expect(throws: MigrationError.self) { try run("report", in: folder) }
    try folder.compile("App", "Sources/Store.swift")
    let report = try run("report", in: folder)
    #expect(report.hasPrefix("App: 2 functions take a callback; 0 (0 %) have an async counterpart, 2 can be written"))
    let text = try run("generate", in: folder)
    // An extension of `Page` does not see the types of `Store`.
    #expect(text.contains("func load(_ options: Store.Options) async throws -> Store.Options"), "\(text)")
    #expect(text.contains("func pickFuture() -> Future<Element?, any Error>"), "\(text)")
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

  /// Compiles sources with an index, and puts the object files into a folder.
  func index(_ sources: String..., objects: String = "objects") throws {
    let sources = sources.map { "\(path)/Sources/\($0)" }
    try run(["-index-store-path", "\(path)/index", "-c"] + sources, module: "App", in: objects)
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
