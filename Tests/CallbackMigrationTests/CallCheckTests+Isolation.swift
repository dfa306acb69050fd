#if DEBUG
  import Testing

  @testable import CallbackMigration

  /// The actor of the code around a call.
  extension CallCheckTests {
    /// The isolation of the code around the call of `load` in a file.
    private func isolation(
      _ text: String,
      _ graph: GraphBuilder = GraphBuilder(),
      runsOnCallersActor: Bool = false,
      line: Int? = nil
    ) throws -> CodeIsolation {
      let tokens = SourceTokens(text)
      let name = try #require(tokens.items.indices.first { tokens[$0] == "load" })
      let scope = CallScope(of: try #require(CallSite(name: name, in: tokens, label: "completion")), in: tokens)
      let facts = CodeIsolationFacts([graph.graph], runsOnCallersActor: runsOnCallersActor)
      return facts.isolation(of: scope, tokens, path: "/package/Sources/App/App.swift", type: "S") { _ in line }
    }

    @Test("a function that runs on the actor of its caller has an unknown isolation")
    func callersActor() throws {
      #expect(try isolation("nonisolated(nonsending) func f() async { load { _ in } }") == .unknown)
      #expect(try isolation("nonisolated func f() async { load { _ in } }") == .none)
      var graph = GraphBuilder()
      graph.function("nonisolated(nonsending) func f() async", line: 1)
      #expect(try isolation("func f() async { load { _ in } }", graph, line: 0) == .unknown)
      let manifest = PackageManifest(
        text: #"swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]"#
      )
      #expect(manifest.runsAsyncFunctionsOnCallersActor)
      for (text, expected) in [
        ("func f() async { load { _ in } }", CodeIsolation.unknown),
        ("@concurrent func f() async { load { _ in } }", .none),
        ("@MainActor func f() async { load { _ in } }", .mainActor),
        ("func f() { load { _ in } }", .none),
      ] {
        #expect(try isolation(text, runsOnCallersActor: true) == expected, "\(text)")
      }
    }

    @Test(
      "a private function has the isolation of its type, and not that of one member",
      arguments: [
        ("class S", ["@MainActor func show()", "func hide()"], CodeIsolation.none),
        ("class S", ["@MainActor func show()"], .unknown),
        ("class S", ["func show()", "func hide()"], .none),
        // The main actor is the default of the module.
        ("class S", ["@MainActor func show()", "@MainActor func hide()", "nonisolated func no()"], .mainActor),
        ("@MainActor class S", ["@MainActor func show()"], .mainActor),
        ("@MainActor class S", [], .mainActor),
        ("nonisolated class S", ["@MainActor func show()"], .none),
        ("actor S", ["func show()"], .actor("its actor")),
        ("@Observable class S", ["func show()", "func hide()"], .none),
        ("@Observable @MainActor class S", [], .mainActor),
        ("@StoreActor class S", [], .actor("@StoreActor")),
        ("@Database class S", [], .actor("@Database")),
      ]
    )
    func privateFunction(type: String, members: [String], expected: CodeIsolation) throws {
      var graph = GraphBuilder()
      graph.type("@globalActor actor Database")
      graph.type(type)
      for member in members { graph.function(member, of: "S", line: 9) }
      #expect(try isolation("extension S { private func f() async { load { _ in } } }", graph) == expected)
      let isolated = "@MainActor extension S { private func f() async { load { _ in } } }"
      #expect(try isolation(isolated, graph) == .mainActor)
      let macro = "@Model class S { private func f() async { load { _ in } } }"
      #expect(try isolation(macro, graph) == expected)
      let known = "@Database class S { private func f() async { load { _ in } } }"
      #expect(try isolation(known, graph) == .actor("@Database"))
    }

    @Test(
      "a task has the isolation of the code around it, unless it is detached",
      arguments: [
        ("Task", CodeIsolation.mainActor), ("Task.immediate", .mainActor), ("Task.detached", .none),
        ("Task.immediateDetached", .none),
      ]
    )
    func task(_ task: String, expected: CodeIsolation) throws {
      #expect(try isolation("@MainActor func f() { \(task) { load { _ in } } }") == expected)
    }
  }
#endif
