internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("The index of a project without Package.swift")
struct StoredIndexTests {
  private let folder: Folder
  private static let store = """
    struct Store: Sendable {
      func load(completion: @escaping @Sendable (Int) -> Void) { completion(1) }
      func load() async -> Int { await withCheckedContinuation { done in load { done.resume(returning: $0) } } }
    }
    """
  private static let screen = """
    func show(_ store: Store) async {
      store.load { print($0) }
    }
    func start(_ store: Store) {
      store.load { print($0) }
    }

    """

  /// Builds a project of two files, with its index.
  init() throws {
    folder = try Folder()
    try folder.write(Self.store, to: "Sources/Store.swift")
    try folder.write(Self.screen, to: "Sources/Screen.swift")
    try folder.compile("App", "Sources/Store.swift")
    try folder.index("Store.swift", "Screen.swift")
  }

  private func run(_ words: String...) throws -> String {
    let options = [
      "--module", "App", "--sources", "\(folder.path)/Sources", "--symbol-graphs", "\(folder.path)/graphs",
    ]
    return try MigrationRun.run(try MigrationArguments(words + options, isPlugin: false)).text
  }

  private func callers() throws -> String { try run("callers", "--index-store", "\(folder.path)/index") }

  private func setDate(_ date: Date, of name: String) throws {
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: "\(folder.path)/Sources/\(name)")
  }

  @Test("`callers` reads it, and builds nothing")
  func callsAreFound() throws {
    let files = { try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() }
    let before = try files()
    let lines = try callers().split(separator: "\n")
    #expect(lines.first == "2 calls of 1 function with a callback: 1 ready, 0 next, 1 edge, 0 by hand")
    #expect(lines.contains { $0.hasPrefix("    2  show(_:)  ") && $0.hasSuffix("  ready") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("    5  start(_:)  ") && $0.hasSuffix("  edge") }, "\(lines)")
    #expect(try files() == before)
  }

  @Test("The units of earlier builds do not count")
  func earlierUnitsAreIgnored() throws {
    let changed = Self.store.replacingOccurrences(of: "Int", with: "Int8")
    try folder.write(changed, to: "Sources/Store.swift")
    try folder.compile("App", "Sources/Store.swift")
    try folder.index("Store.swift", "Screen.swift", objects: "others")
    #expect(try callers().hasPrefix("2 calls of 1 function with a callback"))
  }

  @Test("A file that the index lacks is an error")
  func missingFileIsAnError() throws {
    try folder.write("func later(_ store: Store) { store.load { _ in } }", to: "Sources/Later.swift")
    try expectError("The index in \(folder.path)/index has no Later.swift, so a list would lack the calls there.")
  }

  @Test("A file that is newer than its index is an error")
  func newerFileIsAnError() throws {
    try setDate(Date(timeIntervalSinceNow: 10), of: "Screen.swift")
    try expectError("Screen.swift is newer than the index in \(folder.path)/index, so a list could lack calls.")
  }

  @Test("A function that the index has at another place is an error, also if the file is old")
  func movedFunctionIsAnError() throws {
    try folder.write("// A new line.\n" + Self.store, to: "Sources/Store.swift")
    try setDate(Date(timeIntervalSince1970: 1), of: "Store.swift")
    try folder.compile("App", "Sources/Store.swift")
    try expectError(
      "The index in \(folder.path)/index is not that of the sources: it has no Store.load(completion:) at Store.swift:3."
    )
  }

  @Test("A call of a function whose declaration has changed since is an error")
  func callOfAnotherFunctionIsAnError() throws {
    let changed = Self.store.replacingOccurrences(of: "Int", with: "Int8")
    try folder.write(changed, to: "Sources/Store.swift")
    try folder.compile("App", "Sources/Store.swift")
    // The build of the other file has failed.
    try folder.index("Store.swift")
    try expectError(
      """
      The index in \(folder.path)/index is not that of the sources: at Screen.swift:5, it calls a `load` that no file declares.
      """
    )
  }

  @Test("An initializer that the compiler makes is no sign of an old index")
  func synthesizedInitializerIsIgnored() throws {
    let mode =
      "enum Mode: Int { case fast }\nstruct Job {\n  init(completion: @escaping @Sendable (Int) -> Void) {}\n}\n"
    try folder.write(Self.store + "\n" + mode, to: "Sources/Store.swift")
    try folder.write(Self.screen + "let mode = Mode(rawValue: 0)\n", to: "Sources/Screen.swift")
    try folder.compile("App", "Sources/Store.swift")
    try folder.index("Store.swift", "Screen.swift")
    #expect(try callers().hasPrefix("2 calls of 1 function with a callback"))
  }

  @Test("A folder without an index is an error")
  func missingIndexIsAnError() throws {
    try FileManager.default.removeItem(atPath: "\(folder.path)/index")
    try expectError("There is no index of the compiler in \(folder.path)/index.")
  }

  private func expectError(_ text: String) throws {
    let error = #expect(throws: MigrationError.self) { try callers() }
    #expect(error?.description.hasPrefix(text) == true, "\(error?.description ?? "")")
  }

  // MARK: A command

  @Test("`convert` builds a copy by a command, and uses the index of each build")
  func copyIsConverted() throws {
    defer { removeCopy() }
    let diff = try run(
      "convert",
      "--build",
      #"swiftc -c -parse-as-library -module-name App -index-store-path "$MIGRATION_BUILD/index" *.swift"#
    )
    #expect(diff.hasPrefix("# 1 of 1 ready calls converted.\n"), "\(diff)")
    #expect(
      diff.contains("-  store.load { print($0) }\n+  let value = await store.load()\n+  print(value)\n"),
      "\(diff)"
    )
    #expect(try String(contentsOfFile: "\(folder.path)/Sources/Screen.swift", encoding: .utf8) == Self.screen)
  }

  @Test(
    "The error says what the command has to do",
    arguments: [
      ("true", "The command of --build has written no index into $MIGRATION_BUILD. Let it compile with"),
      (
        "echo Store.swift:2:3: error: wrong; exit 1",
        "A copy of the project does not build, so nothing can be said of the calls.\n/"
      ),
    ]
  )
  func commandIsExplained(command: String, message: String) throws {
    defer { removeCopy() }
    let error = #expect(throws: MigrationError.self) { try run("convert", "--build", command) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  private func removeCopy() {
    let name = "migrate-callbacks\(folder.path)/Sources".replacingOccurrences(of: "/", with: "-")
    try? FileManager.default.removeItem(at: FileManager.default.temporaryDirectory.appending(path: name))
  }
}
