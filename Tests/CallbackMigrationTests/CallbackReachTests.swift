// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  extension SourceFiles {
    /// Sets the text of a file that does not exist.
    fileprivate func set(_ path: String, _ text: String) { apply([(SourceEdit(0..<0, text), .step(0))], to: path) }
  }

  @Suite("Wrappers that would call themselves")
  struct CallbackReachTests {
    private static let path = "/App.swift"
    private let files = SourceFiles()

    /// Finds references by names; the compiler's index tells overloads apart.
    private func reach(_ source: String) -> CallbackReach {
      files.set(Self.path, source)
      let tokens = files.tokens(Self.path)
      return CallbackReach(files, dynamic: [:]) { node in
        // The index has no local functions.
        guard let name = tokens.index(at: node.offset), tokens[name] != "local" else { return [] }
        return tokens.items.indices.filter { index in
          index != name && tokens[index] == tokens[name] && !["func", "var", "let"].contains(tokens[index - 1])
        }.map { SourcePlace(path: node.path, position: tokens.source.position(of: tokens.items[$0].range.lowerBound)) }
      }
    }

    /// A declaration of the source, by its name.
    private func node(_ name: String, _ index: Int = 0) -> CallbackReach.Node {
      let tokens = files.tokens(Self.path)
      let base = name.prefix { $0 != "(" }
      let all = tokens.items.indices.filter { tokens[$0] == base && ["func", "var"].contains(tokens[$0 - 1]) }
      return CallbackReach.Node(path: Self.path, offset: tokens.items[all[index]].range.lowerBound)
    }

    private func caller(_ source: String) throws -> String? {
      try reach(source).caller(of: node("old"), reachedFrom: node("new"))
    }

    @Test(
      "the work of a counterpart can go through the callback in many ways",
      arguments: [
        ("func new() async { await wait { old($0) } }", "new()"),
        ("func future() { make { old($0) } }\nfunc new() async { future() }", "future()"),
        ("var future: F { make { old($0) } }\nfunc new() async { await future.value }", "future"),
        ("var future: F {\n  get { make { old($0) } }\n}\nfunc new() async { await future.value }", "future"),
        (
          "let future = make { old($0) }\nfunc new() async { await run { helper() } }\nfunc helper() { a = future }",
          "future"
        ),
        ("func a() { old() }\nfunc b() { a() }\nfunc new() async { func local() { b() }; local() }", "a()"),
        ("func f(x: Int = old()) {}\nfunc new() async { f() }", "f(x:)"),
        ("func new() async {}\nclass Sub {\n  func new() async { old() }\n}", "new()"),
      ]
    )
    func ways(source: String, caller: String) throws {
      let source = "func old(_ done: D) { x { done() } }\n" + source
      #expect(try self.caller(source) == caller)
    }

    @Test(
      "work of its own is no way to the callback",
      arguments: [
        "func new() async {}",
        "func screen() { old() }\nfunc new() async { await other() }",
        "func screen() { old(); new() }\nfunc new() async {}",
      ]
    )
    func ownWork(source: String) throws {
      #expect(try caller("func old(_ done: D) { x { done() } }\n" + source) == nil)
    }

    @Test("of two counterparts that work through each other's callbacks, one can be turned around")
    func circle() throws {
      let source = """
        func old1(_ done: D) { x { done() } }
        func new1() async { await wait { old2($0) } }
        func old2(_ done: D) { x { done() } }
        func new2() async { await wait { old1($0) } }
        """
      let reach = reach(source)
      #expect(try reach.caller(of: node("old1"), reachedFrom: node("new1")) == nil)
      try reach.add(node("old1"), calling: node("new1"))
      #expect(try reach.caller(of: node("old2"), reachedFrom: node("new2")) == "new1()")
    }

    @Test("a call of a requirement can mean each function that implements it")
    func requirement() throws {
      let source = """
        protocol P {
          func old(_ done: D)
        }
        func new() async { await wait { p.old($0) } }
        func old(_ done: D) { x { done() } }
        """
      files.set(Self.path, source)
      let tokens = files.tokens(Self.path)
      let (requirement, function) = (node("old"), node("old", 1))
      let call = try #require(tokens.items.indices.first { tokens[$0] == "old" && tokens[$0 - 1] == "." })
      let place = SourcePlace(
        path: Self.path,
        position: tokens.source.position(of: tokens.items[call].range.lowerBound)
      )
      let reach = CallbackReach(files, dynamic: ["old(_:)": [requirement]]) { $0 == requirement ? [place] : [] }
      #expect(try reach.caller(of: function, reachedFrom: node("new")) == "new()")
    }
  }
#endif
