internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Facts that other declarations or the text of a function show") struct FactTests {
  @Test(
    "No async counterpart takes calls of a function that is there",
    arguments: [
      // Top-level code would get the future, and other async code the async function.
      ("func read(_ id: Int) -> Future<Int, any Error>", "`read(_:)` is there"),
      ("func read(_ id: Int, retries: Int = 2) -> Future<Int, any Error>", "`read(_:retries:)` is there"),
      ("func read(_ id: Int, retries: Int) -> Future<Int, any Error>", nil),
      ("func readAll(_ id: Int) -> Future<Int, any Error>", nil),
      ("func read(_ id: Int, retries: Int = 2) -> Int", "`read(_:retries:)` is there"),
      // A call prefers the function that needs no default.
      ("func read(_ id: Int, retries: Int = 2) async -> Reply", "`read(_:retries:)` is there"),
      ("func read(_ id: Int?) async -> Reply", "`read(_:)` is there"),
      ("func read(_ id: Any) async -> Reply", "`read(_:)` is there"),
      ("func read(_ id: some Equatable) async -> Reply", "`read(_:)` is there"),
      ("func read(_ id: (any Equatable)?) async -> Reply", "`read(_:)` is there"),
      ("func read(_ id: Int!) async -> Reply", "`read(_:)` is there"),
      ("func read(_ id: String, retries: Int = 2) async -> Reply", nil),
      ("func read(id: Int, retries: Int = 2) async -> Reply", nil),
      ("static func read(_ id: Int, retries: Int = 2) -> Int", nil),
      ("func read(_ id: Int, retries: Int = 2, completion: @escaping (Int) -> Void)", nil),
    ]
  )
  func rivalsAreRefused(declaration: String, reason: String?) {
    for other in ["Files", "LocalFiles"] {
      var builder = GraphBuilder()
      builder.type("protocol Files", "Swift.Sendable")
      builder.type("struct LocalFiles", "Files")
      let callback = "func read(_ id: Int, completion: @escaping (Result<Int, any Error>) -> Void)"
      builder.function(callback, of: "Files", isRequirement: true)
      builder.function(declaration, of: other)
      let text = builder.generated(.async)
      #expect(text.contains("func read(_ id: Int) async") == (reason == nil), "\(text)")
      #expect(reason.map(text.contains) != false, "\(text)")
    }
  }

  @Test("An async function that needs fewer defaults keeps its calls, and one that is not async does not")
  func counterpartWithMoreDefaults() {
    func text(_ other: String) -> String {
      var builder = GraphBuilder()
      builder.function("func read(_ id: Int = 1, _ n: Int = 2, completion: @escaping (Int) -> Void)")
      builder.function("func read(_ id: Int = 1) \(other)")
      return builder.generated(.async)
    }
    #expect(text("async -> Reply").contains("func read(_ id: Int = 1, _ n: Int = 2) async"))
    #expect(text("-> Reply").contains("`read(_:)` is there"))
  }

  @Test("Functions with many defaults are compared in a table, and not call by call")
  func rivalWithManyDefaults() {
    var builder = GraphBuilder()
    let parameters = (0..<40).map { "_ p\($0): Int = 0" }.joined(separator: ", ")
    builder.function("func read(\(parameters), completion: @escaping (Int) -> Void)")
    builder.function("func read(\(parameters), last: Int = 0) async -> Reply")
    #expect(builder.generated(.async).contains("func readAsync(_ p0: Int = 0"))
  }

  @Test("A type can have an async function of its own beside the counterpart of its protocol's requirement")
  func counterpartOfARequirement() {
    var builder = GraphBuilder()
    builder.type("protocol Files", "Swift.Sendable")
    builder.type("struct LocalFiles", "Files")
    builder.function("func read(completion: @escaping (Int) -> Void)", of: "Files", isRequirement: true)
    builder.function("func read() async -> Int", of: "LocalFiles")
    #expect(builder.generated(.async).contains("extension Files {"))
  }

  @Test(
    "The condition of a function is copied without its comment, also if no space is before it",
    arguments: ["#if os(Linux)  // glibc", "#if(os(Linux))"]
  )
  func condition(line: String) throws {
    let declaration = "func load(completion: @escaping (Int) -> Void)"
    let text = try generated("\(line)\n\(declaration) { completion(1) }\n#endif", [(declaration, line: 2)], "{}")
    #expect(text.contains(/#if \(+os\(Linux\)\)+\n/), "\(text)")
  }

  @Test("A counterpart has another name if a subclass has an async function of its own, which could not override it")
  func counterpartInASuperclass() {
    var builder = GraphBuilder()
    builder.type("class Files", "Swift.Sendable")
    builder.type("class LocalFiles", "Files")
    builder.function("func read(completion: @escaping (Int) -> Void)", of: "Files")
    builder.function("func read() async -> Int", of: "LocalFiles")
    #expect(builder.generated(.async).contains("func readAsync()"))
  }

  @Test("An existing counterpart is found although the function spells a closure's type by an alias with attributes")
  func counterpartBehindAlias() {
    var builder = GraphBuilder()
    builder.type("typealias Filter = @Sendable (Int) -> Bool")
    builder.function("func load(_ filter: @escaping Filter, completion: @escaping (Int) -> Void)")
    builder.function("func load(_ filter: @escaping @Sendable (Int) -> Bool) async -> Int")
    #expect(!builder.generated(.async).contains("func load"))
  }

  /// Generates the counterparts of a type `Store` whose file has this text.
  private func generated(_ text: String, _ declarations: [(String, line: Int)], _ configuration: String) throws
    -> String
  {
    var builder = GraphBuilder()
    builder.root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: builder.root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: builder.root) }
    let file = URL(filePath: builder.root).appending(path: "Store.swift")
    try Data(text.utf8).write(to: file)
    builder.type("class Store", "Swift.Sendable")
    for (declaration, line) in declarations {
      builder.function(declaration, of: "Store", line: line, file: "Store.swift")
    }
    let inventory = builder.inventory(sources: [file.path], configuration: configuration)
    let plan = CounterpartPlan(inventory, style: .async)
    return Generator(plan).text + GenerationNotes(plan).comment
  }

  @Test(
    "A callback that its function keeps may come again, later or never, unless the package says otherwise",
    arguments: [
      ("self.handler = completion", true), ("handler = completion\n    start()", true),
      ("self?.handler = completion", true), ("let handler = completion", false), ("handlers[1] = completion", true),
      ("waiting[1, default: []] += [completion]", true), ("self.handlers?.insert((1, completion), at: 0)", true),
      ("let handlers = [completion]", false), ("var all: [H] = []\n    all.append(completion)", false),
      ("let handler: (Int) -> Void = completion", false), ("handler = completion(1)", false),
      ("handlers.append(completion)", true), ("handler = { completion($0) }", false),
    ]
  )
  func storedCallback(statement: String, isStored: Bool) throws {
    let text = "extension Store {\n  func load(completion: @escaping (Int) -> Void) {\n    \(statement)\n  }\n}\n"
    let load = [("func load(completion: @escaping (Int) -> Void)", line: 2)]
    let written = try generated(text, load, "{}")
    #expect(written.contains("func load() async") != isStored, "\(written)")
    #expect(written.contains(#""once": ["Store.load(completion:)"]"#) == isStored, "\(written)")
    #expect(try generated(text, load, #"{"once": ["*"]}"#).contains("func load() async"))
  }

  @Test("A handle that waits for its start is settled by a method that it has, or by none; one line serves a type")
  func startedHandleIsSettledByItsMembers() {
    func notes(_ members: [String], _ others: [String] = []) -> String {
      var builder = GraphBuilder()
      builder.type("protocol Transfer")
      for member in ["func resume()"] + members { builder.function(member, of: "Transfer", isRequirement: true) }
      builder.type("class Job", "Swift.Sendable")
      builder.function("func cancel()", of: "Job")
      builder.type("class Client", "Swift.Sendable")
      for name in ["load", "save", "send"] {
        builder.function("func \(name)(completion: @escaping (Int) -> Void) -> any Transfer", of: "Client")
      }
      builder.function("func count(completion: @escaping (Int) -> Void)", of: "Client")
      for other in others { builder.function(other, of: "Client") }
      builder.function("func open(completion: @escaping (Int) -> Void) -> any Transfer")
      return builder.generated()
    }
    func settings(_ text: String) -> [String] {
      let lines = text.split(separator: "\n").filter { $0.contains("\"handle\":") }
      return lines.map { String($0.drop { $0 != "\"" }) }
    }
    #expect(settings(notes([])) == [#""handle": {"Client.*": "none"}"#, #""handle": {"open(completion:)": "none"}"#])
    #expect(settings(notes(["func stop()"])).first == #""handle": {"Client.*": "stop()"}"#)
    #expect(settings(notes(["func stop()", "func cancel()"])).first == #""handle": {"Client.*": "cancel()"}"#)
    #expect(settings(notes(["mutating func cancel()"])).first == #""handle": {"Client.*": "none"}"#)
    // A line for the whole type would drop the handle of the other function.
    let mixed = settings(notes([], ["func run(completion: @escaping (Int) -> Void) -> Job"]))
    #expect(mixed.count == 4 && mixed.contains(#""handle": {"Client.save(completion:)": "none"}"#), "\(mixed)")
  }

  @Test("A file keeps the import that brings the types of a module that no file imports")
  func importOfAModuleThatExportsAnother() throws {
    var builder = GraphBuilder()
    builder.root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: builder.root, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: builder.root) }
    try Data("import Foundation\nimport Other\n".utf8).write(to: URL(filePath: builder.root + "/App.swift"))
    builder.foreignType("Job", "s:8Dispatch3JobC")
    builder.function("func load(_ job: Job, completion: @escaping (Int) -> Void)", file: "App.swift")
    #expect(builder.generated().contains("import Foundation\n"))
  }

  @Test("One line says that the callbacks of a type come once, unless one of them comes many times")
  func onceOfAType() {
    func settings(_ others: [String]) -> [String] {
      var builder = GraphBuilder()
      builder.type("class Client", "Swift.Sendable")
      for name in ["user", "group"] + others {
        builder.function("func \(name)(_ block: @escaping (Int) -> Void)", of: "Client")
      }
      let lines = builder.generated().split(separator: "\n")
      return lines.filter { $0.contains("\"once\":") }.map { String($0.drop { $0 != "\"" }) }
    }
    #expect(settings([]) == [#""once": ["Client.*"]"#])
    #expect(settings(["onMessage"]).count == 3 && !settings(["onMessage"]).contains(#""once": ["Client.*"]"#))
  }

  @Test("A counterpart beside a function of its name has another name, and no setting is needed")
  func otherNames() {
    func text(_ name: String, _ others: [String]) -> String {
      var builder = GraphBuilder()
      builder.type("class Client", "Swift.Sendable")
      builder.function("func \(name)(id: Int, completion: @escaping (Int) -> Void)", of: "Client")
      for other in others { builder.function("func \(other)(id: Int) -> Int", of: "Client") }
      return builder.generated(.async)
    }
    #expect(text("user", ["user"]).contains("func userAsync(id: Int) async"))
    #expect(text("user", ["user"]).contains("they have another name, because `user(id:)` is there"))
    #expect(text("userAsync", ["userAsync"]).contains("func user(id: Int) async"))
    #expect(text("user", ["user", "userAsync"]).contains("`user(id:)` is there, and async code"))
    #expect(!text("user", ["user", "userAsync"]).contains("async throws"))
  }

  @Test("A function that the package skips is not listed")
  func skippedFunctionsAreNotListed() {
    var builder = GraphBuilder()
    builder.type("class Client")
    builder.function("func load(_ block: @escaping (Int) -> Void)", of: "Client")
    #expect(builder.generated().contains("Client.load"))
    #expect(!builder.generated(configuration: #"{"skip": ["Client.*"]}"#).contains("Client"))
  }
}
