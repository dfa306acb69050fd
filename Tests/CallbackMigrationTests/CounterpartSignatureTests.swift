// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("Counterparts that a call could mix up")
  struct CounterpartSignatureTests {
    private static let result = "completion: @escaping (Result<String, any Error>) -> Void"
    private static let pair = "completion: @escaping (String?, (any Error)?) -> Void"

    /// The functions with a callback among these, all with generated counterparts.
    private func functions(_ declarations: [String]) throws -> [AwaitableFunction] {
      var graph = GraphBuilder()
      for (index, declaration) in declarations.enumerated() { graph.function(declaration, line: index + 1) }
      let inventory = graph.inventory()
      let tokens = SourceTokens(String(repeating: "\n", count: declarations.count))
      return try CounterpartPlan(inPlaceFor: inventory).entries.map { entry in
        var function = try #require(AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory))
        function.counterpart = .exists(file: "Counterparts.swift")
        return function
      }
    }

    private func call(_ target: Int, in owner: Int? = nil) -> CallbackCall {
      var call = CallbackCall(
        file: "F.swift",
        line: 1,
        function: "f",
        enclosing: "g",
        callClass: .next,
        place: .next,
        target: target
      )
      call.owner = owner
      return call
    }

    @Test("of two functions that share a counterpart, the one that does the work gets it")
    func shared() throws {
      let two = try functions(["func load(id: Int, \(Self.result))", "func load(id: Int, \(Self.pair))"])
      let itself =
        "it calls `load(id:completion:)`, which has the same counterpart, so the counterpart would call itself"
      #expect(two[0].signature.key == two[1].signature.key)
      // The function with the pair calls the function with the `Result`.
      #expect(two.sharingRefusal(of: 1, [call(0, in: 1)]) == itself)
      #expect(two.sharingRefusal(of: 0, [call(0, in: 1)]) == nil)
      // The other way around. `generate` would prefer the `Result`.
      #expect(two.sharingRefusal(of: 0, [call(1, in: 0)]) == itself)
      #expect(two.sharingRefusal(of: 1, [call(1, in: 0)]) == nil)
      // Neither calls the other, so `generate` decides.
      #expect(two.sharingRefusal(of: 0, []) == nil)
      #expect(two.sharingRefusal(of: 1, [])?.contains("gets the counterpart") == true)
    }

    @Test("a function that calls a function with the same counterpart through another one does not get it")
    func sharedThroughAnother() throws {
      let three = try functions([
        "func load(id: Int, \(Self.result))", "func load(id: Int, \(Self.pair))",
        "func cached(id: Int, \(Self.result))",
      ])
      let calls = [call(2, in: 1), call(0, in: 2)]
      #expect(three.sharingRefusal(of: 1, calls)?.contains("call itself") == true)
      #expect(three.sharingRefusal(of: 0, calls) == nil)
      #expect(three.sharingRefusal(of: 2, calls) == nil)
    }

    @Test("functions of other parameters, or of other types, share no counterpart")
    func notShared() throws {
      let two = try functions(["func load(id: Int, \(Self.result))", "func load(id: String, \(Self.pair))"])
      #expect(two.sharingRefusal(of: 1, [call(0, in: 1)]) == nil)
    }

    @Test("a counterpart that does not build for a missing value names the entry that makes it return an optional")
    func missingValue() throws {
      let error = "it does not build: value of optional type 'String?' must be unwrapped to a value of type 'String'"
      let functions = try functions(["func load(id: Int, \(Self.pair))", "func find(id: Int, \(Self.result))"])
      let entry = #"; if `nil` can be a success: "optional": ["load(id:completion:)"]"#
      #expect(functions[0].addingSetting(to: error) == error + entry)
      #expect(functions[0].addingSetting(to: "it does not build") == "it does not build")
      #expect(functions[1].addingSetting(to: error) == error)
      #expect(!functions[0].called.hasOptionalValue)
    }

    /// The title of the function whose counterpart a call of the first function could run.
    private func rival(_ source: String, _ declarations: [String], in owner: Int? = nil) throws -> String? {
      let functions = try functions(declarations)
      let tokens = SourceTokens(source)
      var call = call(0, in: owner)
      call.site = CallSite(name: 0, in: tokens, label: "completion")
      return functions.rival(of: call, in: tokens)?.title
    }

    @Test("a call that leaves out a default could run the counterpart without that parameter")
    func defaults() throws {
      let data = "completion: @escaping (Int?, (any Error)?) -> Void"
      let both = ["func load(id: Int, tries: Int = 3, \(Self.result))", "func load(id: Int, \(data))"]
      #expect(try rival("load(id: 1) { print($0) }", both) == "load(id:completion:)")
      #expect(try rival("load(id: 1, completion: { print($0) })", both) == "load(id:completion:)")
      #expect(try rival("load(id: 1, tries: 2) { print($0) }", both) == nil)
      #expect(try rival("load(id: 1) { print($0) }", both.reversed()) == nil)
      let other = ["func load(id: Int, tries: Int = 3, \(Self.result))", "func load(id: String, \(data))"]
      #expect(try rival("load(id: 1) { print($0) }", other) == nil)
      let open = ["func load(id: Int, tries: Int = 3, \(Self.result))", "func load<T>(id: T, \(data))"]
      #expect(try rival("load(id: 1) { print($0) }", open) == "load(id:completion:)")
    }

    @Test("a call could run the counterpart with the same parameters and another value")
    func values() throws {
      let number = "completion: @escaping (Result<Int, any Error>) -> Void"
      let both = ["func load(id: Int, \(Self.result))", "func load(id: Int, \(number))"]
      #expect(try rival("load(id: 1) { print($0) }", both) == "load(id:completion:)")
      let same = ["func load(id: Int, \(Self.result))", "func load(id: Int, \(Self.pair))"]
      #expect(try rival("load(id: 1) { print($0) }", same) == nil)
      let nothing = [
        "func load(id: Int, completion: @escaping (Result<Void, any Error>) -> Void)",
        "func load(id: Int, completion: @escaping (Void?, (any Error)?) -> Void)",
      ]
      #expect(try rival("load(id: 1) { print($0) }", nothing) == nil)
    }
  }
#endif
