// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("Evidence that a callback comes more than once") struct CallbackRepetitionTests {
    private func reason(_ body: String) -> String? {
      let tokens = SourceTokens("{\n\(body)\n}")
      return CallbackRepetition(of: ["completion"], in: 0...tokens.items.count - 1, tokens, title: "").refusal?.reason
    }

    @Test(
      "a call that goes on to another call is evidence",
      arguments: [
        "if !cache.isEmpty { completion(cache) }\nfetch { fresh in self.cache = fresh\ncompletion(fresh) }",
        "if !cache.isEmpty { completion(cache) }; fetch { fresh in completion(fresh) }",
        "if !cache.isEmpty { completion?(cache) }\nfetch(completion: completion)",
        "if !cache.isEmpty { completion(cache) }\nlog()\nfetch { [weak self] x in guard let self else { return }\ncompletion(x) }",
        "if let error { completion(.failure(error)) }\ncompletion(.success(1))",
        "completion(1)\nif a { completion(2) } else { completion(3) }",
        "completion(1)\nfetch { x in guard let x else { completion(0)\nreturn }\ncompletion(x) }",
        "completion(1)\nswitch a { case 1: completion(2)\ndefault: completion(3) }",
        "switch a { case 1: completion(1)\ndefault: log() }\ncompletion(2)",
        "fetch { x in if a { completion(1) }\ncompletion(x) }",
        "completion(1)\nload(page) { log() } onEnd: { completion($0) }",
        "do { completion(try a()) } catch { log() }\ncompletion(2)",
        "completion(1)\nif a { log() }\n(queue ?? .main).async { completion(2) }",
        "completion(1)\nfetch().catch { e in log(e)\nreturn }\ncompletion(2)",
        "if a { log()\nif b { completion(1) } }\nreturn completion(2)",
        "for p in pages where p < 0 { completion(p)\nbreak }\nfetch { completion($0) }",
        "if case .a = b ? c : d { completion(1) }\ncompletion(2)",
        "completion(1)\ndefer { completion(2) }", "defer { completion(1) }\ncompletion(2)",
      ]
    )
    func twice(_ body: String) {
      #expect(reason(body)?.contains("calls it again") == true, "\(body)")
    }

    @Test(
      "a loop that calls the callback each time is evidence, and so is a listener that stays",
      arguments: [
        "for page in pages { completion(page) }", "rows: for row in rows { completion(row) }",
        "while let page = next() { log()\ncompletion(page) }",
        "for page in pages { fetch(page) { completion($0) } }", "fetch { x in for y in x { completion(y) } }",
        "reference.addSnapshotListener { snapshot, error in completion(snapshot) }",
        "for x in xs { if x.isGood { completion(x) } }",
        "for x in xs { guard x.isGood else { completion(0)\ncontinue }\nlog() }",
        "for x in xs { switch x { case 1: completion(x)\nbreak\ndefault: break } }",
        "for x in xs { if x < 0 { completion(x) }\nif x == 0 { return }\ncompletion(1) }",
        "xs.forEach { x in completion(x) }", "xs.forEach { if $0 < 0 { completion($0)\nreturn } }",
        "center.addObserver(forName: name, object: nil, queue: nil) { _ in completion(1) }",
      ]
    )
    func manyTimes(_ body: String) {
      #expect(reason(body) != nil, "\(body)")
    }

    @Test(
      "paths that leave, other branches and other closures are no evidence",
      arguments: [
        "if a { completion(1)\nreturn }\ncompletion(2)",
        "if a { completion(1); return }; fetch { completion($0) }",
        "guard a else { completion(1)\nreturn }\ncompletion(2)",
        "guard a else { return completion(1) }\nfetch { completion($0) }",
        "if a { completion(1) } else { completion(2) }",
        "if a { completion(1) } else if b { completion(2) } else { fetch { completion($0) } }",
        "switch a { case 1: completion(1)\ncase 2: completion(2)\ndefault: completion(3) }",
        "switch a { case 1: completion(1)\nCenter.default.post(a)\nreturn\ndefault: break }\ncompletion(2)",
        "do { let x = try a()\ncompletion(x) } catch { completion(0) }",
        "do { let x = try a()\ncompletion(x)\nreturn } catch { log() }\ncompletion(0)",
        "if let error { completion(error) }\nif let value { completion(value) }",
        "if a { completion(1) }\nif !a { completion(2) }",
        "if a { completion(1) }\nif a { return }\ncompletion(2)",
        "if a { completion(1) }\nguard !a else { return }\ncompletion(2)",
        "if a { completion(1) }\nfetch { x in if !a { completion(x) } }",
        "if a { completion(1) }\nfetch { x in guard !a else { return }\ncompletion(x) }",
        "for x in xs { if x.isGood { completion(x)\nreturn } }\ncompletion(nil)",
        "for x in xs where x.isGood { completion(x)\nbreak }",
        "for x in xs { guard x.isGood else { continue }\ncompletion(x)\nreturn }\ncompletion(nil)",
        "#if A\ncompletion(1)\n#else\ncompletion(2)\n#endif",
        "load { completion($0) } failure: { completion($0) }",
        "load({ completion($0) }, { completion($0) })",
        "let work = DispatchWorkItem { completion(1) }\nqueue.async(execute: work)\nfetch { work.cancel()\ncompletion($0) }",
        "let finish = { completion(1) }\nfetch { finish() }",
        "func finish() { completion(1) }\nfetch { finish() }",
        "let completion = once(completion)\ncompletion(1)\ncompletion(2)",
        "fetch { completion in completion(1)\ncompletion(2) }",
        "fetch { [other = completion] completion in completion(1)\ncompletion(2)\nkeep(other) }",
        "attempt { x in if x == nil { retry(completion)\nreturn }\ncompletion(x) }",
        "a ? completion(1) : completion(2)",
        "listener = reference.addSnapshotListener { x in completion(x)\nlistener.remove() }",
        "completion(1)\nlog(2)",
        "for o in options { alert.addAction(UIAlertAction(title: o, handler: { _ in completion(o) })) }",
        "for o in options { sheet.addAction(o) { completion(o) } }",
        "let work = DispatchWorkItem(block: { completion(1) })\nfetch { work.cancel()\ncompletion($0) }",
        "fetch { t in for completion in self.pending { completion(t) } }",
        "fetch { t in for (id, completion) in self.pending { completion(t) } }",
        "for state in states { if case let .waiting(completion) = state { log() }\ncompletion(1) }",
        "defer { log() }\ncompletion(1)", "defer { if !isDone { completion(0) } }\nisDone = true\ncompletion(1)",
        "lock.lock()\nif let known { lock.unlock()\ncompletion(known)\nreturn }\nlock.unlock()\nfetch { completion($0) }",
      ]
    )
    func once(_ body: String) {
      #expect(reason(body) == nil, "\(body): \(reason(body) ?? "")")
    }

    @Test("blocks in blocks are read once: in a thousand million ways through thirty blocks, no time is lost")
    func nestedBlocks() {
      let open = String(repeating: "if a { ", count: 30), close = String(repeating: " }", count: 30)
      #expect(reason("\(open)completion(1)\(close)\nlog()") == nil)
      #expect(reason("\(open)completion(1)\(close)\ncompletion(2)") != nil)
    }

    @Test("a function whose callback comes twice gets no counterpart, unless the package says that it comes once")
    func counterpart() throws {
      let body = "if !cache.isEmpty { completion(cache) }\n    fetch { fresh in completion(fresh) }"
      let declaration = "func titles(completion: @escaping (Int) -> Void)"
      var builder = GraphBuilder()
      builder.root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
      try FileManager.default.createDirectory(atPath: builder.root, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(atPath: builder.root) }
      let file = URL(filePath: builder.root).appending(path: "Store.swift")
      try Data("extension Store {\n  \(declaration) {\n    \(body)\n  }\n}\n".utf8).write(to: file)
      builder.type("class Store", "Swift.Sendable")
      builder.function(declaration, of: "Store", line: 2, file: "Store.swift")
      func text(_ configuration: String) -> String {
        let plan = CounterpartPlan(
          builder.inventory(sources: [file.path], configuration: configuration),
          style: .async
        )
        return Generator(plan).text + GenerationNotes(plan).comment
      }
      let refused = text("{}")
      #expect(!refused.contains("func titles() async"), "\(refused)")
      #expect(refused.contains("line 3 calls its callback, and line 4 calls it again"), "\(refused)")
      #expect(refused.contains(#""once": ["Store.titles(completion:)"]"#), "\(refused)")
      #expect(text(#"{"once": ["*"]}"#).contains("func titles() async"))
    }
  }
#endif
