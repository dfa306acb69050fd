// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("Callback functions that call their async counterparts")
  struct TurnAroundTests {
    @Test("each shape gets the body that does the same, or stays with the reason", arguments: WrapperShape.all)
    func shapes(shape: WrapperShape) throws {
      #expect(try shape.decision() == shape.becomes)
    }

    @Test("`turn-around` takes the options of `convert` that it needs")
    func arguments() throws {
      var options = ConversionOptions()
      #expect(try MigrationArguments(["turn-around"]).command == .turnAround(options))
      options.only = "Store.*"
      options.isApplying = true
      let arguments = try MigrationArguments(["turn-around", "--only", "Store.*", "--apply", "--allow", "order"])
      #expect(arguments.command == .turnAround(options))
      #expect(arguments.allowed == [.order])
      #expect(arguments.minimumAccess == .internal)
      #expect(throws: MigrationError.self) { try MigrationArguments(["turn-around", "--functions"]) }
      #expect(throws: MigrationError.self) { try MigrationArguments(["turn-around", "--diff", "--apply"]) }
      #expect(throws: MigrationError.self) {
        try MigrationArguments(["turn-around", "--module", "App"], isPlugin: false)
      }
    }

    @Test(
      "the imports of the library go where a sorted list has them",
      arguments: [
        ("import Dispatch\nimport Store\n", "import Dispatch\nimport Futures\nimport FuturesAsync\nimport Store\n"),
        ("import Dispatch\n\nlet x = 1\n", "import Dispatch\nimport Futures\nimport FuturesAsync\n\nlet x = 1\n"),
        ("@preconcurrency\nimport Store\n", "import Futures\nimport FuturesAsync\n@preconcurrency\nimport Store\n"),
        ("import Futures\n", "import Futures\nimport FuturesAsync\n"),
        (
          "// Head\n\n/// A type.\nstruct S {}\n",
          "// Head\n\nimport Futures\nimport FuturesAsync\n\n/// A type.\nstruct S {}\n"
        ),
        (
          "#if os(Linux)\n  import Glibc\n#endif\nimport Zip\n",
          "#if os(Linux)\n  import Glibc\n#endif\nimport Futures\nimport FuturesAsync\nimport Zip\n"
        ),
      ]
    )
    func imports(old: String, new: String) throws {
      let source = SourceText(old)
      let edit = try #require(ImportEdit(sources: []).edit(of: source))
      #expect(source.applying([edit]) == new)
      #expect(ImportEdit(sources: []).edit(of: SourceText(new)) == nil)
    }

    @Test("the imports have the access that other files of the module write")
    func importAccess() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".swift")
      try "internal import Futures\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      let edit = ImportEdit(sources: [SourceFile(path: file.path)]).edit(of: SourceText("let x = 1\n"))
      #expect(edit?.text == "internal import Futures\nimport FuturesAsync\n\n")
    }
  }
#endif
