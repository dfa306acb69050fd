internal import CallbackMigration
internal import Testing

@Suite("The draft of a comparison of a function with its async counterpart")
struct ComparisonDraftTests {
  /// The draft of functions, each with an async counterpart of the given parameters and effects.
  private func draft(
    _ functions: [(callback: String, async: String)],
    types: [String] = ["class Store"],
    configuration: String = "{}"
  ) -> String {
    var builder = GraphBuilder()
    for type in types { builder.type(type) }
    let owner = types.first.map { String($0.split(separator: " ")[1]) }
    for (index, function) in functions.enumerated() {
      builder.function(function.callback, of: owner, line: index + 1)
      if !function.async.isEmpty { builder.function(function.async, of: owner, file: "Sources/App/Async.swift") }
    }
    return ComparisonDraft(CounterpartPlan(builder.inventory(configuration: configuration), style: .async)).text
  }

  @Test("It calls the function with its callback in one version, and awaits the counterpart in the other")
  func bothVersions() {
    let text = draft([
      (
        "func user(id: Int, completion: @escaping (Result<String, Error>) -> Void)",
        "func user(id: Int) async throws -> String"
      )
    ])
    #expect(
      text == """
        // A draft: fill in what stands in <# #>. Each double of the outside calls back on a context of `orders`.
        import Futures
        import FuturesTesting
        @testable import App

        /// ``Store.user(id:completion:)`` and its async counterpart show the same in every order.
        func compareUser() async throws {
          let id: Int = <#Int#>
          let comparison = try await compareOrders { orders in
            let subject: Store = <#with doubles that call back on orders.context("outside")#>
            Future<String, any Error> { promise in
              subject.user(id: id, completion: promise.resultHandler)
            }
            .whenResolved(on: .immediate) { result in orders.record("\\(result)", in: "result") }
            try await orders.runAll()
          } with: { orders in
            let subject: Store = <#with doubles that call back on orders.context("outside")#>
            let result: Result<String, any Error>
            do { result = .success(try await subject.user(id: id)) } catch { result = .failure(error) }
            orders.record("\\(result)", in: "result")
          }
          print(comparison)
        }

        """
    )
  }

  @Test("Both versions wrap a value that is not Sendable")
  func transfer() {
    let text = draft(
      [("func page(completion: @escaping (Store) -> Void)", "func page() async -> Store")],
      configuration: #"{"transfer": ["*"]}"#
    )
    #expect(text.contains("Future<UncheckedTransfer<Store>, any Error> {"), "\(text)")
    #expect(text.contains("result = .success(UncheckedTransfer(await subject.page()))"), "\(text)")
  }

  @Test("Overloads get a test each, and a function of no type has no object")
  func overloadsAndFreeFunctions() {
    let text = draft(
      [
        ("func load(id: Int, completion: @escaping (Int) -> Void)", "func load(id: Int) async -> Int"),
        ("func load(name: String, completion: @escaping (Int) -> Void)", "func load(name: String) async -> Int"),
      ],
      types: []
    )
    #expect(text.contains("func compareLoad() ") && text.contains("func compareLoad2() "), "\(text)")
    #expect(text.contains("      load(id: id, completion: promise.valueHandler)\n"), "\(text)")
    #expect(text.contains("    result = .success(await load(name: name))\n"), "\(text)")
    #expect(!text.contains("subject"))
  }

  @Test("A function of a protocol is left: only types can be compared")
  func protocolMember() {
    var builder = GraphBuilder()
    builder.type("protocol Store")
    builder.function("func load(completion: @escaping (Int) -> Void)", of: "Store", isRequirement: true)
    builder.function("func load() async -> Int", of: "Store", file: "Sources/App/Async.swift")
    let text = ComparisonDraft(CounterpartPlan(builder.inventory(), style: .async)).text
    #expect(text == "// Store.load(completion:): it belongs to a protocol, of which only types can be compared.\n")
  }

  @Test("A function that no test can compare is left, with the reason")
  func left() {
    let callback = "completion: @escaping (Int) -> Void"
    let text = draft([
      ("func alone(\(callback))", ""),
      ("@MainActor func shown(\(callback))", "@MainActor func shown() async -> Int"),
      ("func any<T>(_ value: T, \(callback))", "func any<T>(_ value: T) async -> Int"),
      (
        "func moved(progress: @escaping (Double) -> Void, \(callback))",
        "func moved(progress: @escaping (Double) -> Void) async -> Int"
      ),
    ])
    #expect(
      text == """
        // Store.alone(completion:): it has no async counterpart.
        // Store.shown(completion:): it belongs to an actor, whose moves are not all explored.
        // Store.any(_:completion:): it is generic, and the test would have to choose the types.
        // Store.moved(progress:completion:): it reports progress, which the test has to record.

        """
    )
  }
}
