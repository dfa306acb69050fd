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

  @Test("No async counterpart has the name of a function that #if leaves out, and that is not async")
  func hiddenRival() throws {
    func text(_ hidden: String) -> String {
      """
      extension Store {
        func load(id: Int, completion: @escaping (Int) -> Void) {}
      }
      #if canImport(Streams)
        extension Store {
          \(hidden) { other() }
        }
      #endif
      """
    }
    let load = [("func load(id: Int, completion: @escaping (Int) -> Void)", line: 2)]
    for hidden in [
      "func load(id: Int) -> Stream<Int, Never>", "func load(id: Int, again: [Int: Int] = [1: 2]) -> Stream",
    ] {
      let written = try generated(text(hidden), load, "{}")
      #expect(written.contains("another name, because `#if` leaves out a `load(id:)` here"), "\(written)")
      #expect(written.contains("func loadAsync(id: Int) async"), "\(written)")
      #expect(
        try generated(text(hidden), load, #"{"renames": {"*": "loadAsync"}}"#).contains("func loadAsync(id: Int)")
      )
    }
    for other in ["func load(id: Int) async -> Int", "func load(_ id: Int) -> Int", "func loads(id: Int) -> Int"] {
      #expect(try generated(text(other), load, "{}").contains("func load(id: Int) async"), "\(other)")
    }
  }

  @Test("The line that makes the counterpart throw a typed error names a case that holds any error")
  func caseOfAnyError() {
    func setting(_ cases: [String]) -> String? {
      var builder = GraphBuilder()
      builder.type("enum Fault", "Swift.Error", "Swift.Sendable")
      for option in cases { builder.member("case \(option)", of: "Fault") }
      builder.function("func load(completion: @escaping (Result<Int, Fault>) -> Void)")
      let text = builder.generated(.async)
      #expect(text.contains("it throws any error; name a function that makes `Fault`"), "\(text)")
      return text.split(separator: "\n").first { $0.contains("\"failure\":") }.map { String($0.drop { $0 != "\"" }) }
    }
    #expect(setting(["offline", "other(any Error)"]) == #""failure": {"load(completion:)": "Fault.other"}"#)
    #expect(setting(["offline", "labeled(error: any Error)", "number(Int)"]) == nil)
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
      let lines = text.split(separator: "\n").filter { $0.contains("\"handle\":") || $0.contains("\"start\":") }
      return lines.map { String($0.drop { $0 != "\"" }) }
    }
    #expect(
      settings(notes([])) == [#""start": {"Client.*": "resume()"}"#, #""start": {"open(completion:)": "resume()"}"#]
    )
    #expect(settings(notes(["func stop()"])).first == #""handle": {"Client.*": "stop()"}"#)
    #expect(settings(notes(["func stop()", "func cancel()"])).first == #""handle": {"Client.*": "cancel()"}"#)
    #expect(settings(notes(["mutating func cancel()"])).first == #""start": {"Client.*": "resume()"}"#)
    // A line for the whole type would drop the handle of the other function.
    let mixed = settings(notes([], ["func run(completion: @escaping (Int) -> Void) -> Job"]))
    #expect(mixed.count == 4 && mixed.contains(#""start": {"Client.save(completion:)": "resume()"}"#), "\(mixed)")
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
    builder.foreignType("Load", "s:3App4LoadC")
    builder.function("func run(_ load: Load, completion: @escaping (Int) -> Void)", file: "App.swift")
    #expect(!builder.generated(only: "run(*").contains("import Foundation\n"))
  }

  @Test("The counterpart starts the work by a method of the handle where the package says so")
  func handleIsStarted() {
    func text(_ type: String, _ members: [String], _ configuration: String) -> String {
      var builder = GraphBuilder()
      builder.type("protocol Transfer")
      for member in ["func resume()"] + members { builder.function(member, of: "Transfer", isRequirement: true) }
      builder.function("func load(completion: @escaping (Int) -> Void) -> \(type)")
      return builder.generated(.async, configuration: configuration)
    }
    let start = #"{"start": {"load(*": "resume()"}}"#
    #expect(text("any Transfer", [], start).contains("load(completion: callback.valueHandler).resume()\n"))
    #expect(text("(any Transfer)?", [], start).contains("load(completion: callback.valueHandler)?.resume()\n"))
    let both = text("any Transfer", ["func cancel()"], start)
    #expect(both.contains("callback.onCancel { handle.value.cancel() }\n    handle.value.resume()\n"), "\(both)")
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
