// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("Commits by owners")
  struct OwnerTests {
    @Test(
      "A pattern matches files as GitHub says",
      arguments: [
        ("*", "a/b.swift", true), ("*.js", "a/b.js", true), ("*.js", "b.jsx", false),
        ("/build/logs/", "build/logs/x", true),
        ("/build/logs/", "a/build/logs/x", false), ("docs/*", "docs/start.md", true),
        ("docs/*", "docs/app/x.md", false),
        ("docs/*", "a/docs/x.md", false), ("apps/", "a/apps/b/c", true), ("apps/", "a/apps", false),
        ("/docs/", "docs/a/b", true),
        ("**/logs", "deploy/logs/x", true), ("**/logs", "logs", true), ("/apps/github", "apps/github/x", true),
        ("/apps/github", "apps/githubs", false), ("a/**/b.swift", "a/b.swift", true),
        ("a/**/b.swift", "a/x/y/b.swift", true),
        ("Store?.swift", "App/Store1.swift", true), ("Store?.swift", "App/Store.swift", false),
        ("/App/S*e.swift", "App/Store.swift", true),
        ("My\\ App/", "My App/x", true), ("App/Store.swift", "x/App/Store.swift", false), ("!*.js", "a.js", false),
      ]
    )
    func patterns(pattern: String, path: String, isMatch: Bool) {
      #expect((CodeOwners("\(pattern) @a\n").owner(of: path) == "@a") == isMatch)
    }

    @Test("The last pattern that matches says the owners, and can say that there is none")
    func lastPatternWins() {
      let owners = CodeOwners("# All\n* @all\n\n/App/ @org/app me@here.org # the app\n/App/Free.swift\n")
      let paths = ["Other.swift", "App/Store.swift", "App/Free.swift"]
      #expect(paths.map(owners.owner) == ["@all", "@org/app, me@here.org", nil])
    }

    @Test("The file is found in the repository around the package")
    func file() throws {
      let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: root) }
      let package = root.appending(path: "inner/package")
      try FileManager.default.createDirectory(at: package, withIntermediateDirectories: true)
      _ = try Shell.run(["git", "init", "-q"], in: root)
      let error = #expect(throws: MigrationError.self) { try CodeOwners(of: package) }
      #expect(error?.description.hasPrefix("--commit-by owner needs a CODEOWNERS file") == true)
      for (folder, owner) in [("docs", "@docs"), ("", "@root"), (".github", "@github")] {
        let file = root.appending(path: folder).appending(path: "CODEOWNERS")
        try PackageCopy.write(Data("/inner/package/Store.swift \(owner)\n".utf8), to: file)
        let owners = try CodeOwners(of: package)
        #expect(owners.owner(of: "Store.swift") == owner && owners.owner(of: "Other.swift") == nil)
      }
    }

    private func steps(_ steps: (owner: String?, needed: Set<Int>)...) -> [ConversionStep] {
      steps.enumerated().map { index, step in
        var result = ConversionStep(function: index, title: "f\(index)", counterpart: .new)
        (result.owner, result.needed) = (step.owner, step.needed)
        return result
      }
    }

    @Test("An owner has one commit, after those that it needs")
    func batches() {
      #expect(OwnerBatches(steps(("b", []), ("a", []), ("b", []), (nil, [2]))).all == [[0, 2], [1], [3]])
      #expect(OwnerBatches(steps(("b", []), ("a", [0]), ("b", [0]))).all == [[0, 2], [1]])
      #expect(OwnerBatches([]).all == [])
    }

    @Test("An owner has more commits only where the order needs them")
    func splitBatches() {
      #expect(OwnerBatches(steps(("a", []), ("b", [0]), ("a", [1]))).all == [[0], [1], [2]])
      // The owner with the most steps that can come now is not the right one to begin with.
      let steps = steps(("b", []), ("b", []), ("a", []), ("b", [2]), ("a", [3]))
      #expect(OwnerBatches(steps).all == [[2], [0, 1, 3], [4]])
    }

    @Test("A step has the changes of one owner")
    func stepsOfOwners() throws {
      var package = try StepTests.Package(1)
      for _ in 0..<3 { package.call(0) }
      let owners = ["a", "b", "a"]
      let indices = owners.indices.map { index in
        package.add(package.change(call: index)) { $0 == "F.swift" ? owners[index] : "a" }
      }
      #expect(indices == [0, 1, 0])
      // The function is in another file, the one of "a".
      #expect(package.steps.all.map(\.isNaming) == [true, false])
      #expect(package.steps.all.map(\.owner) == ["a", "b"] && package.steps.all.map(\.calls.count) == [2, 1])
    }

    @Test("The steps of an owner are tried one by one, and kept together without those that do not pass")
    func trials() throws {
      var text = StepwiseText("a b c")
      for (index, letter) in ["A", "B", "C"].enumerated() {
        text.apply([(SourceEdit(2 * index..<2 * index + 1, letter), .step(index))])
      }
      let steps = steps(("x", []), ("y", []), ("x", []))
      var trials = StepTrials(["F": text], steps, isKeepingAttributes: false, batches: [[0, 2], [1]])
      var kept: [String] = []
      var tried: [String] = []
      _ = try trials.run { (texts, step) throws(MigrationError) in
        tried.append(texts["F"] ?? "")
        return step == 2 ? .build("no") : nil
      } keep: { (texts, steps) throws(MigrationError) in
        kept.append("\(texts["F"] ?? "") \(steps.map(\.title))")
      }
      #expect(tried == ["A b c", "A b C", "A B c"])
      #expect(kept == [#"A b c ["f0"]"#, #"A B c ["f1"]"#] && trials.left == [2: "it does not build: no"])
    }

    @Test("A step adds no attribute in the file of another owner")
    func attributes() throws {
      var text = StepwiseText("a")
      text.apply([(SourceEdit(0..<0, "/*migrate-callbacks*/@available(*) "), .attribute(function: 0))])
      text.apply([(SourceEdit(0..<0, "A"), .step(0))])
      for isNaming in [true, false] {
        var steps = steps(("x", []))
        steps[0].isNaming = isNaming
        var trials = StepTrials(["F": text], steps, isKeepingAttributes: true)
        let texts = try trials.run { (_, _) throws(MigrationError) in
          nil
        } keep: { (_, _) throws(MigrationError) in
        }
        #expect(texts["F"]?.contains("@available") == isNaming)
      }
    }

    @Test("The message of a commit names the owner, and lists the functions")
    func message() {
      var steps = steps(("@org/app", []), ("@org/app", []))
      steps[0].risks = [.callers]
      steps[1] = ConversionStep(function: 1, title: "load(completion:)", counterpart: .replacesGenerated)
      #expect(
        ConversionStep.message(of: steps, byOwner: true, isTested: false) == """
          Async counterparts and awaits in the code of @org/app

          - f0 gets an async counterpart
          - The async counterpart of load(completion:) does the work itself, and replaces the counterpart that `generate` wrote

          Accepted changes of behaviour: --allow callers
          Built: the package with its tests.
          Tests: not run.

          """
      )
      let message = ConversionStep.message(of: self.steps((nil, [])), byOwner: true, isTested: true)
      #expect(message.hasPrefix("Async counterparts and awaits in the code without an owner\n"))
    }
  }
#endif
