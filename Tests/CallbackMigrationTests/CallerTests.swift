// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import Foundation
  import Testing

  @testable import CallbackMigration

  @Suite("The calls of a package")
  struct CallerTests {
    private func function(_ title: String, _ counterpart: AwaitableFunction.Counterpart) throws -> AwaitableFunction {
      let graph = try symbolGraph(function: title)
      let inventory = Inventory(module: "M", graph, minimumAccess: .internal, root: URL(filePath: "/m"))
      let plan = CounterpartPlan(inventory, style: .async)
      let entry = try #require(plan.entries.first)
      var function = try #require(AwaitableFunction(entry, path: "/m/F.swift", SourceTokens("\n\n\n"), in: inventory))
      function.counterpart = counterpart
      return function
    }

    private func symbolGraph(function title: String, access: String = "public") throws -> SymbolGraph {
      let json = """
        {"symbols": [{
          "kind": {"identifier": "swift.func"}, "identifier": {"precise": "\(title)"}, "pathComponents": ["\(title)"],
          "accessLevel": "\(access)", "location": {"uri": "file:///m/F.swift", "position": {"line": 0, "character": 0}},
          "declarationFragments": [
            {"kind": "keyword", "spelling": "func"}, {"kind": "text", "spelling": " load(completion: @escaping () -> Void)"}
          ]
        }], "relationships": []}
        """
      return try JSONDecoder().decode(SymbolGraph.self, from: Data(json.utf8))
    }

    private func call(_ target: Int, _ kind: CallbackCall.Class, in owner: Int? = nil) -> CallbackCall {
      var call = CallbackCall(
        file: "F.swift",
        line: 1,
        function: "f",
        enclosing: "g",
        callClass: kind,
        place: kind,
        target: target
      )
      call.owner = owner
      if kind == .byHand { call.place = owner == nil ? .ready : .next }
      return call
    }

    @Test("a private function has a place and a counterpart beside it, if one function alone has its title")
    func privateFunctions() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "private-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appending(path: "F.swift")
      let source = """
        private func load(completion: @escaping () -> Void) {}
        extension Store.Cache where Key: Sendable {
          private static func read<T>(_ id: T, @Main completion: (Int) -> Void) where T: Sendable {
            func inner() {}
          }
          private func twice(_ id: Int) {}
          private func twice(_ id: String) {}
        }
        """
      try source.write(to: file, atomically: true, encoding: .utf8)
      let places = PrivateFunctions([file.path])
      #expect(places.place(of: "load(completion:)")?.position.character == 13)
      #expect(places.place(of: "Store.Cache.read(_:completion:)")?.position.line == 2)
      #expect(places.place(of: "Store.Cache.read(_:completion:)")?.path == file.path)
      #expect(places.place(of: "Store.Cache.twice(_:)") == nil)
      #expect(places.place(of: "Store.Cache.inner()") == nil)

      var graph = try symbolGraph(function: "load(completion:)", access: "private")
      graph.symbols[0].location = nil
      let inventory = Inventory(
        module: "M",
        graph,
        sources: [file.path],
        minimumAccess: .internal,
        root: folder
      )
      #expect(CounterpartPlan(inventory, style: .async).entries.isEmpty)
      let entry = try #require(CounterpartPlan(inPlaceFor: inventory).entries.first)
      let function = try #require(AwaitableFunction(entry, path: file.path, SourceTokens(source), in: inventory))
      #expect(function.counterpart == .writable)
      #expect(function.counterpartHead?.signature == "private func load() async throws")
    }

    @Test("the plan begins with leaves, and goes up level by level")
    func plan() throws {
      let functions = [
        try function("leaf", .exists(file: "F.swift")), try function("middle", .writable),
        try function("top", .writable),
        try function("stuck", .writable),
      ]
      let calls = [
        call(0, .ready), call(0, .next, in: 1), call(1, .next, in: 2), call(1, .ready), call(2, .ready),
        call(0, .byHand, in: 3),
        call(0, .edge),
      ]
      let plan = CallerPlan(calls, functions)
      #expect(plan.readyCount == 1)
      #expect(plan.steps == [.init(functions: [1], readyCount: 1), .init(functions: [2], readyCount: 1)])
      #expect(plan.stuck == [3])
    }

    @Test("a function whose calls go round is in no step")
    func cycle() throws {
      let functions = [try function("a", .writable), try function("b", .writable)]
      let plan = CallerPlan([call(1, .next, in: 0), call(0, .next, in: 1)], functions)
      #expect(plan.steps == [] && plan.stuck == [0, 1])
    }

    @Test("a function can implement a requirement of a protocol of the package, or of an unknown protocol")
    func conformances() {
      let text = """
        protocol Loader: Base { func refresh(_ id: Int) async }
        protocol Base { func reset() async }
        struct A<T: Hashable>: Loader, @unchecked Sendable where T: Other {}
        struct B {}
        extension Outer.B: Base, Foundation.Service {}
        struct C: Codable, ~Copyable, Error {}
        final class D: C, UITableViewDelegate {}
        class E: UIViewController {}
        extension Loader {}
        """
      let conformances = Conformances(of: [SourceTokens(text)])
      func name(_ title: String, _ type: String, isPrivate: Bool = false) -> String? {
        conformances.protocolRequiring(title, ofMemberOf: type, isPrivate: isPrivate)
      }
      #expect(name("refresh(_:)", "A") == "Loader")
      #expect(name("reset()", "A") == "Base")
      #expect(name("reset()", "Loader") == "Base")
      #expect(name("refresh(_:)", "Loader") == "Loader")
      #expect(name("other()", "A") == nil)
      #expect(name("other()", "B") == "Service")
      #expect(name("other()", "B", isPrivate: true) == nil)
      #expect(name("reset()", "B", isPrivate: true) == "Base")
      #expect(name("other()", "C") == nil)
      #expect(name("other()", "D") == "UITableViewDelegate")
      #expect(name("other()", "E") == nil)
      #expect(name("other()", "Unknown") == nil)
    }

    @Test("reasons that differ in names and lines are one group")
    func groups() {
      #expect(CallRefusalGroups.general("the `x` on line 12, and `y`") == "the `…` on line …, and `…`")
      var first = call(0, .byHand)
      first.refusals = [CallRefusal("the statement on line 3 ran", .order)]
      var second = call(0, .byHand)
      second.refusals = [CallRefusal("the statement on line 4 ran", .order)]
      let lines = CallRefusalGroups([first, second]).lines
      #expect(lines.first == "1. the statement on line … ran; --allow order" && lines.count == 3)
    }

    @Test("the arguments of callers and convert")
    func arguments() throws {
      let callers = try MigrationArguments(["callers", "--json", "--allow", "order,weak-self"])
      #expect(callers.command == .callers(isJSON: true) && callers.allowed == [.order, .weakSelf])
      #expect(callers.minimumAccess == .internal)
      var options = ConversionOptions()
      options.only = "Store.*"
      options.includesFunctions = true
      options.isApplying = true
      #expect(
        try MigrationArguments(["convert", "--only", "Store.*", "--functions", "--apply"]).command == .convert(options)
      )
      #expect(throws: MigrationError.self) { try MigrationArguments(["convert", "--apply", "--diff"]) }
      #expect(throws: MigrationError.self) { try MigrationArguments(["callers", "--allow", "everything"]) }
    }

    @Test("the header of a message of the server names its length")
    func header() {
      #expect(LanguageServerConnection.length(Data("Content-Type: x\r\ncontent-length: 12".utf8)) == 12)
      #expect(LanguageServerConnection.length(Data("Content-Type: x".utf8)) == nil)
    }

    @Test("the compiler's sentence is taken from an error of the server")
    func serverError() {
      let message = #"Unknown error: requestFailed("error response: /a.swift:3:1: error: cannot refactor it\n    x\n")"#
      #expect(LanguageServer.reason(message) == "cannot refactor it")
    }

    @Test("the copy's manifest names other packages by absolute paths, and its own targets as before")
    func manifest() {
      let text = """
        let p = Package(dependencies: [.package(path: "../lib"), .package(name: "B", path: "/b"), .package(url: "u", from: "1.0.0")],
          targets: [.target(name: "A", path: "Sources/A")])
        """
      let copied = PackageCopy.manifest(text, relativeTo: URL(filePath: "/work/app"))
      #expect(copied == text.replacing("\"../lib\"", with: "\"/work/lib\""))
    }

    @Test("the compiler's identifier of a declaration has its module")
    func moduleOfIdentifier() {
      for identifier in ["s:3App5StoreV4loadyyF", "s:Sa3AppE4pickyyF", "c:@M@App@objc(cs)Store(im)load"] {
        #expect(StoredIndex.isDeclared(identifier, by: "App"), "\(identifier)")
      }
      #expect(!StoredIndex.isDeclared("s:13AppFoundation5StoreV4loadyyF", by: "App"))
    }

    @Test("the compiler's errors are read with their places")
    func buildErrors() {
      let output =
        "[1/2] x\n/a/B.swift:12:3: error: no such thing\n  |  `- error: no such thing\n/a/B.swift:12:3: error: no such thing\nerror: fatalError"
      #expect(PackageCopy.errors(in: output) == [.init(path: "/a/B.swift", line: 12, message: "no such thing")])
    }
  }
#endif
