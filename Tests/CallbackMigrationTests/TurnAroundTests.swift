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

    private static let callback = "func load(completion: @escaping (Int?, (any Error)?) -> Void)"

    /// The reason why a function cannot call its counterpart; `nil` if it can.
    private func refusal(_ graph: GraphBuilder, sources: [String] = []) throws -> String? {
      let inventory = graph.inventory(sources: sources)
      let function = try #require(inventory.functions.first { $0.hasAsyncCounterpart })
      do throws(CallRefusal) {
        _ = try WrappedCounterpart(of: function, in: inventory)
        return nil
      } catch {
        return error.reason
      }
    }

    @Test("a function calls a counterpart of its own type, module and platforms, and no other")
    func ownCounterpart() throws {
      var graph = GraphBuilder()
      graph.type("class Base")
      graph.type("class Store", inherits: "Base")
      graph.function(Self.callback, of: "Store")
      var own = graph
      own.function("func load() async throws -> Int", of: "Store")
      #expect(try refusal(own) == nil)
      var other = graph
      other.function("func load() async throws -> Int", of: "Base")
      #expect(try refusal(other) == "its counterpart belongs to `Base`")
      var elsewhere = graph
      elsewhere.function("func load() async throws -> Int", of: "Store", file: "Sources/Client/Client.swift")
      let reason = try refusal(elsewhere, sources: ["/package/Sources/App/App.swift"])
      #expect(reason == "its counterpart is in another module, /package/Sources/Client/Client.swift")
      var newer = graph
      newer.function("func load() async throws -> Int", of: "Store", macOS: 12)
      #expect(try refusal(newer) == "its counterpart is there for other platforms or conditions")
    }

    @Test("a function calls a counterpart under the same `#if`, and no other", arguments: [true, false])
    func conditions(isSame: Bool) throws {
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".swift")
      let end = isSame ? "" : "#endif\n"
      try "\(end.isEmpty ? "" : "#if DEBUG\n")f\n\(end)g\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      var graph = GraphBuilder()
      graph.root = file.deletingLastPathComponent().path
      graph.type("class Store")
      graph.function(Self.callback, of: "Store", line: isSame ? 2 : 4, file: file.lastPathComponent)
      graph.function("func load() async throws -> Int", of: "Store", line: isSame ? 1 : 2, file: file.lastPathComponent)
      #expect(try refusal(graph) == (isSame ? nil : "its counterpart is there for other platforms or conditions"))
    }

    @Test("a requirement has no body, and nothing says where a function of a module of the main actor runs")
    func otherFunctions() throws {
      var graph = GraphBuilder()
      graph.type("protocol Store")
      graph.function(Self.callback, of: "Store", isRequirement: true)
      graph.function("func load() async throws -> Int", of: "Store", isRequirement: true)
      #expect(try refusal(graph) == "it is a requirement of a protocol, and has no body")
      var free = GraphBuilder()
      free.type("class Screen")
      free.function("@MainActor func show()", of: "Screen")
      free.function(Self.callback)
      free.function("func load() async throws -> Int")
      #expect(try refusal(free)?.hasPrefix("nothing here says whether it belongs to the main actor") == true)
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
      options.usesFutures = false
      let tasks = try MigrationArguments(["turn-around", "--only=Store.*", "--apply", "--style", "async"])
      #expect(tasks.command == .turnAround(options))
      #expect(throws: MigrationError.self) { try MigrationArguments(["turn-around", "--style", "both"]) }
      #expect(throws: MigrationError.self) { try MigrationArguments(["turn-around", "--functions"]) }
      #expect(throws: MigrationError.self) { try MigrationArguments(["turn-around", "--diff", "--apply"]) }
      #expect(throws: MigrationError.self) {
        try MigrationArguments(["turn-around", "--module", "App"], isPlugin: false)
      }
    }

    private let library = ["Futures", "FuturesAsync"]

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
      let edit = try #require(ImportEdit(sources: []).edit(of: source, for: library))
      #expect(source.applying([edit]) == new)
      #expect(ImportEdit(sources: []).edit(of: SourceText(new), for: library) == nil)
    }

    @Test(
      "a task needs Dispatch, which Foundation has, too",
      arguments: [("import Foundation\n", nil), ("import Leaves\n", "import Dispatch\n"), ("", "import Dispatch\n\n")]
    )
    func dispatch(file: String, added: String?) {
      #expect(ImportEdit(sources: []).edit(of: SourceText(file), for: ["Dispatch"])?.text == added)
      #expect(ImportEdit(sources: []).edit(of: SourceText(file), for: []) == nil)
    }

    @Test("the imports have the access that other files of the module write")
    func importAccess() throws {
      let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString + ".swift")
      try "internal import Futures\n".write(to: file, atomically: true, encoding: .utf8)
      defer { try? FileManager.default.removeItem(at: file) }
      let edit = ImportEdit(sources: [SourceFile(path: file.path)]).edit(of: SourceText("let x = 1\n"), for: library)
      #expect(edit?.text == "internal import Futures\nimport FuturesAsync\n\n")
    }
  }
#endif
