internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Reports")
struct ReportTests {
  private var builder: GraphBuilder {
    var builder = GraphBuilder()
    builder.function("func load(id: Int, completion: @escaping (Int) -> Void)", line: 3)
    builder.function("func load(id: Int) async throws -> Int", line: 4)
    builder.function("func save(completion: @escaping ((any Error)?) -> Void)", line: 5)
    builder.function("func visit(_ body: @escaping (Int) -> Void)", line: 6)
    builder.function("func look(_ block: @escaping (Int) -> Void)", line: 7)
    return builder
  }

  private func text(_ builder: GraphBuilder) -> String { Report([builder.inventory()]).text }

  @Test("The table says how far each function is, and groups refusals with the line that would settle them")
  func tableIsGrouped() {
    #expect(
      text(builder) == """
        App: 4 functions take a callback; 1 (25 %) have an async counterpart, 1 can be written, 2 refused

        Sources/App/App.swift: 1 of 4
            3  load(id:completion:)                                            value                           async
            5  save(completion:)                                               error?                          can be written
            6  visit(_:)                                                       unknown                         refused: 1
            7  look(_:)                                                        unknown                         refused: 1

        Refused:
        1. nothing says whether `…` is called once
           Sources/App/App.swift:6: visit(_:): `body`
             "once": ["visit(_:)"]
           Sources/App/App.swift:7: look(_:): `block`
             "once": ["look(_:)"]

        """
    )
  }

  @Test("The summary counts each kind where they differ")
  func summaryCountsKinds() {
    var builder = GraphBuilder()
    builder.type("class Model")
    builder.function("func load(completion: @escaping (Model) -> Void)")
    builder.function("func save(completion: @escaping (Int) -> Void)")
    let text = text(builder)
    let summary = "2 can be written, 0 refused\nCounterparts that can be written: 2 async, 1 future."
    #expect(text.contains(summary), "\(text)")
  }

  @Test("A long title does not make the table wider than 120 columns")
  func tableFits() {
    var builder = GraphBuilder()
    let labels = (1...20).map { "label\($0): Int" }.joined(separator: ", ")
    builder.function("func load(\(labels), progress: @escaping (Double) -> Void, completion: @escaping (Int) -> Void)")
    let lines = text(builder).split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 120 }, "\(lines)")
    #expect(lines.contains { $0.contains("…") })
  }

  @Test("JSON has each counterpart with its state, and the reason and the line of a refusal")
  func jsonHasCounterparts() throws {
    let modules =
      try JSONSerialization.jsonObject(with: Data(Report([builder.inventory()]).json.utf8)) as? [[String: Any]]
    let functions = try #require(modules?.first?["functions"] as? [[String: Any]])
    let first = try #require(functions.first?["counterparts"] as? [[String: String]])
    #expect(first[0] == ["kind": "async", "title": "load(id:)", "state": "exists", "file": "Sources/App/App.swift"])
    #expect(first[1] == ["kind": "future", "title": "loadFuture(id:)", "state": "writable"])
    let last = try #require(functions.last?["counterparts"] as? [[String: String]])
    #expect(last[0]["state"] == "refused" && last[0]["setting"] == #""once": ["look(_:)"]"#)
    #expect(functions.last?["shape"] as? String == "unknown")
  }

  private func check(_ builder: GraphBuilder, baseline: GraphBuilder) throws -> (text: String, status: Int32) {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data(Report([baseline.inventory()]).json.utf8).write(to: folder.appending(path: "baseline.json"))
    try builder.json.write(to: folder.appending(path: "App.symbols.json"))
    let arguments = try MigrationArguments(["report", "--check", "baseline.json", "--minimum-access", "internal"])
    let outcome = try MigrationRun(arguments, try request(folder, graphs: folder)).run()
    return (outcome.text, outcome.status)
  }

  @Test("A function without a counterpart that the baseline does not have ends the check with 1")
  func checkSeesAdditions() throws {
    #expect(try check(builder, baseline: builder) == ("No function without a counterpart was added.\n", 0))
    var added = builder
    added.function("func load(name: String, completion: @escaping (Int) -> Void)", line: 9)
    let failed = try check(added, baseline: builder)
    #expect(failed.status == 1 && failed.text.contains(":9: load(name:completion:)\n"), "\(failed.text)")
    #expect(!failed.text.contains("save"), "\(failed.text)")
    // With an added counterpart the check passes, and also with both functions removed.
    added.function("func load(name: String) async throws -> Int", line: 10)
    #expect(try check(added, baseline: builder).status == 0)
    #expect(try check(builder, baseline: added).status == 0)
    var second = builder
    second.function("func look(_ block: @escaping (String) -> Void)", line: 11)
    #expect(try check(second, baseline: builder).status == 1, "an overload of one that the baseline has")
  }

  @Test("A file that is no report is no baseline")
  func baselineIsAReport() throws {
    let folder = FileManager.default.temporaryDirectory
    let run = MigrationRun(
      try MigrationArguments(["report", "--check", "/nowhere.json"]),
      try request(folder, graphs: folder)
    )
    let error = #expect(throws: MigrationError.self) { try run.run() }
    #expect(error?.description == "/nowhere.json is no report; write one with `report --json`.")
  }

  @Test("Functions that are less accessible are counted")
  func lessAccessibleFunctionsAreCounted() {
    var builder = GraphBuilder()
    for name in ["load", "walk"] { builder.function("func \(name)(completion: @escaping (Int) -> Void)") }
    builder.function("func fly(completion: @escaping () -> Void)", access: "public")
    let text = Report([builder.inventory(minimumAccess: .public)]).text
    #expect(text.contains("2 more functions are not accessible enough"), "\(text)")
  }

  @Test("A counterpart in another module of the package counts")
  func otherModulesCount() {
    var client = GraphBuilder()
    client.function("func save() async throws", file: "Sources/Other/Save.swift")
    let inventory = builder.inventory(clients: [client.graph], sources: ["/package/Sources/App/App.swift"])
    let text = Report([inventory]).text
    #expect(text.contains("2 (50 %) have an async counterpart"), "\(text)")
    // Callers of the module might not import the other module.
    #expect(try! DeprecationDiff(inventory, style: .async, only: "save").text().isEmpty)
  }
}
