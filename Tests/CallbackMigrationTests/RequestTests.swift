internal import CallbackMigration
internal import Foundation
internal import Testing

/// A package with a library, `App`, as the plugin describes it.
func request(
  _ folder: URL,
  graphs: URL? = nil,
  dependencies: [String] = ["Futures", "FuturesAsync"],
  others: [[String: Any]] = []
) throws -> MigrationRequest {
  let targets = [target("App", dependencies: dependencies, graphs: graphs)] + others
  let json: [String: Any] = ["package": folder.path, "library": "swift-futures", "targets": targets]
  return try JSONDecoder().decode(MigrationRequest.self, from: JSONSerialization.data(withJSONObject: json))
}

private func target(
  _ name: String,
  isLibrary: Bool = true,
  isTest: Bool = false,
  dependencies: [String] = [],
  graphs: URL? = nil
) -> [String: Any] {
  let target: [String: Any?] = [
    "name": name, "module": name, "isLibrary": isLibrary, "isTest": isTest, "sources": [String](),
    "dependencies": dependencies, "allDependencies": dependencies, "graphs": graphs?.path,
  ]
  return target.compactMapValues(\.self)
}

@Suite("What the plugin says of a package")
struct RequestTests {
  private let folder = URL(filePath: "/package")

  private func needed(_ request: MigrationRequest, _ arguments: String...) throws -> [String] {
    try request.neededGraphs(for: MigrationArguments(arguments))
  }

  @Test("A target that lacks the library gets the lines for Package.swift, before anything is built")
  func missingDependencyIsSaid() throws {
    let lacking = try request(folder, dependencies: ["Futures"])
    let error = #expect(throws: MigrationError.self) { try needed(lacking, "generate") }
    #expect(
      error?.description == """
        App does not depend on FuturesAsync, which counterparts import. Add to its dependencies in Package.swift:
          .product(name: "FuturesAsync", package: "swift-futures"),
        """
    )
    #expect(try needed(lacking, "generate", "--style", "futures") == ["App"])
    #expect(try needed(lacking, "generate", "--deprecate") == ["App"])
    #expect(try needed(lacking, "report") == ["App"])
  }

  @Test("The targets that import a target are read, too, since they can hold its counterparts")
  func clientsAreRead() throws {
    let others = [
      target("Bridges", dependencies: ["App"]),
      target("Tool", isLibrary: false, dependencies: ["App"]),
      target("AppTests", isLibrary: false, isTest: true, dependencies: ["App"]),
      target("Alone"),
    ]
    let package = try request(folder, others: others)
    #expect(try needed(package, "report", "--target", "App") == ["App", "Bridges", "Tool"])
    #expect(try needed(package, "report", "--target", "Alone") == ["Alone"])
    #expect(try needed(package, "report") == ["App", "Bridges", "Alone", "Tool"])
  }

  @Test("A target is named where there are several, or the name is wrong")
  func targetIsNamed() throws {
    let package = try request(folder, others: [target("Other")])
    let several = #expect(throws: MigrationError.self) { try needed(package, "generate") }
    #expect(several?.description == "There are 2 libraries; name a target with --target.")
    let wrong = #expect(throws: MigrationError.self) { try needed(package, "report", "--target", "Ap") }
    #expect(wrong?.description == "There is no target Ap; there are App, Other.")
  }
}
