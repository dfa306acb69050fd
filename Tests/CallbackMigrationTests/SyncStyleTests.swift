internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Counterparts of functions whose callback does not escape")
struct SyncStyleTests {
  private var builder: GraphBuilder {
    var builder = GraphBuilder()
    builder.foreignType("Void", "s:s4Voida")
    builder.type("enum Failure", "Swift.Error", "Swift.Sendable")
    builder.type("class Page")
    builder.type("struct Book")
    return builder
  }

  private func generated(_ declaration: String, _ others: String..., configuration: String = "{}") -> String {
    var builder = builder
    for text in [declaration] + others { builder.function(text, of: "Book") }
    return builder.generated(.sync, configuration: configuration)
  }

  @Test("A counterpart stores the first outcome, returns or throws it, and needs no import")
  func counterpartReturnsTheOutcome() {
    #expect(
      generated("func read(_ id: Int = 3, completion: (Result<Int, Failure>) -> Void)") == """
        \(Generator.marker)

        extension Book {
          /// The synchronous counterpart of ``read(_:completion:)``.
          /// Traps if the callback does not come.
          func read(_ id: Int = 3) throws(Failure) -> Int {
            var outcome: Result<Int, Failure>?
            self.read(id, completion: { outcome = outcome ?? $0 })
            guard let outcome else { preconditionFailure("read(_:completion:) returned without calling its callback.") }
            return try outcome.get()
          }
        }

        """
    )
  }

  @Test(
    "The effects and the result follow the callback and the function",
    arguments: [
      ("func f(_ body: (Result<Int, any Error>) -> Void)", "func f() throws -> Int {"),
      ("func f(completion: (Int) -> Void)", "func f() -> Int {"),
      ("func f(completion: () -> Void)", "func f() {"),
      ("func f(completion: (Result<Int, Failure>) -> Void) throws", "func f() throws -> Int {"),
      ("mutating func f(_ n: inout Int, done: ((any Error)?) -> Void)", "mutating func f(_ n: inout Int) throws {"),
      ("func f(completion: (Int?, (any Error)?) -> Void)", "gave neither a value nor an error.\")"),
      (
        "func f(success: (Int) -> Void, failure: (any Error) -> Void)",
        "failure: { outcome = outcome ?? .failure($0) })"
      ),
      ("func f(outcome: Int, completion: (Int) -> Void)", "completion: { outcome_ = outcome_ ?? .success($0) })"),
      ("func f(_ n: inout Int, completion: (Int) -> Void)", "self.f(&n, completion:"),
      ("func f(by step: () -> Int, completion: (Int) -> Void)", "func f(by step: () -> Int) -> Int {"),
      ("@MainActor func f(completion: @MainActor (Int) -> Void)", "func f() -> Int {"),
      ("@MainActor func f(completion: @MainActor @Sendable (Int) -> Void)", "func f() -> Int {"),
      ("static func f<T>(_ t: T, completion: (T?, Failure?) -> Void)", "{ (value1: T?, error: Failure?) in"),
    ]
  )
  func signature(declaration: String, text: String) {
    #expect(generated(declaration).contains(text), "\(generated(declaration))")
  }

  @Test(
    "The tool refuses a counterpart that could do something else, with the line that would settle it",
    arguments: [
      ("func open(_ body: (Result<Page, any Error>) -> Void)", "valid inside the callback only", "once"),
      ("func read(completion: (Page) -> Void)", "valid inside the callback only", "once"),
      ("func bytes(completion: (UnsafeRawBufferPointer) -> Void)", "valid inside the callback only", "once"),
      ("func pages(_ body: (Result<Int, any Error>) -> Void)", "nothing says whether `body` is called once", "once"),
      ("func eachPage(_ body: (Result<Int, any Error>) -> Void)", "again and again; return an array", "once"),
      ("func find(handler: (Int) -> Void)", "nothing says whether `handler` is called once", "once"),
      ("func f(completion: (Int) -> Void) -> Int", "it returns `Int`", "handle"),
      ("func f(completion: (inout Int) -> Void)", "its callback's parameter is `inout`", nil),
      ("func f(completion: @Sendable (Int) -> Void)", "its callback is `@Sendable`", nil),
      ("func f(completion: @MainActor (Int) -> Void)", "its callback is `@MainActor`", nil),
      ("@MainActor func f(completion: @Sendable (Int) -> Void)", "its callback is `@Sendable`", nil),
      ("func f(completion: (Int) throws -> Void) rethrows", "it rethrows", nil),
      ("func f(completion: (Int) -> Void = { _ in })", "code that calls it without its callback", "renames"),
      ("init(completion: (Int) -> Void)", "it is an initializer", nil),
    ] as [(String, String, String?)]
  )
  func refusals(declaration: String, reason: String, key: String?) {
    let text = generated(declaration)
    #expect(text.contains(reason) && !text.contains("extension"), "\(text)")
    #expect(key.map { text.contains("//      \"\($0)\": ") } ?? !text.contains("//      \""), "\(text)")
  }

  @Test(
    "The documentation can say that the callback might not come",
    arguments: ["at most once", "not called if empty"]
  )
  func documentation(phrase: String) {
    var builder = builder
    builder.function("func f(completion: (Int) -> Void)", documentation: "Calls back. It is \(phrase).")
    #expect(builder.generated(.sync).contains("its documentation says \""), "\(builder.generated(.sync))")
  }

  @Test("The configuration can say that the callback comes once, and that its value stays valid")
  func configurationSettles() {
    let declaration = "func open(_ body: (Page) -> Void)"
    #expect(generated(declaration) == Generator.marker + "\n", "a closure without the name of a callback is work to do")
    let text = generated(declaration, configuration: #"{"once": ["Book.open(_:)"]}"#)
    #expect(text.contains("func open() -> Page {"), "\(text)")
    #expect(!generated(declaration, configuration: #"{"once": ["*"], "skip": ["Book.*"]}"#).contains("func open"))
    #expect(
      generated(declaration, configuration: #"{"once": ["*"], "scoped": ["*"]}"#).contains("its values are scoped")
    )
  }

  @Test(
    "A declaration that calls could mean instead needs another name for the counterpart",
    arguments: [
      ("func f(_ id: Int) -> String", true), ("func f(_ id: Int) async -> Int", true),
      ("func f(_ name: String, again: Int = 2) -> Int", true), ("func f(_ id: Int, again: Int) -> Int", false),
      ("func f(_ ids: Int...) -> String", true), ("func f(again: Int = 1, _ id: Int) -> Int", true),
      ("func g(_ id: Int) -> String", false),
    ]
  )
  func conflicts(declaration: String, isRefused: Bool) {
    let text = generated("func f(_ id: Int, completion: (Int) -> Void)", declaration)
    #expect(text.contains("func f(_ id: Int) -> Int {") != isRefused, "\(text)")
    #expect(text.contains(#""renames": {"Book.f(_:completion:)": "fSync"}"#) == isRefused, "\(text)")
  }

  @Test("A trailing closure fits a parameter with any label")
  func trailingClosures() {
    let text = generated("func f(by step: () -> Int, completion: (Int) -> Void)", "func f(_ body: () -> Int) -> Int")
    #expect(text.contains("`f(_:)` is there, and code that calls it might get the new one"), "\(text)")
  }

  @Test("A property of the same name needs another name for a counterpart without parameters")
  func propertiesConflict() {
    var builder = builder
    builder.member("let size: Int", of: "Book")
    builder.function("func size(completion: (Int) -> Void)", of: "Book")
    #expect(builder.generated(.sync).contains("`size` is there"), "\(builder.generated(.sync))")
    let renamed = builder.generated(.sync, configuration: #"{"renames": {"*": "sizeNow"}}"#)
    #expect(renamed.contains("func sizeNow() -> Int {"), "\(renamed)")
  }

  @Test("A counterpart that exists is not written again, and is not counted")
  func existingCounterparts() {
    var builder = builder
    builder.function("func f(completion: (Int) -> Void)", of: "Book")
    builder.function("func open(_ body: (Result<Page, any Error>) -> Void)", of: "Book")
    let text = Report([builder.inventory()]).text(as: .table)
    let line = "2 more functions are synchronous; `generate --style sync` writes 1 counterpart: "
    #expect(text.contains(line + "Book.f(completion:), Book.open(_:)\n"), "\(text)")
    builder.function("func f() -> Int", of: "Book")
    #expect(!builder.generated(.sync).contains("func f()"), "\(builder.generated(.sync))")
    #expect(Report([builder.inventory()]).text(as: .table).contains("1 more function is synchronous"))
  }

  @Test("Each style keeps the counterparts of the others in the file")
  func stylesKeepOthers() {
    var builder = builder
    builder.function("func f(completion: (Int) -> Void)", of: "Book")
    builder.function("func load(completion: @escaping (Int) -> Void)", of: "Book")
    let file = "Sources/App/Counterparts.swift"
    builder.function("func f() -> Int", of: "Book", file: file)
    builder.function("func load() async throws -> Int", of: "Book", file: file)
    let inventory = builder.inventory(ignoring: "/package/" + file)
    for style in [CounterpartStyle.sync, .async] {
      let text = Generator(inventory, style: style, only: nil).text
      #expect(text.contains("func f() -> Int {") && text.contains("func load() async"), "\(text)")
    }
    #expect(!Generator(inventory, style: .sync, only: nil).text.contains("loadFuture"))
  }

  @Test("A type that cannot escape stays in the callback")
  func nonescapableTypes() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "View.swift")
    try Data("struct View: ~Escapable {}\n".utf8).write(to: file)
    var builder = builder
    builder.type("struct View")
    builder.function("func view(completion: (View) -> Void)", of: "Book")
    let plan = CounterpartPlan(builder.inventory(sources: [file.path]), style: .sync)
    #expect(GenerationNotes(plan).text.contains("`View` cannot escape from the callback"))
  }

  @Test("The style needs no dependency")
  func noDependency() throws {
    let package = try request(URL(filePath: "/package"), dependencies: [])
    #expect(try package.neededGraphs(for: MigrationArguments(["generate", "--style", "sync"])) == ["App"])
  }
}
