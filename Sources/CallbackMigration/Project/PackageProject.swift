package import Foundation

/// A package that the executable describes and builds with SwiftPM, as the plugin does.
struct PackageProject {
  private let folder: URL

  /// The folder for builds.
  var work: URL { folder.appending(path: ".build/migrate-callbacks") }

  /// The scratch folder of the build that writes the symbol graphs.
  private var scratch: URL { work.appending(path: "symbol-graph-build") }
  private var graphs: URL { work.appending(path: "symbol-graphs") }

  /// - Parameter folder: The folder of the package.
  /// - Throws: An error if the folder has no package.
  init(folder: String) throws(MigrationError) {
    self.folder = URL(filePath: folder).standardizedFileURL
    guard FileManager.default.fileExists(atPath: self.folder.appending(path: "Package.swift").path) else {
      throw MigrationError(
        "There is no Package.swift in \(self.folder.path). Name a package with --package-path, or a module with --module."
      )
    }
  }

  /// Describes the package, and builds the symbol graphs that the arguments need.
  func request(for arguments: MigrationArguments) throws(MigrationError) -> MigrationRequest {
    let (status, output) = try Shell.run(swift("package") + ["describe", "--type", "json"], showsErrors: true)
    guard status == 0 else { throw MigrationError("SwiftPM cannot read the package in \(folder.path).") }
    let request = try PackageDescription(json: Data(output.utf8)).request(folder: folder)
    let names = try request.neededGraphs(for: arguments)
    for name in names { try build(request.targets.filter { $0.name == name }) }
    return request.withGraphs(graphs.path, of: names)
  }

  private func build(_ targets: [MigrationRequest.Target]) throws(MigrationError) {
    for target in targets {
      Shell.progress("Building \(target.name), and reading what it declares.")
      removeOutput(of: target.module)
      var arguments = swift("build") + ["--target", target.name]
      for option in SymbolGraph.compilerOptions(folder: graphs.path) { arguments += ["-Xswiftc", option] }
      let (status, output) = try Shell.run(arguments)
      if status == 0 { continue }
      let errors = PackageCopy.errors(in: output).map { "\($0.path):\($0.line): error: \($0.message)" }
      throw MigrationError(
        """
        \(target.name) does not build, so nothing can be said of it.
        \(errors.isEmpty ? String(output.suffix(2000)) : errors.joined(separator: "\n"))
        """
      )
    }
  }

  /// Removes the symbol graphs of a module, and the file without which the compiler writes them again.
  ///
  /// The compiler does not delete an old graph of extensions if the module has no such extensions any more.
  private func removeOutput(of module: String) {
    let files = FileManager.default
    let found = try? files.contentsOfDirectory(at: graphs, includingPropertiesForKeys: nil)
    for file in found ?? [] where SymbolGraph.belongs(file, to: module) { try? files.removeItem(at: file) }
    try? files.removeItem(at: scratch.appending(path: "debug/Modules/\(module).swiftmodule"))
  }

  private func swift(_ command: String) -> [String] {
    ["swift", command, "--package-path", folder.path, "--scratch-path", scratch.path]
  }
}

/// The needed part of the output of `swift package describe --type json`.
package struct PackageDescription: Decodable {
  struct Dependency: Decodable {
    let identity: String
  }

  struct Target: Decodable {
    let name: String
    let c99name: String
    let type: String
    let moduleType: String
    let path: String
    let sources: [String]
    let targetDependencies: [String]?
    let productDependencies: [String]?
  }

  let dependencies: [Dependency]
  let targets: [Target]

  package init(json: Data) throws(MigrationError) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do {
      self = try decoder.decode(Self.self, from: json)
    } catch {
      throw MigrationError("This tool cannot read what `swift package describe` prints: \(error)")
    }
  }

  package func request(folder: URL) -> MigrationRequest {
    let isLibraryItself = targets.contains { $0.name == "FuturesAsync" }
    let identities = dependencies.map(\.identity)
    let library = identities.first { $0.hasSuffix("swift-futures") } ?? "swift-futures"
    return MigrationRequest(
      package: folder.path,
      library: isLibraryItself ? nil : library,
      targets: targets.filter { $0.moduleType == "SwiftTarget" }.sorted { $0.name < $1.name }.map { target in
        MigrationRequest.Target(
          name: target.name,
          module: target.c99name,
          isLibrary: target.type == "library",
          isTest: target.type == "test",
          sources: target.sources.map { folder.appending(path: target.path).appending(path: $0).path }.sorted(),
          dependencies: modules(of: target),
          allDependencies: allModules(of: target),
          graphs: nil
        )
      }
    )
  }

  /// The modules that a target can import.
  ///
  /// The description names products and not their modules. Each product of this library has the name of its module.
  private func modules(of target: Target) -> [String] {
    targetDependencies(of: target).map(\.c99name) + (target.productDependencies ?? [])
  }

  private func allModules(of target: Target) -> [String] {
    var found: [String: Target] = [:]
    var open = [target]
    while let next = open.popLast() {
      guard found.updateValue(next, forKey: next.name) == nil else { continue }
      open += targetDependencies(of: next)
    }
    return Set(found.values.flatMap(modules)).sorted()
  }

  private func targetDependencies(of target: Target) -> [Target] {
    (target.targetDependencies ?? []).compactMap { name in targets.first { $0.name == name } }
  }
}
