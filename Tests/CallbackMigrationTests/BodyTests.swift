internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("What the body of a function shows about its callback") struct BodyTests {
  /// Generates the async counterparts of a file.
  ///
  /// A line that begins with `func` is a function of the type `Store`.
  private func generated(_ text: String, conforming: Bool = false) throws -> String {
    let folder = try Folder()
    var builder = GraphBuilder()
    builder.root = folder.path
    builder.foreignType("URLSessionDataTask", "s:20FoundationNetworking18URLSessionDataTaskC")
    builder.foreignType("DataTask", "s:20FoundationNetworking18URLSessionDataTaskC")
    builder.type("protocol Loading", "Swift.Sendable")
    if conforming { builder.type("class Store", "Loading") } else { builder.type("class Store", "Swift.Sendable") }
    for (index, line) in text.split(separator: "\n").enumerated() {
      if let head = line.split(separator: "{").first, head.contains("func "), !line.contains("// private") {
        let declaration = head.trimmingCharacters(in: .whitespaces)
        builder.function(declaration, of: "Store", line: index + 1, file: "Store.swift")
        if conforming { builder.function(declaration, of: "Loading", file: "Loading.swift", isRequirement: true) }
      }
    }
    try folder.write(text, to: "Store.swift")
    let inventory = builder.inventory(sources: [folder.path + "/Store.swift"])
    let plan = CounterpartPlan(inventory, style: .async)
    return Generator(plan).text + GenerationNotes(plan).comment
  }

  private static let find = "func find(completion: @escaping (Int?, (any Error)?) -> Void) {\n"

  @Test(
    "A success without a value makes the counterpart return an optional, and the notes say where it is",
    arguments: [
      ("completion(nil, nil)", true), ("completion?(nil, nil)", true), ("queue.async { completion(nil, nil) }", true),
      ("if a { completion(nil, nil)\n return }\n completion(1, nil)", true), ("send(completion)", true),
      ("completion(nil, error)", false), ("completion(value, nil)", false), ("other(nil, nil)", false),
      ("completion(nil, Fault(nil))", false), ("log(\"completion(nil, nil)\")", false),
    ]
  )
  func successWithoutValue(body: String, isOptional: Bool) throws {
    let helper = "\nfunc send(_ done: @escaping (Int?, (any Error)?) -> Void) { // private\n done(nil, nil) }"
    let text = try generated(Self.find + body + " }" + helper + "\nlet kind = Kind.func")  // a `func` without a name
    #expect(text.contains("func find() async throws -> \(isOptional ? "Int?" : "Int") {"), "\(text)")
    #expect(text.contains("callback.valueOrErrorHandler(.some(value1), error)") == isOptional, "\(text)")
    #expect(text.contains("calls back with neither a value nor an error") == isOptional, "\(text)")
  }

  @Test("Of several values, one that can be missing makes all of them optional")
  func severalValues() throws {
    let head = "func find(completion: @escaping (Int?, String?, (any Error)?) -> Void) {\n"
    #expect(try generated(head + "completion(1, nil, nil) }").contains("async throws -> (Int?, String?) {"))
    #expect(try generated(head + "completion(1, text, nil) }").contains("async throws -> (Int, String) {"))
  }

  @Test("The body of a type that conforms shows what the counterpart of a requirement returns")
  func requirement() throws {
    let text = try generated(Self.find + "completion(nil, nil) }", conforming: true)
    #expect(text.contains("extension Loading {") && text.contains("func find() async throws -> Int? {"), "\(text)")
    let repeated = try generated(Self.find + "completion(1, nil)\ncompletion(2, nil) }", conforming: true)
    #expect(!repeated.contains("async throws"), "\(repeated)")
  }

  @Test("A function that passes its callback on is refused for the body that gets it, unless two functions could")
  func passedOn() throws {
    let load = "func load(completion: @escaping (Int) -> Void) {\n send(to: completion) }\n"
    let send = "func send(to done: @escaping (Int) -> Void) { // private\n done(1)\n done(2) }\n"
    #expect(try generated(load + send).contains("line 4 calls its callback, and line 5 calls it again"))
    #expect(try generated(load + send + send).contains("func load() async"))
    // A circle of functions ends.
    #expect(try generated("func a(c: @escaping (Int) -> Void) {\n a(c: c) }").contains("// "))
  }

  @Test(
    "A returned task that the body starts runs, and the counterpart cancels it",
    arguments: [
      ("let task = make(completion)\ntask.resume()\nreturn task", true),
      ("task?.resume()\nreturn task", true), ("let task = make(completion)\nreturn task", false),
      ("if a { task.resume() }\nreturn task", false), ("queue.async { task.resume() }\nreturn task", false),
      ("other.resume()\nreturn task", false),
      ("return send(completion)", true), ("queue(completion)\nsend(completion)", true),
      ("let task = make()\nsend(completion)\nreturn task", false),
    ]
  )
  func startedTask(body: String, isStarted: Bool) throws {
    let head = "func load(completion: @escaping (Int?, (any Error)?) -> Void) -> URLSessionDataTask {\n"
    let helper = "\nfunc send(_ done: @escaping (Int?, (any Error)?) -> Void) -> URLSessionDataTask { // private\n"
    let text = try generated(head + body + "\n}" + helper + "task.resume()\nreturn task }")
    #expect(text.contains("callback.onCancel { handle.value.cancel() }") == isStarted, "\(text)")
    #expect(text.contains("runs before its caller calls `resume()`") != isStarted, "\(text)")
  }

  @Test(
    "A task that callers can ignore runs, unless the body makes it and starts none",
    arguments: [
      ("return make(completion)", true), ("return session.dataTask(1, completion)", false),
      ("let task = session.dataTask(1, completion)\nstart { task.resume() }\nreturn task", true),
    ]
  )
  func ignoredTask(body: String, isWritten: Bool) throws {
    let head =
      "@discardableResult func load(completion: @escaping (Int?, (any Error)?) -> Void) -> URLSessionDataTask {\n"
    let text = try generated(head + body + "\n}")
    #expect(text.contains("callback.onCancel { handle.value.cancel() }") == isWritten, "\(text)")
    #expect(text.contains("runs before its caller calls `resume()`") != isWritten, "\(text)")
  }

  @Test(
    "A value called error that is no Error is returned, and the notes have the line that would make it one"
  )
  func noError() {
    var builder = GraphBuilder()
    builder.type("enum Fault")
    builder.type("class Client", "Swift.Sendable")
    for name in ["load", "save"] {
      builder.function("func \(name)(completion: @escaping (_ n: Int?, _ error: Fault?) -> Void)", of: "Client")
    }
    let text = builder.generated(.async)
    #expect(text.contains("func load() async throws -> (n: Int?, error: Fault?)"), "\(text)")
    #expect(text.contains("they return `error`, a `Fault`, which is no `Error` that they could throw"), "\(text)")
    #expect(text.contains("`extension Fault: Error {}` would make it one"), "\(text)")
  }

  @Test("A file that is written again keeps its mode")
  func fileMode() throws {
    let folder = try Folder()
    var builder = GraphBuilder()
    builder.function("func load(completion: @escaping (Int) -> Void)")
    try folder.write(String(decoding: builder.json, as: UTF8.self), to: "App.symbols.json")
    try folder.write(Generator.marker + "\n", to: "Out.swift")
    let path = folder.path + "/Out.swift"
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    let arguments = try MigrationArguments(["generate", "--output", "Out.swift", "--minimum-access", "internal"])
    _ = try MigrationRun(arguments, try request(folder.url, graphs: folder.url)).run()
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o755)
    #expect(try String(contentsOfFile: path, encoding: .utf8).contains("func load() async"))
  }
}
