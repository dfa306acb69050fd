/// The code that the executable works on.
public enum MigrationProject: Equatable, Sendable {
  /// The package in a folder.
  case package(folder: String)

  /// A module of a project without Package.swift, and the folder in which its build wrote symbol graphs.
  case module(name: String, sources: String, symbolGraphs: String, index: Index? = nil)

  /// The place from which the tool gets the compiler's index of a module.
  public enum Index: Equatable, Sendable {
    /// The folder in which the build of the project wrote the index.
    case store(String)

    /// A shell command that builds a copy of the project.
    case build(String)
  }

  /// The options that name a project.
  static let options = ["--package-path", "--module", "--sources", "--symbol-graphs", "--index-store", "--build"]

  /// Reads the options of a command.
  /// - Parameters:
  ///   - values: The values of all options.
  ///   - command: The name of the command.
  ///   - needsCalls: Whether the command works on calls.
  /// - Throws: A sentence that names the mistake.
  init(_ values: [String: String], of command: String, needsCalls: Bool) throws(MigrationError) {
    guard let name = values["--module"] else {
      for option in Self.options.dropFirst(2) where values[option] != nil {
        throw MigrationError("\(option) needs --module, the name of the module.")
      }
      self = .package(folder: values["--package-path"] ?? ".")
      return
    }
    for option in ["--package-path", "--target"] where values[option] != nil {
      throw MigrationError("\(option) and --module contradict each other.")
    }
    guard let sources = values["--sources"], let symbolGraphs = values["--symbol-graphs"] else {
      throw MigrationError(
        "--module needs --sources and --symbol-graphs, the folders of its sources and symbol graphs."
      )
    }
    let build = values["--build"].map(Index.build)
    let index = command == "callers" ? values["--index-store"].map(Index.store) ?? build : build
    if needsCalls, index == nil {
      let store = "Name the folder that its build has written with --index-store, or a shell command with --build. "
      throw MigrationError(
        """
        `\(command)` needs the compiler's index of \(name). \(command == "callers" ? store : "Name a shell command with --build. ")\
        The command builds the project in a copy of this folder, and writes all results, with the index, into \
        $\(PackageCopy.buildVariable).
        """
      )
    }
    self = .module(name: name, sources: sources, symbolGraphs: symbolGraphs, index: index)
  }
}

extension SymbolGraph {
  /// The options with which the compiler writes the symbol graphs that the tool reads.
  ///
  /// The tool filters by access level itself. It needs private symbols, so that counterparts do not name them.
  package static func compilerOptions(folder: String) -> [String] {
    [
      "-emit-symbol-graph", "-emit-symbol-graph-dir", folder, "-symbol-graph-minimum-access-level", "private",
      "-symbol-graph-skip-synthesized-members", "-include-spi-symbols", "-omit-extension-block-symbols",
    ]
  }
}

extension MigrationRun {
  /// Runs the tool without the plugin.
  /// - Parameter arguments: The arguments.
  /// - Returns: The outcome.
  /// - Throws: An error if the project cannot be read or built.
  public static func run(_ arguments: MigrationArguments) throws(MigrationError) -> Outcome {
    switch arguments.project {
    case nil: return Outcome(arguments.help)
    case .package(let folder):
      let package = try PackageProject(folder: folder)
      return try MigrationRun(arguments, try package.request(for: arguments), work: package.work).run()
    case .module(let name, let sources, let symbolGraphs, let index):
      let module = ModuleProject(name: name, sources: sources, symbolGraphs: symbolGraphs)
      let request = try module.request(needsCalls: arguments.command.needsCalls)
      let builder = index.map(module.builder) ?? .swiftPM
      return try MigrationRun(arguments, request, work: module.work, builder: builder).run()
    }
  }
}
