// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("Conversion")
  struct ConversionTests {
    private func converted(_ call: String, _ answer: String, ignoresFailure: Bool = false) throws -> String {
      let tokens = SourceTokens("func f() async { \(call) }")
      let name = try #require(tokens.items.indices.first { tokens[$0] == "load" })
      let site = try #require(CallSite(name: name, in: tokens, label: "completion"))
      let text = "\(answer)\n\(Refactoring.mark)"
      return try ConvertedText(text, of: site, in: tokens, ignoresFailure: ignoresFailure, awaiting: 1).text
    }

    private func refusal(_ call: String, _ answer: String) -> String? {
      do {
        _ = try converted(call, answer)
        return nil
      } catch {
        return (error as? ConvertedText.Refusal)?.reason ?? "\(error)"
      }
    }

    @Test(
      "a counterpart has the access level of its function, and does not repeat that of its extension",
      arguments: [
        ("public extension Store {", "public func f() async", "func f() async"),
        (
          "@available(macOS 13, *) public extension Store where T: Sendable {", "public static func f()",
          "static func f()"
        ),
        ("private extension Store {", "fileprivate func f() async", "func f() async"),
        ("private extension Store {", "private func f() async", "private func f() async"),
        ("public extension Store {", "func f() async", "internal func f() async"),
        ("extension Store {", "public func f() async", "public func f() async"),
        ("extension Store {", "func f() async", "func f() async"),
        ("public struct Store {", "public func f() async", "public func f() async"),
      ]
    )
    func accessOfExtension(head: String, signature: String, text: String) throws {
      let tokens = SourceTokens(head + " func f(completion: () -> Void) {} }")
      let name = try #require(tokens.items.indices.first { tokens[$0 - 1] == "func" })
      #expect(CounterpartProposals.signature(signature, at: name, in: tokens) == text)
    }

    @Test("a generated counterpart is found by its title, its type and whether it is async")
    func generatedCounterpart() throws {
      let file = GeneratedFile(
        SourceTokens(
          """
          extension Store.Cache {
            /// Sync.
            func load() throws -> Int { 1 }

            /// Async.
            func load() async throws -> Int { 2 }
          }

          extension Store {
            /// Other.
            func load() async throws -> Int { 3 }
          }
          """
        )
      )
      #expect(file.range(of: "load()", in: "Store.Cache", isSync: true) == 24..<70)
      #expect(file.range(of: "load()", in: "Store.Cache") == 70..<124)
      #expect(file.range(of: "load()", in: "Cache") == nil)
    }

    @Test(
      "a counterpart that cannot fail loses its own `throws` alone",
      arguments: [
        (
          "func f(_ run: () async throws -> Int) async throws -> Int",
          "func f(_ run: () async throws -> Int) async -> Int"
        ),
        ("func f(_ run: (Int) throws -> Int) throws", "func f(_ run: (Int) throws -> Int)"),
        ("func f()", "func f()"),
      ]
    )
    func ownEffect(signature: String, text: String) {
      #expect(CounterpartProposals.nonthrowing(signature) == text)
    }

    @Test("the compiler's counterpart gets the configured name, and none of the old function's attributes")
    func compilersCounterpart() {
      let text = """
        @discardableResult
        @available(*, renamed: "settingsAsync()")
        func settings() async -> Int {
          return await withCheckedContinuation { continuation in
            settings() { result in continuation.resume(returning: result) }
          }
        }
        """
      #expect(
        CounterpartProposals.declaration(from: text, named: "settingsAsync") == """
          func settingsAsync() async -> Int {
            return await withCheckedContinuation { continuation in
              settings() { result in continuation.resume(returning: result) }
            }
          }
          """
      )
    }

    @Test("a text with all words of the call is used without its mark")
    func text() throws {
      #expect(
        try converted("load(id: 1) { text in show(text) }", "let text1 = await load(id: 1)\nshow(text1)")
          == "let text1 = await load(id: 1)\nshow(text1)"
      )
    }

    @Test("a placeholder is refused, and a text that could have hidden one")
    func placeholders() {
      #expect(
        refusal("load { text in show(text) }", "let text = await load()\nshow(<#text#>)")
          == "the compiler's text has a placeholder"
      )
      #expect(throws: ConvertedText.Refusal("nothing shows whether the compiler's text is complete")) {
        try ConvertedText.withoutMark("await load()")
      }
    }

    @Test(
      "a lost word is refused, and one that is there too often",
      arguments: ["let text = await load()", "let text = await load()\nshow(text)\nshow(text)"]
    )
    func words(_ answer: String) {
      #expect(refusal("load { text in show(text) }", answer) == "the compiler's text differs in `show`")
    }

    @Test("a word inside a string counts")
    func strings() {
      #expect(
        refusal(#"load { text in show("a \(text) \(now)") }"#, #"let text = await load(); show("a \(text) ")"#)
          == "the compiler's text differs in `now`"
      )
    }

    @Test("a lost or a new comment is refused")
    func comments() {
      #expect(
        refusal("load { text in show(text) /* why */ }", "let text = await load()\nshow(text)")
          == "a comment would be lost"
      )
      #expect(
        refusal("load { text in show(text) }", "let text = await load()\nshow(text) // new")
          == "the compiler's text has a comment of its own"
      )
    }

    @Test("a failure must not leave the function")
    func failures() throws {
      #expect(
        refusal("load { result in show() }", "_ = try await load()\nshow()")
          == "its failure would leave the function, and the callback kept it"
      )
      let kept = try converted(
        "load { result in if case .success(let text) = result { show(text) } }",
        "let text = try await load()\nshow(text)",
        ignoresFailure: true
      )
      #expect(
        kept == "do {\nlet text = try await load()\nshow(text)\n} catch {\n// The callback ignored the failure.\n}"
      )
      #expect(refusal("load { result in show() }", "do { _ = try await load()\nshow() } catch { }") == nil)
    }

    @Test("a result that nothing uses has no name")
    func unusedNames() {
      #expect(ConvertedText.withoutUnusedName("let text = try await load()\nshow()") == "_ = try await load()\nshow()")
      #expect(
        ConvertedText.withoutUnusedName("let text = try await load()\nshow(\"\\(text)\")")
          == "let text = try await load()\nshow(\"\\(text)\")"
      )
    }

    // MARK: Bisection

    @Test("changes that build together are kept, also where no error points to the others", arguments: [false, true])
    func bisection(pointing: Bool) throws {
      let bad: Set<Int> = [3, 40, 41]
      var trials = 0
      let (kept, refused) = try Bisection.passing(Array(0..<64)) { (trial: [Int]) throws(MigrationError) in
        trials += 1
        let found = trial.filter(bad.contains)
        return found.isEmpty ? .passes : .fails(suspects: pointing ? [found[0]] : [], reason: "\(found[0])")
      }
      #expect(kept == (0..<64).filter { !bad.contains($0) })
      #expect(Set(refused.map(\.change)) == bad && trials < 40, "\(trials) trials")
    }

    @Test("changes that do not build together are not kept together")
    func conflictingChanges() throws {
      let (kept, refused) = try Bisection.passing([1, 2, 3]) { (trial: [Int]) throws(MigrationError) in
        trial.contains(1) && trial.contains(3) ? .fails(suspects: [1, 2, 3], reason: "both") : .passes
      }
      #expect(kept.count == 2 && refused.count == 1)
    }

    // MARK: Texts

    @Test("an annotation stands in the line of its declaration, and leaves no trace")
    func annotations() throws {
      let text = "struct A {\n  public func load(completion: () -> Void) {}\n}\n"
      let source = SourceText(text)
      let offset = text.utf8.count - "load(completion: () -> Void) {}\n}\n".utf8.count
      let edit = try #require(Annotations.edit(at: offset, title: "load()", in: source))
      let annotated = source.applying([edit])
      let newlines = { (text: String) in text.count { $0.isNewline } }
      #expect(newlines(annotated) == newlines(text))
      #expect(Annotations.removed(from: annotated, isKeepingAttributes: false) == text)
      let kept = Annotations.removed(from: annotated, isKeepingAttributes: true)
      #expect(kept == text.replacing("  public", with: "  @available(*, renamed: \"load()\")\n  public"))
      #expect(Annotations.edit(at: 16, title: "load()", in: SourceText("struct A { func load() {} }")) == nil)
    }

    @Test("the lines of each change are those of the new text")
    func lines() {
      let source = SourceText("a\nb\nc\n")
      let changes = [
        ProposedChange(path: "F", range: 4..<5, text: "x\ny"), ProposedChange(path: "F", range: 0..<1, text: "1\n2\n3"),
      ]
      let (text, lines) = ProposedChange.applying(changes, to: source)
      #expect(text == "1\n2\n3\nb\nx\ny\n")
      #expect(lines.map(\.lines) == [1...3, 5...6])
    }

    @Test("a new declaration begins where its function does, also if the file leaves out a level")
    func alignment() {
      let (source, end) = (SourceText("extension A {\nstruct B {\n    func f() {}\n}\n}\n"), 40)
      let change = ProposedChange(path: "/F", range: end..<end, text: "/// F\nfunc g() {\nf() }", lead: "\n\n    ")
      let formatted = ChangeFormatter.formatted([change], of: source, root: URL(filePath: "/"))
      #expect(formatted.map(\.text) == ["/// F\n    func g() {\n        f()\n    }"])
    }

    @Test("the indentation of a file without a configuration is kept")
    func indentation() {
      #expect(SwiftFormat.indentation(of: "a {\n    b {\n        c\n") == #"{"spaces": 4}"#)
      #expect(SwiftFormat.indentation(of: "a {\n\tb\n") == #"{"tabs": 1}"#)
    }

    @Test("A run waits until an earlier one has released its folder")
    func folderLock() throws {
      let folder = FileManager.default.temporaryDirectory.appending(
        path: UUID().uuidString,
        directoryHint: .isDirectory
      )
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      var waits = 0
      var first: FolderLock? = try FolderLock(folder) { waits += 1 }
      #expect(waits == 0)
      let second = try FolderLock(folder) {
        waits += 1
        first = nil
      }
      #expect(waits == 1)
      withExtendedLifetime((first, second)) {}
    }

    @Test("files are written only over committed files, and the diff can be applied")
    func writing() throws {
      let folder = FileManager.default.temporaryDirectory.appending(
        path: UUID().uuidString,
        directoryHint: .isDirectory
      )
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "package/A.swift")
      try PackageCopy.write(Data("let a = 1\n".utf8), to: file)
      let package = folder.appending(path: "package")
      let writer = ConversionWriter(package: package, work: folder.appending(path: "work"))
      let texts = [file.path: "let a = 2\n"]
      let diff = try writer.diff(texts)
      #expect(diff.contains("--- a/A.swift\n+++ b/A.swift\n@@ -1 +1 @@\n-let a = 1\n+let a = 2\n"))
      let git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
      for arguments in [["init", "-q"], ["add", "."], ["commit", "-qm", "x"]] {
        _ = try Shell.run(git + arguments, in: package)
      }
      try PackageCopy.write(Data("let a = 3\n".utf8), to: file)
      #expect(throws: MigrationError.self) { try writer.write(texts) }
      #expect(try String(contentsOf: file, encoding: .utf8) == "let a = 3\n")
      try PackageCopy.write(Data("let a = 1\n".utf8), to: file)
      try writer.write(texts)
      #expect(try String(contentsOf: file, encoding: .utf8) == "let a = 2\n")
    }

    // MARK: Functions

    private func functionRefusal(
      _ body: String,
      isVoid: Bool = false,
      returning type: String = "",
      isOverride: Bool = false,
      access: String = "public",
      _ relations: [(kind: String, source: String, target: String)] = [],
      _ change: (inout CallbackCall) -> Void = { _ in }
    ) throws -> String? {
      let tokens = SourceTokens("func outer(completion: @escaping (Int) -> Void)\(type) { \(body) }")
      let text = try #require(FunctionText(name: 1, in: tokens))
      var callbacks: [Int: CallSite] = [:]
      var calls: [CallbackCall] = []
      for name in tokens.items.indices where tokens[name] == "load" {
        guard let site = CallSite(name: name, in: tokens, label: "completion") else { continue }
        if let brace = site.callback { callbacks[brace] = site }
        var call = CallbackCall(
          file: "F",
          line: 1,
          function: "load",
          enclosing: "outer",
          callClass: .next,
          place: .next,
          target: 0
        )
        call.site = site
        change(&call)
        calls.append(call)
      }
      let start = isOverride ? "override func" : "func"
      let declaration = "\(start) outer(completion: @escaping (\(isVoid ? "" : "Int")) -> Void)\(type)"
      let kinds = [("C", "class"), ("P", "protocol"), ("P.outer", "method")]
      let others = kinds.map { name, kind in
        let path = name.split(separator: ".").map { "\"\($0)\"" }.joined(separator: ", ")
        return """
          , {"kind": {"identifier": "swift.\(kind)"}, "identifier": {"precise": "\(name)"}, "pathComponents": [\(path)],
          "accessLevel": "public", "declarationFragments": [{"kind": "text", "spelling": "\(kind) \(name)"}]}
          """
      }
      let links = relations.map { #"{"kind": "\#($0.kind)", "source": "\#($0.source)", "target": "\#($0.target)"}"# }
      let json = """
        {"symbols": [{
          "kind": {"identifier": "swift.func"}, "identifier": {"precise": "outer"}, "pathComponents": ["outer"],
          "accessLevel": "\(access)", "location": {"uri": "file:///m/F.swift", "position": {"line": 0, "character": 5}},
          "declarationFragments": [{"kind": "text", "spelling": "\(declaration)"}]
        }\(others.joined())], "relationships": [\(links.joined(separator: ", "))]}
        """
      let graph = try JSONDecoder().decode(SymbolGraph.self, from: Data(json.utf8))
      let inventory = Inventory(module: "M", graph, minimumAccess: .internal, root: URL(filePath: "/m"))
      let entry = try #require(CounterpartPlan(inventory, style: .async).entries.first)
      let function = try #require(AwaitableFunction(entry, path: "/m/F.swift", tokens, in: inventory))
      return FunctionChecks(tokens: tokens, function: function, text: text, calls: calls).refusal
    }

    @Test("a function whose paths end in the callback can become async")
    func functions() throws {
      #expect(try functionRefusal("load { x in completion(x) }") == nil)
      #expect(try functionRefusal("load { x in guard a else { completion(0)\n return }\n completion(x) }") == nil)
      #expect(try functionRefusal("guard a else { return completion(0) }\n load { x in completion(x) }") == nil)
      #expect(try functionRefusal("load(completion: completion)") == nil)
      #expect(try functionRefusal("load(completion: completion)", isVoid: true) == nil)
    }

    @Test("a function is refused for its declaration or its calls")
    func refusedDeclarations() throws {
      let body = "load { x in completion(x) }"
      #expect(try functionRefusal(body, returning: " -> Int") == "it returns a value besides its callback")
      let another = "a call of it can run another body: that of a type that conforms, or of a subclass"
      #expect(try functionRefusal(body, isOverride: true) == another)
      #expect(try functionRefusal(body, access: "open") == another)
      #expect(try functionRefusal(body, [("overrides", "P.outer", "outer")]) == another)
      let required = [("requirementOf", "P.outer", "P"), ("conformsTo", "C", "P")]
      #expect(try functionRefusal(body, required + [("memberOf", "outer", "C")]) == nil)
      #expect(try functionRefusal(body, required + [("memberOf", "outer", "P")]) == another)
      #expect(try functionRefusal(body, [("requirementOf", "outer", "P")]) == another)
    }

    @Test("a function is refused where an async function would do something else")
    func refusedFunctions() throws {
      #expect(try functionRefusal("load { x in completion(x)\n log() }") == "line 2 runs after its callback")
      #expect(
        try functionRefusal("load { x in queue.async { completion(x) } }")
          == "line 1 calls its callback in a closure that is not awaited"
      )
      #expect(
        try functionRefusal("load { x in for y in x { completion(y) } }")
          == "line 1 calls its callback in a loop or a `defer`"
      )
      #expect(
        try functionRefusal("kept = completion\n load { x in log(x) }") == "line 1 uses its callback without calling it"
      )
      #expect(try functionRefusal("load { x in log(x) }") == "it never calls its callback")
      #expect(try functionRefusal("load { x in completion(x)\n return }\n log()") == "line 3 runs after its callback")
      let left = "load { x in if a { completion(0)\n return }\n return }\n log()"
      #expect(try functionRefusal(left) == "line 4 runs after its callback")
      #expect(try functionRefusal("load { x in use(completion(x)) }") == "line 1 uses its callback without calling it")
      let local = "func inner() { completion(1) }\n load { x in inner() }"
      #expect(try functionRefusal(local) == "line 1 calls its callback in a closure that is not awaited")
      #expect(
        try functionRefusal("load { x in decode(x, then: completion) }")
          == "line 1 passes its callback to `decode`, whose calls cannot be awaited"
      )
    }
  }
#endif
