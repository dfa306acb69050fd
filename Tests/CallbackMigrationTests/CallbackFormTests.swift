internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Callback functions for an async API")
struct CallbackFormTests {
  private var builder = GraphBuilder()

  init() { builder.type("struct Client", "Swift.Sendable") }

  @Test(
    "The callback gets what the async function returns or throws, on the main queue",
    arguments: [
      (
        "func user(id: Int) async throws -> String",
        "func user(id: Int, completion: @escaping @Sendable (Result<String, any Error>) -> Void) {",
        "Future { try await self.user(id: id) }.forward(on: .main, to: completion)"
      ),
      (
        "func user(_ id: Int = 1) async throws(CocoaError) -> Int",
        "func user(_ id: Int = 1, completion: @escaping @Sendable (Result<Int, CocoaError>) -> Void) {",
        "Future { () async throws(CocoaError) in try await self.user(id) }.forward(on: .main, to: completion)"
      ),
      (
        "func save() async throws", "func save(completion: @escaping @Sendable (Result<Void, any Error>) -> Void) {",
        "Future { try await self.save() }.forward(on: .main, to: completion)"
      ),
      (
        "func watch() async -> Int?", "func watch(completion: @escaping @Sendable (Int?) -> Void) {",
        "Future { await self.watch() }.forward(on: .main, to: completion)"
      ),
      (
        "func ping() async", "func ping(completion: @escaping @Sendable () -> Void) {",
        "Future { await self.ping() }.whenSucceeded(on: .main) { _ in completion() }"
      ),
      (
        "func count(completion: Int) async throws(Never) -> (a: Int, b: Int)",
        "func count(completion: Int, completionHandler: @escaping @Sendable ((a: Int, b: Int)) -> Void) {",
        "await self.count(completion: completion) }.forward(on: .main, to: completionHandler)"
      ),
      (
        "static func same<T>(_ value: T) async throws -> T where T : Sendable",
        "static func same<T>(_ value: T, completion: @escaping @Sendable (Result<T, any Error>) -> Void) where T : Sendable {",
        "Future { try await self.same(value) }.forward(on: .main, to: completion)"
      ),
    ]
  )
  func formIsWritten(declaration: String, signature: String, body: String) {
    var builder = builder
    builder.function(declaration, of: "Client", documentation: "Asks.")
    let text = builder.generated(.callbacks)
    #expect(text.contains("  " + signature) && text.contains(body), "\(text)")
    #expect(text.contains("/// Asks.\n  ///\n  /// The callback counterpart of ``"), "\(text)")
    #expect(text.contains("``. Calls back on the main queue.\n"), "\(text)")
    #expect(text.contains("import Futures\n") && text.contains("import FuturesAsync\n"), "\(text)")
  }

  @Test(
    "A function whose form would do something else, or which no task can call, has none",
    arguments: [
      ("func load(_ body: (Int) -> Int) async", "`body` does not escape"),
      (
        "func load(_ body: @escaping (Int) -> Int) async", "nothing here says that `@escaping (Int) -> Int` is Sendable"
      ),
      ("func load(_ value: @autoclosure () -> Int) async", "`value` is an autoclosure"),
      ("func load(_ value: Plain) async", "nothing here says that `Plain` is Sendable"),
      ("func load() async -> Plain", "`Plain` is not Sendable"),
      ("func load<T>(_ value: T) async", "nothing here says that `T` is Sendable"),
      ("func load() async -> (any Error)?", "its callback would get `(any Error)?`, which looks like a failure"),
      ("func load() async -> Result<Int, any Error>", "which looks like a failure"),
      ("func load(_ values: Int...) async", "`values` is variadic"),
      ("func load(_ value: inout Int) async", "`value` is `inout`"),
      ("mutating func load() async", "it changes its value"),
      ("func load(_ body: @Sendable () -> Int) async rethrows -> Int", "it rethrows"),
    ]
  )
  func formIsRefused(declaration: String, reason: String) {
    var builder = builder
    builder.type("class Plain")
    builder.function(declaration, of: "Client")
    let text = builder.generated(.callbacks)
    #expect(!text.contains("func ") && text.contains("// 1. ") && text.contains(reason), "\(text)")
  }

  @Test("The type of the function is Sendable, or the function is static")
  func typeIsSendable() {
    var builder = builder
    builder.type("class Plain")
    builder.function("func load() async", of: "Plain")
    builder.function("static func shared() async -> Int", of: "Plain")
    let text = builder.generated(.callbacks)
    #expect(text.contains("static func shared(completion:") && !text.contains("func load"), "\(text)")
    #expect(text.contains("// 1. nothing here says that `Plain` is Sendable"), "\(text)")
  }

  @Test(
    "A function that has a form with a callback gets no other",
    arguments: [
      "func load(id: Int, completion: @escaping (Int) -> Void)",
      "func load(id: Int, on queue: DispatchQueue, handler: ((Int) -> Void)?)",
      "func load(id: Int, success: @escaping (Int) -> Void, failure: @escaping (any Error) -> Void)",
      "func load(_ done: @escaping (Int) -> Void, id: Int)",
      "func fetch(id: Int, completion: @escaping (Int) -> Void)",
      "func lo(id: Int, completion: @escaping (Int) -> Void)",
    ]
  )
  func existingFormStays(declaration: String) {
    var builder = builder
    builder.function("func load(id: Int) async -> Int", of: "Client")
    builder.function(declaration, of: "Client")
    let renames = #"{"renames": {"Client.fetch(*": "load", "Client.lo(*": "*ad"}}"#
    let text = builder.generated(.callbacks, configuration: renames)
    #expect(!text.contains("func ") && !text.contains("// 1. "), "\(text)")
  }

  @Test(
    "A function whose calls could get the new one is a reason to write none",
    arguments: [
      "func load(id: Int64, completion: @escaping (Int) -> Void)", "func load(id: Int, map: (Int) -> Int) -> Int",
      "func load(id: Int, limit: Int = 1, completion: @escaping (Int) -> Void)",
    ]
  )
  func similarFunctionIsAReason(declaration: String) {
    var builder = builder
    builder.function("func load(id: Int) async -> Int", of: "Client")
    builder.function(declaration, of: "Client")
    let text = builder.generated(.callbacks)
    #expect(!text.contains("func ") && text.contains("is there, and calls of it could get the new one"), "\(text)")
  }

  @Test("Functions that take other arguments, or only a value more, are no forms")
  func otherFunctionsAreNoForms() {
    var builder = builder
    builder.function("func load(id: Int) async -> Int", of: "Client")
    builder.function("func load(name: String, completion: @escaping (Int) -> Void)", of: "Client")
    builder.function("func load(id: Int, limit: Int) -> Int", of: "Client")
    builder.function("static func load(id: Int, completion: @escaping (Int) -> Void)", of: "Client")
    #expect(builder.generated(.callbacks).contains("func load(id: Int, completion:"))
  }

  @Test("The callback function of isolated code runs where its caller is")
  func formIsNonisolated() {
    var builder = builder
    builder.type("actor Desk")
    builder.type("@MainActor class Screen", "Swift.Sendable")
    builder.function("func next() async -> Int", of: "Desk")
    builder.function("@MainActor func title(limit: Int = maximum) async -> Int", of: "Screen")
    builder.function("@MainActor func show() async", of: "Screen")
    builder.function("@MainActor func start() async")
    let text = builder.generated(.callbacks)
    #expect(text.contains("nonisolated func next(completion:") && text.contains("nonisolated func show(completion:"))
    #expect(text.contains("\nfunc start(completion: @escaping @Sendable () -> Void) {"), "\(text)")
    #expect(!text.contains("@MainActor") && text.contains("`maximum`, a default, can belong to an actor"), "\(text)")
  }

  @Test("The configuration says where the callback comes, and skips functions")
  func configurationDecides() {
    var builder = builder
    builder.function("func load() async -> Int", of: "Client")
    builder.function("func save() async -> Int", of: "Client")
    let text = builder.generated(
      .callbacks,
      configuration: #"{"context": {"Client.load(completion:)": ".global()"}, "skip": ["Client.save*"]}"#
    )
    #expect(text.contains(".forward(on: .global(), to: completion)") && text.contains("Calls back on a global queue."))
    #expect(!text.contains("func save"), "\(text)")
  }

  @Test("The form of a requirement serves all types, and methods of delegates have none")
  func requirementsHaveForms() {
    var builder = builder
    builder.type("protocol Loader", "Swift.Sendable")
    builder.type("struct File", "Swift.Sendable", "Loader")
    builder.type("protocol LoaderDelegate", "Swift.Sendable")
    builder.function("func load() async -> Int", of: "Loader", isRequirement: true)
    builder.function("func load() async -> Int", of: "File")
    builder.function("func ask() async -> Int", of: "LoaderDelegate", isRequirement: true)
    let text = builder.generated(.callbacks)
    #expect(text.contains("extension Loader {") && !text.contains("extension File"), "\(text)")
    #expect(text.contains("it implements a requirement of `Loader`"), "\(text)")
    #expect(text.contains("it is a method of `LoaderDelegate`, which other code calls"), "\(text)")
  }

  @Test("A second run writes the same, and with --only the other forms of its file stay")
  func formsStay() {
    var builder = builder
    let (output, form) = ("\(builder.root)/Callbacks.swift", "completion: @escaping @Sendable (Int) -> Void)")
    for name in ["load", "save", "late"] { builder.function("func \(name)() async -> Int", of: "Client") }
    for name in ["load", "save"] { builder.function("func \(name)(\(form)", of: "Client", file: "Callbacks.swift") }
    #expect(!builder.generated(.callbacks).contains("func load"))
    let text = builder.generated(.callbacks, only: "Client.load", ignoring: output)
    #expect(text.contains("func load(") && text.contains("func save(") && !text.contains("func late("), "\(text)")
  }

  @Test("`--deprecate` has no callback functions to annotate")
  func deprecateContradicts() {
    let words = ["generate", "--style", "callbacks", "--deprecate"]
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(words) }
    #expect(error?.description == "--deprecate cannot be used with --style callbacks.")
    #expect(Generator.pathBeside("/A/Store.swift", .callbacks) == "/A/Store+Callbacks.swift")
  }
}
