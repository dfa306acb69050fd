// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("The text of functions")
  struct SourceCodeTests {
    private func index(_ word: String, _ tokens: SourceTokens) throws -> Int {
      try #require(tokens.items.indices.first { tokens[$0] == word })
    }

    @Test("comments and strings are no code, and have no brackets")
    func comments() {
      let tokens = SourceTokens("a { // }\n /* { /* ( */ */ \"} \\(f(\"{\")) {\" #\"}\"# }\n\"\"\"\n  }\n\"\"\"")
      #expect(tokens.isBalanced)
      #expect(tokens.items.map(\.text).prefix(3) == ["a", "{", "\"} \\(f(\"{\")) {\""])
    }

    @Test(
      "the words before a pair of braces give its kind",
      arguments: [
        ("if a, let b = c(d) § {}", CodeBlock.branch), ("guard a else § {}", .branch),
        ("if a {} else if b § {}", .branch), ("do {} catch E.a(let b) § {}", .branch),
        ("rows: for a in b where c § {}", .loop), ("switch a § {}", .cases), ("defer § {}", .deferred),
        ("var a: Int § {}", .accessor), ("public final class A: B § {}", .declaration),
        ("extension A where B == C § {}", .declaration),
        ("if a,\n  let b = c\n § {}", .branch), ("while a\n  && b § {}", .loop),
        ("var a: Int { get § {} }", .accessor), ("var a: Int { get { 1 }\n set(b) § {} }", .accessor),
        ("subscript(a: Int) -> Int { get { 1 }\n set(b) § {} }", .accessor),
        ("var a = 1 { willSet(b) § {} }", .accessor),
      ]
    )
    func blocks(_ text: String, _ block: CodeBlock) throws {
      let tokens = SourceTokens("func x() {\n let z = 1\n \(text.replacing("§", with: "/**/"))\n}")
      let braces = tokens.items.indices.filter { tokens[$0] == "{" }
      #expect(tokens.block(at: try #require(braces.last)) == block)
    }

    @Test("a function can be called `get` or `set`", arguments: ["get(1)", "set(1, 2)", "get", "open(1)"])
    func functionsLikeAccessors(call: String) throws {
      let tokens = SourceTokens("func x() {\n \(call) { a in b }\n}")
      let name = try index(String(call.prefix { $0 != "(" }), tokens)
      let brace = try #require(tokens.items.indices.last { tokens[$0] == "{" })
      #expect(tokens.block(at: brace) == .closure(callee: name))
    }

    @Test("the braces of functions and closures have a name")
    func namedBlocks() throws {
      let tokens = SourceTokens(
        """
        @MainActor public static func load<T>(
          id: Int
        ) async throws -> [T] where T: P {
          let a = 1
          b.c(d) { _ in
            e { }
          }
          let f = Task(priority: .high) { }
        }
        """
      )
      let blocks = tokens.items.indices.filter { tokens[$0] == "{" }.map { tokens.block(at: $0) }
      let expected: [CodeBlock] = [
        .declaration, .closure(callee: try index("c", tokens)),
        .closure(callee: try index("e", tokens)), .closure(callee: try index("Task", tokens)),
      ]
      #expect(blocks == expected)
    }

    @Test("the head of a closure has captures and names")
    func signatures() {
      func signature(_ text: String) -> ClosureSignature? { SourceTokens("f \(text)").closureSignature(at: 1) }
      #expect(signature("{ a, _ in b }")?.parameters == ["a", "_"])
      #expect(signature("{ (a: [Int], b) -> Int in 1 }")?.parameters == ["a", "b"])
      #expect(signature("{ (a: Int) throws(E) -> Int in 1 }")?.parameters == ["a"])
      #expect(signature("{ @MainActor [weak self] a async in b }")?.parameters == ["a"])
      #expect(signature("{ a\n for b in c {} }") == nil)
      #expect(signature("{ for b in c {} }") == nil)
      #expect(signature("{}") == nil)
    }

    @Test("a function has a body, and a requirement has none")
    func functions() throws {
      let tokens = SourceTokens(
        "func a<T>(_ b: @escaping (Int) -> T, c d: Int = f(1)) async -> T {}\nfunc e()\nvar g: Int { 1 }"
      )
      let body = try #require(tokens.body(ofFunction: 1))
      #expect(tokens[body.lowerBound - 1] == "T" && body.count == 2)
      #expect(tokens.body(ofFunction: try index("e", tokens)) == nil)
    }
  }
#endif
