internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Types that are errors")
struct ErrorTypeTests {
  private let declaration = "func load(completion: @escaping (Int?, Fault?) -> Void)"

  private func builder(fault identifier: String) -> GraphBuilder {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.foreignType("Fault", identifier)
    builder.function(declaration, of: "Client")
    return builder
  }

  @Test("A type of an imported module that conforms to Error is an error")
  func importedErrors() {
    var imported = GraphBuilder()
    imported.type("enum Fault", "Swift.Error")
    let text = builder(fault: "s:Fault").generated(.async, importedTypes: imported.graph)
    #expect(text.contains("func load() async throws -> Int {"), "\(text)")
  }

  @Test("An imported type that does not conform to Error is a value")
  func importedValues() {
    var imported = GraphBuilder()
    imported.type("enum Fault")
    let text = builder(fault: "s:Fault").generated(.async, importedTypes: imported.graph)
    #expect(text.contains("func load() async throws -> (Int?, Fault?) {"), "\(text)")
  }

  @Test("The configuration names the errors that no symbol graph shows")
  func configuredErrors() {
    let builder = builder(fault: "s:5Other5FaultV")
    let text = builder.generated(.async, configuration: #"{"errors": ["Fault"]}"#)
    #expect(text.contains("func load() async throws -> Int {"), "\(text)")
  }

  @Test("A refusal for a type that might be an error names the entry of the configuration")
  func unknownErrors() {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.foreignType("ServerError", "s:5Other11ServerErrorV")
    builder.function("func load(completion: @escaping (Int?, ServerError?) -> Void)", of: "Client")
    let text = builder.generated(.async)
    #expect(text.contains("nothing here says whether `ServerError` is an error"), "\(text)")
    #expect(text.contains(#""errors": ["ServerError"]"#), "\(text)")
  }

  @Test(
    "Errors of Foundation and the standard library are errors",
    arguments: [
      ("URLError", "s:20FoundationNetworking8URLErrorV", true), ("DecodingError", "s:s13DecodingErrorO", true),
      ("CancellationError", "s:ScEV", true), ("URLError", "s:5Other8URLErrorV", false),
    ]
  )
  func standardErrors(name: String, identifier: String, isError: Bool) {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.foreignType(name, identifier)
    builder.function("func load(completion: @escaping (Int?, \(name)?) -> Void)", of: "Client")
    let text = builder.generated(.async)
    #expect(text.contains("func load() async throws -> Int {") == isError, "\(text)")
  }

  @Test("Two closures are success and failure by their types, under any label")
  func pairsOfClosures() {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.function(
      "func load(reactions: @escaping (Int) -> Void, problem: ((any Error) -> Void)?)",
      of: "Client"
    )
    let text = builder.generated(.async)
    #expect(text.contains("self.load(reactions: callback.valueHandler, problem: callback.failureHandler)"), "\(text)")
  }

  @Test("A callback that can fail is refused where its documentation says that it comes again")
  func documentationOfRepetition() {
    var builder = GraphBuilder()
    builder.type("struct Client", "Swift.Sendable")
    builder.function(
      "func load(_ body: @escaping (Int?, (any Error)?) -> Void)",
      of: "Client",
      documentation: "Calls `body` each time the value changes."
    )
    let text = builder.generated(.async)
    #expect(text.contains("its documentation says \"each time\""), "\(text)")
  }

  @Test(
    "In the Swift 5 mode a future can have any value",
    arguments: [
      ("// swift-tools-version:5.9\n", true), ("// swift-tools-version: 5.10\n", true),
      ("// swift-tools-version:5.9\n.enableExperimentalFeature(\"StrictConcurrency\")", false),
      ("// swift-tools-version:6.0\n", false), ("// swift-tools-version:6.0\nswiftLanguageModes: [.v5]", true),
      ("", false),
    ]
  )
  func languageMode(manifest: String, isAllowed: Bool) {
    #expect(PackageManifest(text: manifest).allowsFuturesOfAnyValue == isAllowed)
  }

  @Test("A future of a value that is not Sendable is written where the compiler accepts it", arguments: [true, false])
  func futuresOfAnyValue(isAllowed: Bool) {
    var builder = GraphBuilder()
    builder.type("class Client")
    builder.type("class Model")
    builder.function("func load(completion: @escaping (Result<Model, any Error>) -> Void)", of: "Client")
    let inventory = builder.inventory(allowsFuturesOfAnyValue: isAllowed)
    let text = Generator(CounterpartPlan(inventory, style: .futures)).text
    #expect(text.contains("-> Future<Model, any Error> {") == isAllowed, "\(text)")
  }

  @Test(
    "A future holds a value that is not Sendable where the package asks for it, and says what the caller promises",
    arguments: [
      ("(Result<Model, any Error>)", "Model", "{ @Sendable in promise.resultHandler($0.map(UncheckedTransfer.init)) }"),
      ("(Model)", "Model", "{ @Sendable in promise.valueHandler(UncheckedTransfer($0)) }"),
      ("(Model?, (any Error)?)", "Model", "promise.valueOrErrorHandler(value.map(UncheckedTransfer.init), error) }"),
      ("(Model, (any Error)?)", "Model", "promise.valueOrErrorHandler(UncheckedTransfer(value1), error) }"),
      (
        "(Model?, Int?, (any Error)?)", "(Model, Int)",
        "valueOrErrorHandler(UncheckedTransfer((value1, value2)), error)"
      ),
      ("(Model, Int)", "(Model, Int)", "promise.valueHandler(UncheckedTransfer((value1, value2))) }"),
    ]
  )
  func transferredValues(type: String, value: String, handler: String) {
    var builder = GraphBuilder()
    builder.type("class Client")
    builder.type("class Model")
    builder.function("func load(completion: @escaping \(type) -> Void)", of: "Client")
    let entry = #""transfer": ["Client.load(completion:)"]"#
    #expect(builder.generated().contains("//      \(entry)\n"), "\(builder.generated())")
    let text = builder.generated(configuration: "{\(entry)}")
    #expect(text.contains("-> Future<UncheckedTransfer<\(value)>, any Error> {"), "\(text)")
    #expect(text.contains(handler) && text.contains("The caller promises that one thread"), "\(text)")
    #expect(text.contains("func load() async throws -> \(value) {"), "\(text)")
  }

  @Test("A value that is Sendable, or that the compiler accepts in futures, needs no transfer")
  func needlessTransfer() {
    var builder = GraphBuilder()
    builder.type("class Client")
    builder.type("class Model")
    builder.function("func count(completion: @escaping (Int) -> Void)", of: "Client")
    #expect(!builder.generated(configuration: #"{"transfer": ["*"]}"#).contains("UncheckedTransfer"))
    builder.function("func load(completion: @escaping (Model) -> Void)", of: "Client")
    let inventory = builder.inventory(configuration: #"{"transfer": ["*"]}"#, allowsFuturesOfAnyValue: true)
    #expect(!Generator(CounterpartPlan(inventory, style: .both)).text.contains("UncheckedTransfer"))
  }
}
