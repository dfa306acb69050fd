internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Writing counterparts")
struct GeneratorTests {
  @Test(
    "The names of a callback's values become the labels of the result",
    arguments: [
      ("(_ files: [Int]?, _ messages: [String]?, _ error: (any Error)?)", "([Int]?, [String]?, (any Error)?)"),
      ("(_ files: [Int], _ messages: [String])", "([Int], [String])"),
      ("(_ files: [Int], _ messages: [String], (any Error)?)", "([Int], [String], (any Error)?)"),
      // The compiler keeps the labels of a tuple.
      ("", "(Result<(files: [Int], messages: [String]), any Error>)"),
      ("", "((files: [Int], messages: [String])?, (any Error)?)"),
    ]
  )
  func namesBecomeLabels(source: String, type: String) throws {
    var builder = GraphBuilder()
    builder.root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let file = URL(filePath: builder.root).appending(path: "Sources/App/App.swift")
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: builder.root) }
    // The graph's place of a name is the start of its line here.
    let text = "struct Client: Sendable {\n  func\nload(_ id: Int, completion: @escaping \(source) -> Void) {}\n}\n"
    try Data(text.utf8).write(to: file)
    builder.type("struct Client", "Swift.Sendable")
    builder.function("func load(_ id: Int, completion: @escaping \(type) -> Void)", of: "Client", line: 3)
    let generated = builder.generated()
    #expect(generated.contains("async throws -> (files: [Int], messages: [String]) {"), "\(generated)")
    #expect(generated.contains("-> Future<(files: [Int], messages: [String]), any Error> {"), "\(generated)")
    let value = ["(files: value1, messages: value2)", "resultHandler)", "valueOrErrorHandler)"]
    #expect(value.contains(where: generated.contains), "\(generated)")
  }

  @Test("Values without names, or with one name twice, have no labels")
  func valuesWithoutNamesHaveNoLabels() {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.function("func load(completion: @escaping (_ a: Int, _ a: Int) -> Void)", of: "Client")
    builder.function("func save(completion: @escaping (_ a: Int, Int) -> Void)", of: "Client")
    let text = builder.generated(.async)
    #expect(text.contains("func load() async throws -> (Int, Int) {"), "\(text)")
    #expect(text.contains("func save() async throws -> (a: Int, Int) {"), "\(text)")
  }

  @Test(
    "A type that another one hides is written with its module",
    arguments: [
      ("Error", "func load(completion: @escaping (Result<Int, any Error>) -> Void)", "Future<Int, any Swift.Error>"),
      (
        "Error", "func load(_ error: any Error, completion: @escaping (Int) -> Void)",
        "func load(_ error: any Swift.Error)"
      ),
      ("Void", "func save(completion: @escaping ((any Error)?) -> Void)", "Future<Swift.Void, any Error>"),
      ("String", "func load(completion: @escaping ([String]) -> Void)", "async throws -> [Swift.String]"),
      (
        "Result", "func load(_ last: Result<Int, any Error>, completion: @escaping (Int) -> Void)", ": Swift.Result<Int"
      ),
      ("Data", "func load(completion: @escaping (Data?, (any Error)?) -> Void)", "Future<Foundation.Data, any Error>"),
      ("Never", "func load<T>(completion: @escaping (T) -> Void) where T : P<Never>", "where T : P<Swift.Never>"),
      (
        "Task", "func load(completion: @escaping (Int) -> Void) -> Work",
        "_Concurrency.Task { await handle.value.cancel() }"
      ),
      (
        "UncheckedTransfer", "func load(completion: @escaping (Int) -> Void) -> Work",
        "Futures.UncheckedTransfer(self.load("
      ),
      (
        "Double", "func load(progress: @escaping (Float) -> Void, completion: @escaping (Int) -> Void)",
        "Swift.Double($0)"
      ),
      (
        "Int64", "func load(progress: @escaping (Int, Int) -> Void, completion: @escaping (Int) -> Void)",
        "Swift.Int64($1)"
      ),
    ]
  )
  func hiddenTypesAreQualified(name: String, declaration: String, text: String) {
    for scope in ["Client", nil] {
      var builder = GraphBuilder()
      builder.foreignType("Data", "s:20FoundationEssentials4DataV")
      builder.foreignType("Never", "s:s5NeverO")
      builder.foreignType("Void", "s:s4Voida")
      builder.type("class Work")
      builder.function("func cancel() async", of: "Work")
      builder.type("class Client", "Swift.Sendable")
      builder.type("class Other", "Swift.Sendable")
      builder.function(declaration, of: "Client")
      builder.function(declaration, of: "Other")
      builder.hidingType("enum \(name)", of: scope)
      let parts = builder.generated().components(separatedBy: "extension Other {")
      #expect(parts[0].contains(text), "\(parts[0])")
      // A member of `Client` hides nothing in another type.
      #expect(parts[1].contains(text) == (scope == nil), "\(parts[1])")
    }
  }

  @Test("A generated function keeps the declaration without its callbacks, and calls the original")
  func counterpartCallsItsFunction() {
    var builder = GraphBuilder()
    builder.type("class Store", access: "public")
    builder.type("struct User", "Swift.Sendable")
    builder.type("class Request", "Swift.Sendable")
    builder.function("func cancel()", of: "Request")
    builder.function(
      "@MainActor func user<T>(id: Int = 3, _ tag: T, progress: @escaping (Double) -> Void, "
        + "completion: @escaping (User?, (any Error)?) -> Void) throws -> Request where T : Sendable",
      of: "Store",
      access: "public"
    )
    #expect(
      builder.generated() == """
        \(Generator.marker)

        public import Futures
        import FuturesAsync

        extension Store {
          /// The async counterpart of ``user(id:_:progress:completion:)``.
          @MainActor
          public func user<T>(id: Int = 3, _ tag: T, progress: @escaping (Double) -> Void) async throws -> User where T : Sendable {
            try await withCallback("user(id:_:progress:completion:)") { callback in
              do {
                let handle = try self.user(id: id, tag, progress: progress, completion: callback.valueOrErrorHandler)
                callback.onCancel { handle.cancel() }
              } catch {
                callback.resume(throwing: error)
              }
            }
          }

          /// The future counterpart of ``user(id:_:progress:completion:)``.
          @MainActor
          public func userFuture<T>(id: Int = 3, _ tag: T) -> Future<User, any Error> where T : Sendable {
            Future("user(id:_:progress:completion:)") { promise in
              let progress = promise.progress
              do {
                let handle = try self.user(id: id, tag, progress: { @Sendable in progress.report(fraction: $0) }, \
        completion: promise.valueOrErrorHandler)
                promise.onCancel { handle.cancel() }
              } catch {
                promise.fail(error)
              }
            }
          }
        }

        """
    )
  }

  @Test(
    "The tool refuses a function that would need a guess, with a reason",
    arguments: [
      ("func f(_ a: Int..., completion: @escaping () -> Void)", "`a` is variadic"),
      ("func f(_ a: inout Int, completion: @escaping () -> Void)", "`a` is `inout`"),
      ("func f(_ a: borrowing Int, completion: @escaping () -> Void)", "`a` is `borrowing`"),
      ("func f(_ a: sending Int, completion: @escaping () -> Void)", "`a` is `sending`"),
      ("func f(_ a: isolated Account, completion: @escaping () -> Void)", "`a` is `isolated`"),
      ("func f<each T>(_ a: repeat each T, completion: @escaping () -> Void)", "`a` is a parameter pack"),
      ("func f(completion: @escaping (inout Int) -> Void)", "its callback's parameter is `inout`"),
      ("func f(completion: @escaping (sending Int) -> Void)", "its callback's parameter is `sending`"),
      ("func f(completion: @escaping (Int...) -> Void)", "its callback is variadic"),
      ("func f(completion: @escaping (any Error) -> Void)", "its only closure gets an error"),
      ("init(completion: @escaping () -> Void)", "an initializer returns before"),
      ("func +++ (l: Int, completion: @escaping () -> Void)", "it is an operator"),
      ("func f(completion: @escaping () -> Void) async", "it is async already"),
      ("func f(body: () throws -> Void, completion: @escaping () -> Void) rethrows", "it rethrows"),
      ("func f(observer: @escaping () -> Void)", "may come again and again"),
      ("func f(_ block: @escaping () -> Void)", "nothing says whether `block` is called once"),
      ("func f(completion: @escaping (Elsewhere) -> Void)", "whether `Elsewhere` is Sendable"),
    ]
  )
  func unsafeFunctionsAreRefused(declaration: String, reason: String) {
    var builder = GraphBuilder()
    builder.function(declaration)
    #expect(builder.generated().contains(reason), "\(builder.generated())")
  }

  @Test(
    "Of functions that differ in the form of their callback, the best form gets the counterpart",
    arguments: [
      (["(Int?, (any Error)?)", "(Result<Int, any Error>)"], "resultHandler"),
      (["(Result<Int, any Error>)", "(Int?, (any Error)?)", "(Int, (any Error)?)"], "resultHandler"),
      (["((any Error)?)", "(Result<Void, any Error>)"], "resultHandler"),
      (["(Int, (any Error)?)", "(Int?, (any Error)?)"], "valueOrErrorHandler"),
    ]
  )
  func bestFormWins(forms: [String], handler: String) {
    var builder = GraphBuilder()
    for form in forms { builder.function("func load(id: Int, completion: @escaping \(form) -> Void)") }
    let text = builder.generated(.async)
    let reason = "another function, which differs from it only in the form of its callback, gets the counterpart"
    #expect(text.components(separatedBy: "func load(id: Int) async throws").count == 2, "\(text)")
    #expect(text.contains("completion: callback.\(handler)"), "\(text)")
    #expect(text.contains(reason) && !text.contains("renames"), "\(text)")
  }

  @Test(
    "Functions of one title whose callbacks get something else get no counterpart, and no setting that would not help",
    arguments: [
      ["(Int?, (any Error)?) -> Void)", "(Result<String, any Error>) -> Void)"],
      ["(Int) -> Void)", "(Result<Int, any Error>) -> Void)"],
    ]
  )
  func otherValuesAreAmbiguous(forms: [String]) {
    var builder = GraphBuilder()
    for form in forms { builder.function("func load(id: Int, completion: @escaping \(form)") }
    let text = builder.generated(.async)
    #expect(!text.contains("func load"), "\(text)")
    #expect(text.contains("another function differs from it only in its callback"), "\(text)")
    #expect(!text.contains("renames"), "\(text)")
  }

  @Test(
    "The library's type is qualified where an import can bring another `Future`",
    arguments: [
      ("import Foundation", "Future"), ("#if canImport(Combine)\nimport Combine\n#endif", "Futures.Future"),
      ("import Foundation\n#if os(Linux)\nlet a = 1\nimport OpenCombine\n#endif", "Futures.Future"),
      ("@preconcurrency import Dispatch", "Future"), ("@testable import Elsewhere", "Futures.Future"),
    ]
  )
  func importsHideFuture(source: String, type: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).swift")
    try Data(source.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var builder = GraphBuilder()
    builder.function("func load(completion: @escaping (Result<Int, any Error>) -> Void)")
    let text = Generator(CounterpartPlan(builder.inventory(sources: [file.path]), style: .futures)).text
    #expect(text.contains("func loadFuture() -> \(type)<Int, any Error> {"), "\(text)")
    #expect(text.contains("  \(type)(\"load(completion:)\") { promise in"), "\(text)")
  }

  @Test("An import that one file has only under a condition is written again for a file that always has it")
  func conditionalImports() throws {
    let folder = try Folder()
    var builder = GraphBuilder()
    builder.root = folder.path
    for (name, source) in [("A.swift", "#if DEBUG\nimport Net\n#endif"), ("B.swift", "import Net")] {
      try folder.write(source, to: name)
      builder.function("func load\(name.first!)(completion: @escaping (Int) -> Void)", file: name)
    }
    let inventory = builder.inventory(sources: ["A.swift", "B.swift"].map { folder.path + "/" + $0 })
    let text = Generator(CounterpartPlan(inventory, style: .async)).text
    #expect(text.components(separatedBy: "import Net\n").count == 3, "\(text)")
  }

  @Test("The tool refuses ambiguous functions and functions with a plain counterpart")
  func conflictingFunctionsAreRefused() {
    var ambiguous = GraphBuilder()
    ambiguous.function("func f(completion: @escaping (Int) -> Void)")
    ambiguous.function("func f(completion: @escaping (String) -> Void)")
    #expect(ambiguous.generated().contains("1. another function differs from it only in its callback"))
    #expect(ambiguous.generated().components(separatedBy: "App.swift:1: f(completion:)").count == 3)
    var plain = GraphBuilder()
    plain.function("func f(completion: @escaping (Int) -> Void)")
    plain.function("func f()")
    #expect(plain.generated(.async).contains("`f()` is there"))
    #expect(plain.generated(.futures).contains("func fFuture() -> Future<Int, any Error> {"))
  }

  @Test("A function with a counterpart gets no other; a style and a pattern select the rest")
  func styleAndPatternChoose() {
    var builder = GraphBuilder()
    builder.function("func done(completion: @escaping (Int) -> Void)")
    builder.function("func done() async throws -> Int")
    builder.function("func doneFuture() -> Future<Int, any Error>")
    #expect(builder.generated() == Generator.marker + "\n")
    builder.function("func load(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func save(_ id: Int, completion: @escaping (Int) -> Void)")
    #expect(!builder.generated(.async).contains("Future<"))
    #expect(!builder.generated(.futures).contains("async"))
    #expect(builder.generated(.async, only: "save").contains("func save(_ id: Int) async"))
    #expect(!builder.generated(.async, only: "save").contains("func load"))
    #expect(builder.generated(.async, only: "l*completion:)").contains("func load"))
    #expect(!builder.generated(.async, only: "l*completion").contains("func load"))
  }

  @Test("A pattern adds to the file that was written before")
  func patternKeepsWhatWasWritten() {
    var builder = GraphBuilder()
    builder.function("func load(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func save(_ id: Int, completion: @escaping (Int) -> Void)")
    builder.function("func loadFuture(_ id: Int) -> Future<Int, any Error>", file: "Sources/App/Counterparts.swift")
    let inventory = builder.inventory(ignoring: "/package/Sources/App/Counterparts.swift")
    let text = Generator(CounterpartPlan(inventory, style: .async, only: "save")).text
    #expect(text.contains("func save(_ id: Int) async"), "\(text)")
    #expect(text.contains("func loadFuture(_ id: Int) ->"), "\(text)")
    #expect(!text.contains("func load(_ id: Int) async"), "\(text)")
    let selected = Generator(CounterpartPlan(inventory, style: .async, only: "load")).text
    #expect(!selected.contains("func loadFuture"), "\(selected)")
  }

  @Test("A counterpart begins with the first sentence of the documentation, and links to the rest")
  func documentationIsShort() {
    func documentation(_ text: String) -> String {
      var builder = GraphBuilder()
      builder.function("func load(completion: @escaping (Int) -> Void)", documentation: text)
      return builder.generated(.async).split(separator: "\n").filter { $0.hasPrefix("///") }.joined(separator: "\n")
    }
    let link = "///\n/// The async counterpart of ``load(completion:)``."
    #expect(documentation("Loads it. Calls back later.\n- Returns: Nothing.") == "/// Loads it.\n" + link)
    #expect(documentation("Loads it, e.g. from\na disk. More.") == "/// Loads it, e.g. from\n/// a disk.\n" + link)
    #expect(documentation("Loads it\n- Parameter completion: This.") == "/// Loads it\n" + link)
    #expect(documentation("- Parameter completion: This.") == "/// The async counterpart of ``load(completion:)``.")
  }

  @Test("A counterpart keeps the documentation of its parameters")
  func parametersAreDocumented() {
    func documentation(_ text: String) -> [String] {
      var builder = GraphBuilder()
      builder.function(
        "func load(_ id: Int, from url: String, completion: @escaping (Int) -> Void)",
        documentation: text
      )
      let lines = builder.generated(.async).split(separator: "\n").filter { $0.hasPrefix("///") }.map(String.init)
      return Array(lines.drop { !$0.contains("counterpart of") }.dropFirst())
    }
    let list = """
      Loads it.
      - Parameters:
        - id: The number,
          which is unique.
        - url: The place.
        - completion: Gets it.
      - Returns: - id: This is none.
      More.
      """
    let lines = ["/// - Parameters:", "///   - id: The number,", "///     which is unique.", "///   - url: The place."]
    #expect(documentation(list) == lines)
    let single = "Loads it.\n- Parameter completion: Gets it.\n- parameter url: The place\n  of it.\n- Throws: Never."
    #expect(documentation(single) == ["/// - Parameter url: The place", "///   of it."])
    #expect(documentation("Loads it.\n- id: This is a list.") == [])
  }

  @Test("The result of a counterpart is not discardable, although the callback was optional")
  func resultIsNotDiscardable() {
    for type in ["((Int) -> Void)?", "(() -> Void)?", "((Int) -> Void)? = nil"] {
      var builder = GraphBuilder()
      builder.function("@discardableResult func load(completion: \(type))")
      let text = builder.generated()
      #expect(text.contains("func loadFuture() ->") && !text.contains("@discardableResult"), "\(text)")
    }
  }

  @Test("A counterpart gets another name where the package gives it one")
  func counterpartIsRenamed() {
    var builder = GraphBuilder()
    builder.function("func load(id: Int, completion: ((Int) -> Void)? = nil)")
    let text = builder.generated(configuration: #"{"renames": {"load(*": "loadNow"}}"#)
    #expect(text.contains("func loadNow(id: Int) async throws -> Int"), "\(text)")
    #expect(text.contains("func loadNowFuture(id: Int) ->"), "\(text)")
    #expect(builder.generated().contains("func loadAsync(id: Int) async throws -> Int"))
    #expect(builder.generated().contains(#""renames": {"*": "*"}"#))
    #expect(builder.generated(configuration: #"{"renames": {"*": "*"}}"#).contains("func load(id: Int) async"))
    builder.function("func loadNow(id: Int) async throws -> Int")
    let migrated = builder.generated(.async, configuration: #"{"renames": {"load(*": "loadNow"}}"#)
    #expect(!migrated.contains("func loadNow"), "\(migrated)")
  }

  @Test("A counterpart returns an optional where the package says that the value can be missing")
  func optionalValues() {
    var builder = GraphBuilder()
    builder.function("func find(id: Int, completion: @escaping (Int?, (any Error)?) -> Void)")
    builder.function("func match(completion: @escaping (Int?, String?, (any Error)?) -> Void)")
    builder.function("func remove(completion: @escaping (Void?, (any Error)?) -> Void)")
    let text = builder.generated(configuration: #"{"optional": ["*"]}"#)
    #expect(text.contains("func find(id: Int) async throws -> Int? {"), "\(text)")
    #expect(text.contains("func findFuture(id: Int) -> Future<Int?, any Error> {"), "\(text)")
    #expect(text.contains("func match() async throws -> (Int?, String?) {"), "\(text)")
    #expect(text.contains("func remove() async throws -> Void {"), "\(text)")
  }

  @Test("A counterpart throws the callback's own errors where the package says what makes one of any other error")
  func typedErrors() {
    var builder = GraphBuilder()
    builder.type("enum APIError", "Swift.Error", "Swift.Sendable")
    builder.function("func load(completion: @escaping (Result<Int, APIError>) -> Void)")
    let plain = builder.generated(.async)
    #expect(plain.contains("async throws -> Int"), "\(plain)")
    #expect(plain.contains("name a function that converts errors of cancelled or dropped callbacks to `APIError`"))
    let typed = builder.generated(.async, configuration: #"{"failure": {"*": "APIError.other"}}"#)
    #expect(typed.contains("async throws(APIError) -> Int"), "\(typed)")
    #expect(typed.contains("throw APIError.other(error)") && !typed.contains("it throws any error"), "\(typed)")
  }

  @Test("Without futures, nothing public mentions Futures")
  func asyncStyleImportsInternally() {
    var builder = GraphBuilder()
    builder.function("func load(completion: @escaping (Int) -> Void)", access: "public")
    let text = builder.generated(.async)
    #expect(text.contains("\ninternal import FuturesAsync\n") && !text.contains("import Futures\n"), "\(text)")
    #expect(builder.generated().contains("\npublic import Futures\nimport FuturesAsync\n"))
  }

  @Test("A file beside each source file has its counterparts")
  func filesBeside() {
    var builder = GraphBuilder()
    builder.function("func load(completion: @escaping (Int) -> Void)", file: "Sources/App/Load.swift")
    builder.function("func save(completion: @escaping (Int) -> Void)", file: "Sources/App/Save.swift")
    builder.function("func visit(_ body: @escaping (Int) -> Void)", file: "Sources/App/Visit.swift")
    let texts = Generator(CounterpartPlan(builder.inventory(), style: .async, only: nil)).textsBeside
    #expect(texts.keys.sorted() == ["/package/Sources/App/Load.swift", "/package/Sources/App/Save.swift"])
    #expect(texts["/package/Sources/App/Load.swift"]?.contains("func load()") == true)
    #expect(texts["/package/Sources/App/Load.swift"]?.contains("func save()") == false)
    #expect(Generator.pathBeside("/package/Sources/App/Load.swift") == "/package/Sources/App/Load+Counterparts.swift")
  }

  @Test("All files of a run import a module with an access level, or none does")
  func importsAgree() {
    var builder = GraphBuilder()
    let declaration = "func load(completion: @escaping (Int) -> Void)"
    builder.function(declaration, access: "public", file: "Sources/App/Load.swift")
    builder.function("func save(completion: @escaping (Int) -> Void)", file: "Sources/App/Save.swift")
    let texts = Generator(CounterpartPlan(builder.inventory(), style: .both, only: nil)).textsBeside
    #expect(
      texts["/package/Sources/App/Load.swift"]?.contains("\npublic import Futures\nimport FuturesAsync\n") == true
    )
    #expect(
      texts["/package/Sources/App/Save.swift"]?.contains("\ninternal import Futures\nimport FuturesAsync\n") == true
    )
    let async = Generator(CounterpartPlan(builder.inventory(), style: .async, only: nil)).textsBeside
    for text in async.values { #expect(text.contains("\ninternal import FuturesAsync\n"), "\(text)") }
  }

  @Test("Extensions are sorted by the names of their types")
  func extensionsAreSorted() {
    var builder = GraphBuilder()
    for (line, name) in ["Zoo", "Ape"].enumerated() {
      builder.type("struct \(name)")
      builder.function("func load(completion: @escaping (Int) -> Void)", of: name, line: line + 1)
    }
    let text = builder.generated(.async)
    let extensions = text.split(separator: "\n").filter { $0.hasPrefix("extension") }
    #expect(extensions == ["extension Ape {", "extension Zoo {"])
  }

  @Test("One module always produces the same bytes")
  func outputIsStable() {
    var builder = GraphBuilder()
    for number in 0..<20 { builder.function("func f\(number)(completion: @escaping (Int) -> Void)", line: number + 1) }
    #expect(builder.generated() == builder.generated())
  }

  @Test("Without a formatter, a long text is written as it is, and asks formatters to leave it alone")
  func missingFormatter() async {
    await #expect(processExitsWith: .success) {
      setenv("PATH", "/nonexistent", 1)
      let body = String(repeating: "let number = 1\n", count: 20_000)  // more than a pipe holds
      let formatted = SwiftFormat.formatted("// marker\n" + body, for: URL(filePath: "/A.swift"))
      #expect(formatted == "// marker\n// swift-format-ignore-file\n" + body)
    }
  }
}
