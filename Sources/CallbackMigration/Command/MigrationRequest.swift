public import Foundation

/// The plugin's description of a package.
public struct MigrationRequest: Decodable, Sendable {
  /// A target of the package.
  public struct Target: Decodable, Sendable {
    /// The name in Package.swift.
    public let name: String

    /// The name in source files.
    public let module: String

    /// Whether the target is neither an executable nor a target of tests.
    public let isLibrary: Bool

    /// Whether the target holds tests.
    public let isTest: Bool

    /// The paths of the source files.
    public let sources: [String]

    /// The modules that Package.swift names as dependencies of the target.
    public let dependencies: [String]

    /// The modules that the target depends on, directly or through others.
    public let allDependencies: [String]

    /// The folder of the symbol graphs, once the target is built.
    public var graphs: String?

    package init(
      name: String,
      module: String,
      isLibrary: Bool,
      isTest: Bool,
      sources: [String],
      dependencies: [String],
      allDependencies: [String],
      graphs: String?
    ) {
      self.name = name
      self.module = module
      self.isLibrary = isLibrary
      self.isTest = isTest
      self.sources = sources
      self.dependencies = dependencies
      self.allDependencies = allDependencies
      self.graphs = graphs
    }
  }

  /// The folder of the package.
  public let package: String

  /// The name by which Package.swift names the package of Futures; `nil` in that package itself.
  public let library: String?

  /// The targets with Swift code.
  public let targets: [Target]

  /// Reads the plugin's file.
  /// - Parameter file: The file.
  /// - Throws: An error if the file cannot be read.
  public init(file: URL) throws(MigrationError) {
    do {
      self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    } catch {
      throw MigrationError("\(file.path) is not what the plugin writes: \(error)")
    }
  }

  package init(package: String, library: String?, targets: [Target]) {
    self.package = package
    self.library = library
    self.targets = targets
  }

  /// The targets that the arguments ask for.
  func targets(for arguments: MigrationArguments) throws(MigrationError) -> [Target] {
    if let name = arguments.target {
      if let target = targets.first(where: { $0.name == name }) { return [target] }
      throw MigrationError("There is no target \(name); there are \(targets.map(\.name).joined(separator: ", ")).")
    }
    let libraries = targets.filter(\.isLibrary)
    if case .generate = arguments.command, libraries.count != 1 {
      throw MigrationError("There are \(libraries.count) targets; name one with --target.")
    }
    return libraries
  }

  /// The targets that can hold counterparts of the functions of `target`, because they import it.
  func clients(of target: Target) -> [Target] {
    targets.filter { !$0.isTest && $0.allDependencies.contains(target.module) }
  }

  /// The targets whose types the functions of `target` can name, because it imports them.
  func imports(of target: Target) -> [Target] { targets.filter { target.allDependencies.contains($0.module) } }

  /// The names of the targets of which the arguments need symbol graphs.
  /// - Parameter arguments: The parsed arguments.
  /// - Returns: The names. Clients come last.
  /// - Throws: An error if the package lacks a target or product that the arguments need.
  public func neededGraphs(for arguments: MigrationArguments) throws(MigrationError) -> [String] {
    let asked = try targets(for: arguments)
    if case .generate(let style, _, _, let isDeprecating) = arguments.command, !isDeprecating {
      for target in asked { try checkDependencies(of: target, style) }
    }
    let names = asked.map(\.name)
    let imports = Set(asked.flatMap(imports).map(\.name)).subtracting(names)
    let others = Set(asked.flatMap(clients).map(\.name)).subtracting(names).subtracting(imports)
    return names + imports.sorted() + others.sorted()
  }

  /// Throws if a target lacks the modules that a file of counterparts imports.
  private func checkDependencies(of target: Target, _ style: CounterpartStyle) throws(MigrationError) {
    let modules = style == .futures ? ["Futures"] : Target.library
    let missing = modules.filter { !target.dependencies.contains($0) }
    guard !missing.isEmpty else { return }
    let lines = missing.map { module in
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

extension MigrationRequest.Target {
  /// The modules of the library that counterparts import.
  fileprivate static let library = ["Futures", "FuturesAsync"]
}
