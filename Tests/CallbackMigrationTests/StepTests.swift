// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("The changes of a conversion, function by function")
  struct StepTests {
    private func edit(_ range: Range<Int>, _ text: String, _ step: Int) -> StepwiseText.Edit {
      (SourceEdit(range, text), .step(step))
    }

    private func shown(_ text: StepwiseText, _ steps: Int...) -> String {
      text.text(with: Set(steps.map { .step($0) }))
    }

    // MARK: Texts

    @Test("a text can be shown with any of its changes, also where a later one is nearer to the beginning")
    func texts() {
      var text = StepwiseText("one two three")
      text.apply([edit(8..<13, "3", 0), edit(0..<3, "1", 1)])
      #expect(shown(text, 0, 1) == "1 two 3")
      text.apply([edit(2..<5, "2", 2)])
      #expect(shown(text) == "one two three")
      #expect(shown(text, 0) == "one two 3")
      #expect(shown(text, 2) == "one 2 three")
      #expect(shown(text, 0, 1, 2) == "1 2 3")
    }

    @Test("an insertion stands at its place without the others")
    func insertions() {
      var text = StepwiseText("ab")
      text.apply([edit(1..<1, "-", 0), edit(2..<2, "!", 1)])
      text.apply([edit(1..<2, "+", 2)])
      #expect(shown(text, 0, 1) == "a-b!")
      #expect(shown(text, 1) == "ab!")
      #expect(shown(text, 0, 1, 2) == "a+b!")
    }

    @Test("a change that overlaps an earlier one of its round is left out, as in a text")
    func overlaps() {
      let edits = [edit(0..<3, "x", 0), edit(2..<4, "y", 1)]
      var text = StepwiseText("abcd")
      text.apply(edits)
      #expect(shown(text, 0, 1) == SourceText("abcd").applying(edits.map(\.edit)))
    }

    @Test("an offset after changes has its line of the text before them, and new text has none")
    func originalLines() throws {
      let url = URL(filePath: NSTemporaryDirectory()).appending(path: "Lines-\(UUID()).swift")
      try "one\ntwo\nthree\nfour".write(to: url, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: url) }
      let files = SourceFiles()
      let line = { files.originalLine(of: $0, in: url.path) }
      #expect(line(9) == 2)
      files.apply([edit(3..<3, "\nnew", 0)], to: url.path)
      files.apply([edit(8..<11, "2", 1)], to: url.path)
      #expect(files.tokens(url.path).source.text == "one\nnew\n2\nthree\nfour")
      #expect([0, 4, 7, 8, 9, 10, 16].map(line) == [0, nil, 0, nil, 1, 2, 3])
    }

    @Test("a change knows the steps whose text it changes")
    func touchedSteps() {
      var text = StepwiseText("ab")
      text.apply([edit(1..<1, "1234", 7)])
      #expect(text.steps(around: 2..<4) == [7])
      #expect(text.steps(around: 0..<2) == [7])
      #expect(text.steps(around: 3..<3) == [7])
      #expect(text.steps(around: 0..<1) == [])
      #expect(text.steps(around: 1..<1) == [])
      #expect(text.steps(around: 5..<6) == [])
    }

    // MARK: Steps

    /// A package of functions with the names `f0` and so on.
    struct Package {
      let functions: [AwaitableFunction]
      var calls: [CallbackCall] = []
      var steps = ConversionSteps()
      let copy: PackageCopy

      init(_ count: Int) throws {
        let tokens = SourceTokens(String(repeating: "\n", count: 9))
        var graph = GraphBuilder()
        for index in 0..<count { graph.function("func f\(index)(completion: @escaping (Int) -> Void)") }
        let inventory = graph.inventory()
        functions = CounterpartPlan(inventory, style: .async).entries.compactMap {
          AwaitableFunction($0, path: "/F.swift", tokens, in: inventory)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        copy = try PackageCopy(of: folder.appending(path: "none"), in: folder)
      }

      /// Adds a call, in a function with a callback or in async code.
      mutating func call(_ target: Int, in owner: Int? = nil, _ risk: CallRisk? = nil) {
        let kind: CallbackCall.Class = owner == nil ? .ready : .next
        var call = CallbackCall(
          file: "F.swift",
          line: calls.count + 1,
          function: functions[target].title,
          enclosing: "code",
          callClass: kind,
          place: kind,
          target: target
        )
        call.owner = owner
        call.refusals = risk.map { [CallRefusal("it differs", $0)] } ?? []
        let tokens = SourceTokens(String(repeating: "a\n", count: calls.count) + "f()")
        call.site = CallSite(name: calls.count, in: tokens, label: "completion")
        calls.append(call)
      }

      func change(call: Int? = nil, function: Int? = nil, replacing: Bool = false) -> ProposedChange {
        var change = ProposedChange(path: "F.swift", range: 0..<0, text: "", call: call, function: function)
        if replacing { change.removal = ProposedChange.Removal(path: "G.swift", range: 0..<0) }
        return change
      }

      mutating func add(
        _ change: ProposedChange,
        touching touched: Set<Int> = [],
        owner: (String) -> String? = { _ in nil }
      ) -> Int {
        steps.add(change, touching: touched, calls, functions, copy, owner: owner)
      }
    }

    @Test("the calls of a new counterpart belong to its step, and those of another one to a step of their own")
    func grouping() throws {
      var package = try Package(3)
      package.call(0)
      package.call(0, in: 1, .order)
      package.call(1)
      package.call(1, .callers)
      #expect(package.add(package.change(call: 0)) == 0)
      #expect(package.add(package.change(function: 1)) == 1)
      #expect(package.add(package.change(call: 2)) == 1)
      #expect(package.add(package.change(call: 3)) == 1)
      let steps = package.steps.all
      #expect(steps.map(\.needed) == [[], []])
      #expect(steps.map(\.risks) == [[], [.order, .callers]])
      #expect(
        steps.map(\.summary) == [
          "1 call awaits the async counterpart of f0(completion:)",
          "f1(completion:) gets an async counterpart; 2 calls await it",
        ]
      )
      #expect(steps[1].left("no").map(\.place).count == 3 && steps[1].left("no").allSatisfy { $0.reason == "no" })
    }

    @Test("a step needs the new counterparts that it awaits, and the steps whose text it changes")
    func needs() throws {
      var package = try Package(4)
      package.call(0, in: 1)
      package.call(1, in: 2)
      package.call(2, in: 3)
      package.call(0)
      #expect(package.add(package.change(function: 1)) == 0)
      #expect(package.add(package.change(function: 2)) == 1)
      #expect(package.add(package.change(function: 3, replacing: true)) == 2)
      // The change is in the text of the last step.
      #expect(package.add(package.change(call: 3), touching: [2]) == 3)
      #expect(package.steps.all.map(\.needed) == [[], [0], [1], [2]])
    }

    @Test("nothing needs the step that replaces a generated counterpart: without it, that one is awaited")
    func replacedCounterparts() throws {
      var package = try Package(2)
      package.call(0, in: 1)
      #expect(package.add(package.change(function: 0, replacing: true)) == 0)
      #expect(package.add(package.change(function: 1)) == 1)
      #expect(package.steps.all.map(\.needed) == [[], []])
      #expect(package.steps.all[0].summary == "The async counterpart of f0(completion:) does the work itself")
    }

    @Test("a counterpart comes after those that it awaits")
    func leafFirst() throws {
      var package = try Package(4)
      package.call(1, in: 0)
      package.call(2, in: 1)
      package.call(3, in: 3)
      let changes = (0..<4).map { package.change(function: $0) }
      #expect(changes.leafFirst(package.calls).map(\.function) == [2, 1, 0, 3])
      package.call(0, in: 2)
      #expect(changes.leafFirst(package.calls).compactMap(\.function).sorted() == [0, 1, 2, 3])
    }

    @Test("the message of a commit says what changed, which risks were accepted, and what was checked")
    func messages() {
      var step = ConversionStep(function: 0, title: "load(completion:)", counterpart: .replacesGenerated)
      step.risks = [.cancellation, .order]
      #expect(
        ConversionStep.message(of: [step], isTested: true) == """
          The async counterpart of load(completion:) does the work itself

          It replaces the counterpart that `generate` wrote, which waits for the callback.
          Accepted changes of behaviour: --allow order,cancellation
          Built: the package with its tests.
          Tests: `swift test` passes before and after this commit.

          """
      )
      let other = ConversionStep(function: 0, title: "load(completion:)", counterpart: .new)
      #expect(
        ConversionStep.message(of: [other], isTested: false) == """
          load(completion:) gets an async counterpart

          Built: the package with its tests.
          Tests: not run.

          """
      )
    }

    // MARK: Trials

    /// Three steps, of which the last needs the first.
    private func trials(isKeepingAttributes: Bool = false) -> StepTrials {
      var text = StepwiseText("a b c")
      text.apply([edit(0..<1, "A", 0), edit(2..<3, "B", 1), edit(4..<5, "C", 2)])
      let attribute = "/*migrate-callbacks*/@available(*, renamed: \"x()\") "
      text.apply([(SourceEdit(0..<0, attribute), .attribute(function: 0))])
      var steps = (0..<3).map { ConversionStep(function: $0, title: "f\($0)", counterpart: .new) }
      steps[2].needed = [0]
      return StepTrials(["F": text, "G": StepwiseText("same")], steps, isKeepingAttributes: isKeepingAttributes)
    }

    @Test("each step is tried after the kept ones, and kept at once with the files that it changes")
    func keptSteps() throws {
      var trials = trials()
      var tried: [String] = []
      var kept: [[String: String]] = []
      let result = try trials.run { (texts, _) throws(MigrationError) in
        tried.append(texts["F"] ?? "")
        return nil
      } keep: { (texts, _) throws(MigrationError) in
        kept.append(texts)
      }
      #expect(tried == ["A b c", "A B c", "A B C"])
      #expect(kept == [["F": "A b c"], ["F": "A B c"], ["F": "A B C"]])
      #expect(result == ["F": "A B C"] && trials.left == [:])
    }

    @Test("a step that does not pass is left, and the steps that need it are not tried")
    func leftSteps() throws {
      var trials = trials()
      var tried: [Int] = []
      let result = try trials.run { (_, step) throws(MigrationError) in
        tried.append(step)
        return step == 0 ? .test("Tests.swift:8: no") : nil
      } keep: { (_, _) throws(MigrationError) in
      }
      #expect(tried == [0, 1])
      #expect(result == ["F": "a B c"])
      #expect(
        trials.left == [
          0: "with it, a test fails: Tests.swift:8: no", 2: "it needs the change of `f0`, which is left",
        ]
      )
    }

    @Test("a step that does not build with its attribute is kept without it")
    func attributes() throws {
      var trials = trials(isKeepingAttributes: true)
      let result = try trials.run { (texts, _) throws(MigrationError) in
        texts["F"]?.contains("@available") == true ? .build("a warning") : nil
      } keep: { (_, _) throws(MigrationError) in
      }
      #expect(result == ["F": "A B C"] && trials.left == [:] && trials.lacksAttributes)
      var other = self.trials(isKeepingAttributes: true)
      let named = try other.run { (_, _) throws(MigrationError) in
        nil
      } keep: { (_, _) throws(MigrationError) in
      }
      #expect(named == ["F": "@available(*, renamed: \"x()\")\nA B C"] && !other.lacksAttributes)
    }

    // MARK: Tests and commits

    @Test(
      "the first failure of the tests is found with its line",
      arguments: [
        (
          "✘ Test sum() recorded an issue at A.swift:8:3: Expectation failed: false\n✘ Test sum() failed after 1 s",
          "A.swift:8:3: Expectation failed: false"
        ),
        (
          "✘ Test sum(_:) recorded an issue with 1 argument value → 1 at A.swift:8:3: Expectation failed: 1",
          "A.swift:8:3: Expectation failed: 1"
        ),
        (
          "[1/2] Linking\n/p/Tests/A.swift:8: error: A.testSum : XCTAssertEqual failed\nerror: more",
          "/p/Tests/A.swift:8: error: A.testSum : XCTAssertEqual failed"
        ),
        ("App/Store.swift:8: Fatal error: no\nerror: Exited", "App/Store.swift:8: Fatal error: no"),
        ("noise\nerror: no tests found; create a target\nmore", "error: no tests found; create a target"),
        ("noise", "noise"), ("", "`swift test` fails without a word"),
      ]
    )
    func failingTests(output: String, failure: String) {
      #expect(PackageTests.failure(in: output) == failure)
    }

    @Test("a program that takes too long is interrupted")
    func limits() throws {
      #expect(try Shell.run(["tail", "-f", "/dev/null"], limit: 0.01).status == Shell.limitReached)
      #expect(try Shell.run(["true"], limit: 600).status == 0)
      #expect(try Shell.run(["false"], limit: 600).status == 1)
    }

    @Test("a commit has the changed files alone, and a refused commit leaves no change")
    func commits() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: folder) }
      let package = folder.appending(path: "package")
      let files = ["A.swift", "B.swift"].map { package.appending(path: $0) }
      for file in files { try PackageCopy.write(Data("old\n".utf8), to: file) }
      let writer = ConversionWriter(package: package, work: folder.appending(path: "work"), option: "--commit")
      func git(_ arguments: String...) throws -> String { try Shell.run(["git"] + arguments, in: package).output }
      let texts = [files[0].path: "new\n"]
      if try Shell.run(["git", "rev-parse"], in: package).status != 0 {
        let error = #expect(throws: MigrationError.self) { try writer.commit(texts, message: "x") }
        #expect(error?.description.contains("is in no git repository, so --commit could not be undone") == true)
      }
      _ = try git("init", "-q")
      _ = try git("config", "user.name", "a") + git("config", "user.email", "a@b")
      _ = try git("add", ".") + git("commit", "-qm", "first")
      try writer.commit(texts, message: "A is new\n\nBuilt.\n")
      let commit = try git("log", "-1", "--format=%B", "--name-only")
      #expect(commit.split(separator: "\n") == ["A is new", "Built.", "A.swift"])
      #expect(try git("status", "--porcelain") == "")
      // A hook refuses the next commit.
      let hook = package.appending(path: ".git/hooks/pre-commit")
      try PackageCopy.write(Data("#!/bin/sh\necho not today; exit 1\n".utf8), to: hook)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook.path)
      let error = #expect(throws: MigrationError.self) { try writer.commit([files[1].path: "new\n"], message: "B") }
      #expect(error?.description.hasSuffix("the commits before it stay.\nnot today\n") == true)
      #expect(try git("status", "--porcelain") == "" && String(contentsOf: files[1], encoding: .utf8) == "old\n")
      try PackageCopy.write(Data("mine\n".utf8), to: files[1])
      #expect(throws: MigrationError.self) { try writer.commit([files[0].path: "newer\n"], message: "A") }
      #expect(try String(contentsOf: files[0], encoding: .utf8) == "new\n")
    }

    // MARK: What is left

    @Test("a function that is left says why, and one whose work is in its counterpart is not left")
    func leftFunctions() throws {
      var function = try Package(1).functions[0]
      #expect(function.leftReason(waitingFor: nil, isWanted: false) == "`--only` does not name it")
      function.counterpart = .refused("it is odd")
      #expect(function.leftReason(waitingFor: nil, isWanted: true) == "it is odd")
      function.counterpart = .exists(file: "F.swift")
      #expect(function.leftReason(waitingFor: nil, isWanted: true)?.hasPrefix("its async counterpart waits") == true)
      var waiting: [Bool] = []
      for body in ["await withCheckedContinuation { c in f0 { c.resume(returning: $0) } }", "return await f0() + 1"] {
        let tokens = SourceTokens("func f0() async -> Int { \(body) }")
        waiting.append(function.isCalled(in: try #require(FunctionText(name: 1, in: tokens)), tokens))
      }
      #expect(waiting == [true, false])
      function.isCounterpartWaiting = true
      #expect(!function.hasAsyncWork)
      function.isCounterpartWaiting = false
      #expect(function.hasAsyncWork)
      function.isCounterpartGenerated = true
      #expect(!function.hasAsyncWork)
    }
  }
#endif
