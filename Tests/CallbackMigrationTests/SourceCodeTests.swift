// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Testing

  @testable import CallbackMigration

  @Suite("The text around calls")
  struct SourceCodeTests {
    @Test("the attributes of a function are those between it and the declaration before")
    func attributes() throws {
      let text = """
        protocol P {
          @available(*, renamed: "a()")
          func a(completion: () -> Void)
          func b(completion: () -> Void)
          @available(*, renamed: "c()") @MainActor
          @discardableResult public nonisolated(nonsending) static func c(completion: () -> Void)
          @available(*, deprecated) func d(completion: () -> Void)
        }
        """
      let tokens = SourceTokens(text)
      let names = tokens.items.indices.filter { tokens[$0 - 1] == "func" }
      let found = try names.map { name in
        try #require(FunctionText(name: name, in: tokens)).hasAttribute(with: "renamed", in: tokens)
      }
      #expect(found == [true, false, true, false])
    }

    private func index(_ word: String, _ tokens: SourceTokens) throws -> Int {
      try #require(tokens.items.indices.first { tokens[$0] == word })
    }

    @Test("comments and strings are no code, and have no brackets")
    func comments() {
      let tokens = SourceTokens("a { // }\n /* { /* ( */ */ \"} \\(f(\"{\")) {\" #\"}\"# }\n\"\"\"\n  }\n\"\"\"")
      #expect(tokens.isBalanced)
      #expect(tokens.comments == ["// }", "/* { /* ( */ */"])
      #expect(tokens.items.map(\.text).prefix(3) == ["a", "{", "\"} \\(f(\"{\")) {\""])
    }

    @Test("a place of the language server is an offset, also after characters of two units")
    func positions() throws {
      let source = SourceText("let a = \"😀é\"; f()\n  g()")
      let place = LanguageServerMessage.Position(line: 0, character: 14)
      let offset = try #require(source.offset(of: place))
      #expect(source[offset..<offset + 1] == " ")
      #expect(source.position(of: offset) == .init(line: 0, character: 14))
      #expect(source.offset(of: .init(line: 1, character: 2)).map { source[$0..<$0 + 1] } == "g")
      #expect(source.offset(of: .init(line: 2, character: 0)) == nil)
      #expect(source.line(1) == "  g()")
    }

    @Test("changes are applied by their places, and move the text after them")
    func edits() {
      let edits = [SourceEdit(4..<5, "bcd"), SourceEdit(0..<1, "")]
      #expect(SourceText("a + b + c").applying(edits) == " + bcd + c")
      #expect(SourceEdit.offset(8, after: edits) == 9)
      #expect(SourceEdit.offset(4, after: edits) == nil)
    }

    @Test(
      "the words before a pair of braces give its kind",
      arguments: [
        ("if a, let b = c(d) § {}", CodeBlock.branch("if")), ("guard a else § {}", .branch("else")),
        ("if a {} else if b § {}", .branch("else")), ("do {} catch E.a(let b) § {}", .branch("catch")),
        ("rows: for a in b where c § {}", .loop), ("switch a § {}", .cases), ("defer § {}", .deferred),
        ("var a: Int § {}", .accessor), ("public final class A: B § {}", .type),
        ("extension A where B == C § {}", .type),
        ("if a,\n  let b = c\n § {}", .branch("if")), ("while a\n  && b § {}", .loop),
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
        .function(name: try index("load", tokens)), .closure(callee: try index("c", tokens)),
        .closure(callee: try index("e", tokens)), .closure(callee: try index("Task", tokens)),
      ]
      #expect(blocks == expected)
    }

    @Test("the head of a closure has captures, names and effects")
    func signatures() {
      func signature(_ text: String) -> ClosureSignature? { SourceTokens("f \(text)").closureSignature(at: 1) }
      #expect(signature("{ a, _ in b }")?.parameters == ["a", "_"])
      #expect(signature("{ (a: [Int], b) -> Int in 1 }")?.parameters == ["a", "b"])
      #expect(signature("{ @MainActor [weak self] a async in b }")?.attributes == ["@MainActor"])
      #expect(signature("{ @MainActor [weak self] a async in b }")?.isAsync == true)
      #expect(signature("{ a\n for b in c {} }") == nil)
      #expect(signature("{ for b in c {} }") == nil)
      #expect(signature("{}") == nil)
    }

    @Test("a function has a title, effects and a body")
    func functions() throws {
      let tokens = SourceTokens(
        "func a<T>(_ b: @escaping (Int) -> T, c d: Int = f(1)) async -> T {}\nfunc e()\nvar g: Int { 1 }"
      )
      let first = try #require(FunctionText(name: 1, in: tokens))
      #expect(first.title == "a(_:c:)" && first.isAsync && first.body != nil)
      let second = try #require(FunctionText(name: try index("e", tokens), in: tokens))
      #expect(second.title == "e()" && !second.isAsync && second.body == nil)
    }
  }
#endif
