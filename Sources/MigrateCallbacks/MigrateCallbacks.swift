import Foundation
import PackagePlugin

/// `swift package migrate-callbacks`: builds symbol graphs of the targets, and runs the tool on them.
@main
struct MigrateCallbacks: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = try context.tool(named: "migrate-callbacks").url
    var request = Request(context.package)
    let file = context.pluginWorkDirectoryURL.appending(path: "request.json")
    try request.write(to: file)
    // The tool reads the arguments first, so that the user sees a mistake before a build. After the line "graphs" it prints the
    // names of the targets whose symbol graphs it needs. All other output is for the user, such as the help.
    let plan = try run(tool, arguments: ["plan", file.path, "--"] + arguments, isRead: true)
    guard plan.hasPrefix("graphs\n") else {
      print(plan, terminator: "")
      return
    }
    for name in plan.split(separator: "\n").dropFirst().map(String.init) {
      Diagnostics.progress("Building \(name), and reading what it declares.")
      guard let target = context.package.targets.first(where: { $0.name == name }),
        let index = request.targets.firstIndex(where: { $0.name == name })
      else { continue }  // never: the tool has chosen the names from `request`
      guard let folder = symbolGraphs(of: target) else {
        FileHandle.standardError.write(Data("error: \(name) does not build, so nothing can be said of it.\n".utf8))
        exit(2)
      }
      request.targets[index].graphs = folder
    }
    try request.write(to: file)  // now with the folders
    try run(tool, arguments: ["run", file.path, "--"] + arguments)
  }

  /// Builds the symbol graphs of a target, and returns their folder; `nil` if the target does not build, or each level fails.
  ///
  /// The tool filters by access level itself. It reads private symbols, so that no counterpart names one. But at the
  /// level `private` the compiler crashes on some code that it otherwise compiles, so higher levels follow.
  private func symbolGraphs(of target: any Target) -> String? {
    let levels: [PackageManager.SymbolGraphOptions.AccessLevel] = [.private, .fileprivate, .internal]
    for level in levels {
      let options = PackageManager.SymbolGraphOptions(
        minimumAccessLevel: level,
        includeSynthesized: false,
        includeSPI: true,
        emitExtensionBlocks: false
      )
      if let graphs = try? packageManager.getSymbolGraph(for: target, options: options) {
        return graphs.directoryURL.path
      }
      // If the target does not build either, its code has errors, and a higher level cannot help.
      if (try? packageManager.build(.target(target.name), parameters: .init()))?.succeeded != true { return nil }
    }
    return nil
  }

  /// Runs the tool; a failure ends the plugin.
  ///
  /// Returns the tool's output if `isRead`. Otherwise the tool prints to the plugin's output, and the result is empty.
  @discardableResult
  private func run(_ tool: URL, arguments: [String], isRead: Bool = false) throws -> String {
    let output = Pipe()
    let process = Process()
    process.executableURL = tool
    process.arguments = arguments
    if isRead { process.standardOutput = output }
    try process.run()
    let data = isRead ? output.fileHandleForReading.readDataToEndOfFile() : Data()  // first, since a full pipe blocks
    process.waitUntilExit()
    if process.terminationStatus != 0 { exit(process.terminationStatus) }
    return String(decoding: data, as: UTF8.self)
  }
}

/// The description of the package for the tool, whose `MigrationRequest` explains each property.
private struct Request: Encodable {
  struct Target: Encodable {
    let name: String
    let module: String
    let isLibrary: Bool
    let isTest: Bool
    let sources: [String]
    let dependencies: [String]
    let allDependencies: [String]
    /// The folder of the target's symbol graphs, if the tool needs them.
    var graphs: String?
  }

  let package: String
  /// The identity of the dependency that has the library; `nil` if there is none.
  let library: String?
  var targets: [Target]

  init(_ package: Package) {
    self.package = package.directoryURL.path
    library =
      package.dependencies.first { dependency in
        dependency.package.products.contains { $0.name == "FuturesAsync" }
      }?.package.id
    targets = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }.sorted { $0.name < $1.name }.map { target in
      Target(
        name: target.name,
        module: target.moduleName,
        isLibrary: target.kind == .generic,
        isTest: target.kind == .test,
        sources: target.sourceFiles(withSuffix: "swift").map(\.url.path).sorted(),
        dependencies: target.dependencies.flatMap(\.modules),
        allDependencies: target.recursiveTargetDependencies.compactMap(\.sourceModule)
      )
    }
  }

  func write(to file: URL) throws { try JSONEncoder().encode(self).write(to: file) }
}

extension TargetDependency {
  /// The modules that the dependency makes importable.
  fileprivate var modules: [String] {
    switch self {
    case .target(let target): [target.sourceModule].compactMap(\.self)
    case .product(let product): product.targets.compactMap(\.sourceModule)
    @unknown default: []
    }
  }
}

extension Target {
  fileprivate var sourceModule: String? { (self as? any SourceModuleTarget)?.moduleName }
}
