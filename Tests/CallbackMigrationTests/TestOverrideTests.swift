// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("Methods that tests override") struct TestOverrideTests {
    private static let mock = """
      final class MockStore: Store, @unchecked Sendable {
        override func load(id: Int, completion: @escaping (Int) -> Void) { completion(1) }
        func save(completion: @escaping (Int) -> Void) {}
      }
      """

    @Test(
      "a function that a test overrides stays, because a call of it can run another body",
      arguments: [
        ("func load(id: Int, completion: @escaping (Int) -> Void)", "Store", false),
        ("func load(id: Int, completion: @escaping (Int) -> Void)", "BaseStore", false),
        ("func load(completion: @escaping (Int) -> Void)", "Store", true),
        ("func save(completion: @escaping (Int) -> Void)", "Store", true),
        ("func load(id: Int, completion: @escaping (Int) -> Void)", nil, true),
      ]
    )
    func overridden(declaration: String, owner: String?, isPlain: Bool) throws {
      let tokens = SourceTokens("\(declaration) { completion(1) }")
      var graph = GraphBuilder()
      if let owner { graph.type("class \(owner)") }
      graph.function(declaration, of: owner)
      let inventory = graph.inventory()
      let entry = try #require(CounterpartPlan(inPlaceFor: inventory).entries.first)
      var overrides = TestOverrides(sources: [])
      overrides.add(Self.mock)
      var function = try #require(AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory))
      #expect(function.isPlain)
      function = overrides.marked([function])[0]
      #expect(function.isPlain == isPlain)
      let text = try #require(FunctionText(name: 1, in: tokens))
      let refusal = FunctionChecks(tokens: tokens, function: function, text: text, calls: []).refusal
      #expect(refusal?.contains("a call of it can run another body") == (isPlain ? nil : true))
    }

    @Test("of several types with such a function, the one that the test names stays")
    func named() throws {
      let declaration = "func load(id: Int, completion: @escaping (Int) -> Void)"
      let tokens = SourceTokens("\(declaration) { completion(1) }")
      var graph = GraphBuilder()
      graph.type("class Store")
      graph.type("struct Shelf")
      for owner in ["Store", "Shelf"] { graph.function(declaration, of: owner) }
      let inventory = graph.inventory()
      let functions = CounterpartPlan(inPlaceFor: inventory).entries.compactMap { entry in
        AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory)
      }
      var overrides = TestOverrides(sources: [])
      overrides.add(Self.mock)
      let plain = overrides.marked(functions).filter(\.isPlain)
      #expect(functions.count == 2 && plain.map(\.type) == ["Shelf."])
    }
  }
#endif
