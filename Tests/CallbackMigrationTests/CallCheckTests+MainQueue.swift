#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The evidence that a callback comes on the main queue.
  extension CallCheckTests {
    @Test(
      "a callback comes on the main queue only if each use of it does",
      arguments: [
        ("api.load { r in DispatchQueue.main.async { completion(r) } }", true, true),
        ("api.load { r in DispatchQueue.main.async { [completion] in completion(r) } }", true, true),
        ("DispatchQueue.main.asyncAfter(deadline: .now() + 1) { completion(1) }", true, true),
        ("DispatchQueue.main.sync(execute: completion)", true, true),
        ("guard a else { completion(0); return }; DispatchQueue.main.async { completion(1) }", true, true),
        ("Task { @MainActor in completion(1) }", true, true),
        ("DispatchQueue.main.async(execute: { completion(1) })", true, true),
        ("DispatchQueue.main.asyncAfter(deadline: .now(), execute: { completion(1) })", true, true),
        ("DispatchQueue.global().async(execute: { completion(1) })", false, false),
        ("DispatchQueue.main.async { if let completion { completion(1) } }", true, true),
        ("guard let completion = completion else { return }; DispatchQueue.main.async { completion(1) }", true, true),
        ("DispatchQueue.main.async { print(1) }; DispatchQueue.global().async { completion(1) }", false, true),
        ("api.load { r in if a { completion(0) } else { DispatchQueue.main.async { completion(r) } } }", false, true),
        ("DispatchQueue.global().async { completion(1) }", false, false),
        // `onMain` delivers on the main queue, and `anywhere` does not.
        ("onMain { r in completion(r) }", true, true),
        ("onMain(completion: completion)", true, true),
        ("onMain { r in print(r) }; anywhere { r in completion(r) }", false, true),
        ("onMain { r in anywhere { n in completion(n) } }", false, true),
        ("api.load { r in early { completion($0) } }", false, true),
        ("early { completion($0) }", true, true),
      ]
    )
    func mainQueueDelivery(body: String, isSure: Bool, isPossible: Bool) throws {
      let parameter = "completion: @escaping (Int) -> Void"
      let text = """
        func f(\(parameter)) { \(body) }
        func onMain(\(parameter)) { DispatchQueue.main.async { completion(1) } }
        func anywhere(\(parameter)) { api.load { completion($0) } }
        func early(\(parameter)) { if a { completion(0) } else { DispatchQueue.main.async { completion(1) } } }
        """
      let tokens = SourceTokens(text)
      var graph = GraphBuilder()
      for line in text.split(separator: "\n") { graph.function(String(line.prefix { $0 != "{" }.dropLast())) }
      let inventory = graph.inventory()
      var functions: [AwaitableFunction] = []
      for entry in CounterpartPlan(inPlaceFor: inventory).entries {
        guard var function = AwaitableFunction(entry, path: "/F.swift", tokens, in: inventory) else { continue }
        let base = function.name.prefix { $0 != "(" }
        let name = try #require(tokens.items.indices.first { tokens[$0 - 1] == "func" && tokens[$0] == base })
        function.offset = tokens.items[name].range.lowerBound
        functions.append(function)
      }
      let owner = try #require(functions.firstIndex { $0.name.hasPrefix("f(") })
      let calls = tokens.items.indices.compactMap { index -> CallbackCall? in
        guard tokens[index - 1] != "func", let site = CallSite(name: index, in: tokens, label: "completion"),
          let target = functions.firstIndex(where: { $0.name.hasPrefix(tokens[index] + "(") })
        else { return nil }
        var call = CallbackCall(
          file: "F.swift",
          line: 1,
          function: "",
          enclosing: "f",
          callClass: .next,
          place: .next,
          target: target
        )
        call.path = "/F.swift"
        call.site = site
        call.owner = owner
        return call
      }
      let files = SourceFiles()
      files.apply([(SourceEdit(0..<0, text), .step(0))], to: "/F.swift")
      let delivery = MainQueueDelivery(functions, calls, files) { _ in nil }
      #expect(delivery.isSure[owner] == isSure && delivery.isPossible[owner] == isPossible, "\(body)")
    }

    @Test("a callback that might come on the main queue is refused in code of the main actor, and in code of none")
    func possibleMainQueue() throws {
      for isolation in [CodeIsolation.none, .mainActor] {
        let found = try refusals("func f() async { load { _ in } }", isolation: isolation) {
          $0.canFail = false
          $0.mightDeliverOnMainQueue = true
        }
        #expect(found.map(\.risk) == [.isolation])
        #expect(found.first?.reason.contains("might come") == true)
      }
    }
  }
#endif
