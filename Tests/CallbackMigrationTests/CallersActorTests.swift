// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("Counterparts that start on the actor of their caller")
  struct CallersActorTests {
    /// The functions of a file, and the calls of `fetch` in their bodies.
    private func isNeeded(_ function: String, _ text: String) throws -> Bool {
      let tokens = SourceTokens(text)
      var graph = GraphBuilder()
      let names = tokens.items.indices.filter { tokens[$0 - 1] == "func" }
      for name in names {
        let brace = try #require(FunctionText(name: name, in: tokens)?.body?.lowerBound)
        graph.function(String(tokens.text(name - 1...brace - 1)))
      }
      let inventory = graph.inventory()
      var functions: [AwaitableFunction] = []
      for entry in CounterpartPlan(inPlaceFor: inventory).entries {
        guard var found = AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory) else { continue }
        let name = try #require(names.first { tokens[$0] == found.name.prefix { $0 != "(" } })
        found.offset = tokens.items[name].range.lowerBound
        #expect(found.callersActorSignature?.contains("nonisolated(nonsending) func") == true)
        functions.append(found)
      }
      let index = { (name: String) in functions.firstIndex { $0.name.hasPrefix(name + "(") } }
      let calls = tokens.items.indices.compactMap { place -> CallbackCall? in
        guard tokens[place] == "fetch", tokens[place - 1] != "func", let target = index("fetch"),
          let site = CallSite(name: place, in: tokens, label: "completion")
        else { return nil }
        var call = CallbackCall(
          file: "F.swift",
          line: 1,
          function: "",
          enclosing: "",
          callClass: .next,
          place: .next,
          target: target
        )
        call.path = "/F.swift"
        call.site = site
        call.owner = index("f")
        return call
      }
      let files = SourceFiles()
      files.apply([(SourceEdit(0..<0, text), .step(0))], to: "/F.swift")
      return CallersActor(calls: calls, functions: functions, files: files).isNeeded(by: try #require(index(function)))
    }

    @Test(
      "a function starts on the actor of its caller if it reads state before its first await, or calls such a function",
      arguments: [
        ("if let found = known[id] { completion(found)\nreturn }\nfetch(id) { completion($0) }", "", true),
        ("fetch(self.current) { completion($0) }", "", true),
        ("fetch(id) { completion($0) }", "guard isOpen else { return }", true),
        ("fetch(id) { completion($0) }", "", false),
        ("fetch(id) { completion($0) }", "func finish(_ result: Int) { print(result) }", false),
        ("fetch(id) { completion($0) }", "func finish<T>(_ result: T, _ text: T? = none) rethrows {}", false),
        ("fetch(id) { completion($0) }", "guard #available(iOS 15, *) else { return }", false),
        ("fetch(id) { completion($0) }", "if #unavailable(iOS 15) { return }", false),
        ("fetch(id) { completion($0) }", "@available(iOS 15, *) struct Response: Decodable { let id: Int }", false),
        ("fetch(id) { completion($0) }", "final class Box { var id = 1 }", false),
        ("fetch(id) { completion($0) }", "enum Kind { case a }\nactor Box {}\nprotocol P {}", false),
        ("fetch(id) { completion($0) }", "print(actor)", true),
        ("self.fetch(id) { x in self.known[id] = x\ncompletion(x) }", "", false),
        ("if id > 0 { completion(id)\nreturn }\nfetch(id) { completion($0) }", "", false),
      ]
    )
    func isNeeded(body: String, called: String, expected: Bool) throws {
      let text = """
        func f(_ id: Int, completion: @escaping (Int) -> Void) {
          \(body)
        }
        func fetch(_ id: Int, completion: @escaping (Int) -> Void) {
          \(called)
          queue.async { completion(id) }
        }
        """
      #expect(try isNeeded("f", text) == expected, "\(body)")
    }

    @Test("the compiler's counterpart gets the modifier before its `func`, in place of `nonisolated`")
    func modifier() {
      let text = CounterpartProposals.onCallersActor
      #expect(text("public func f() async { g() }") == "public nonisolated(nonsending) func f() async { g() }")
      #expect(text("nonisolated func f() async {}") == "nonisolated(nonsending) func f() async {}")
    }
  }
#endif
