package import Foundation

/// The plugin's description of a package.
package struct MigrationRequest: Decodable, Sendable {
  /// A target of the package.
  package struct Target: Decodable, Sendable {
    /// The name in Package.swift.
    let name: String

    /// The name in source files.
    let module: String

    /// Whether the target is neither an executable nor a target of tests.
    let isLibrary: Bool
    let isTest: Bool
    let sources: [String]

    /// The modules that Package.swift names as dependencies of the target.
    let dependencies: [String]

    /// The modules that the target depends on, directly or through others.
    let allDependencies: [String]

    /// The folder of the symbol graphs, once the target is built.
    let graphs: String?
  }

  /// The folder of the package.
  let package: String

  /// The name by which Package.swift names the package of Futures; `nil` in that package itself.
  let library: String?

  /// The targets with Swift code.
  let targets: [Target]

  /// The target that the arguments name, or else all libraries; then `generate` throws unless there is exactly one library.
  func targets(for arguments: MigrationArguments) throws(MigrationError) -> [Target] {
    if let name = arguments.target {
      if let target = targets.first(where: { $0.name == name }) { return [target] }
      throw MigrationError("There is no target \(name); there are \(targets.map(\.name).joined(separator: ", ")).")
    }
    let libraries = targets.filter(\.isLibrary)
    if case .generate = arguments.command, libraries.count != 1 {
      throw MigrationError("There are \(libraries.count) libraries; name a target with --target.")
    }
    return libraries
  }

  /// The targets that can import `target` and so hold counterparts of its functions; not tests, whose code no other target calls.
  func clients(of target: Target) -> [Target] {
    targets.filter { !$0.isTest && $0.allDependencies.contains(target.module) }
  }

  /// The targets whose types the functions of `target` can name, because it imports them.
  func imports(of target: Target) -> [Target] { targets.filter { target.allDependencies.contains($0.module) } }

  /// The targets whose symbol graphs the plugin has to build, each once: the migrated targets, their imports and clients.
  package func neededGraphs(for arguments: MigrationArguments) throws(MigrationError) -> [String] {
    let asked = try targets(for: arguments)
    // Throws here, before the plugin builds. Annotations of `--deprecate` do not import the library.
    if case .generate(let style, _, _, let isDeprecating) = arguments.command, !isDeprecating {
      for target in asked { try checkDependencies(of: target, style) }
    }
    let names = asked.map(\.name)
    let imports = Set(asked.flatMap(imports).map(\.name)).subtracting(names)
    let clients = Set(asked.flatMap(clients).map(\.name)).subtracting(names).subtracting(imports)
    return names + imports.sorted() + clients.sorted()
  }

  /// Throws if Package.swift does not give a target the modules of the library that its file of counterparts imports.
  private func checkDependencies(of target: Target, _ style: CounterpartStyle) throws(MigrationError) {
    let modules = style == .futures ? ["Futures"] : ["Futures", "FuturesAsync"]
    let missing = modules.filter { !target.dependencies.contains($0) }
    guard !missing.isEmpty else { return }
    let lines = missing.map { module in  // without `library`, the package is that of Futures itself
      library.map { "  .product(name: \"\(module)\", package: \"\($0)\")," } ?? "  \"\(module)\","
    }
    throw MigrationError(
      """
      \(target.name) does not depend on \(missing.joined(separator: " and ")), which counterparts import. \
      Add to its dependencies in Package.swift:
      \(lines.joined(separator: "\n"))
      """
    )
  }
}

extension MigrationRequest {
  package init(file: URL) throws(MigrationError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    } catch {
      throw MigrationError("\(file.path) is not what the plugin writes: \(error)")
    }
  }
}
