internal import Foundation

/// A module of a project without Package.swift, such as an app in Xcode, whose own build wrote symbol graphs.
struct ModuleProject: Equatable, Sendable {
  private let name: String
  private let sources: URL
  private let symbolGraphs: URL

  static let options = ["--module", "--sources", "--symbol-graphs"]

  init(_ values: [String: String]) throws(MigrationError) {
    guard let name = values["--module"], let sources = values["--sources"],
      let symbolGraphs = values["--symbol-graphs"]
    else {
      throw MigrationError(
        """
        --module, --sources and --symbol-graphs name a module, the folder of its sources and the folder of its symbol \
        graphs. In a package, run `swift package migrate-callbacks`.
        """
      )
    }
    self.name = name
    self.sources = URL(filePath: sources).standardizedFileURL
    self.symbolGraphs = URL(filePath: symbolGraphs).standardizedFileURL
  }

  /// Describes the project as a package in the current folder, with this module as its library.
  /// - Throws: An error if the graphs are not those of the sources.
  func request() throws(MigrationError) -> MigrationRequest {
    let paths = swiftFiles
    guard !paths.isEmpty else { throw MigrationError("There is no Swift file in \(sources.path).") }
    let graph = try graph()
    let compiled = Set(graph.symbols.compactMap { $0.location?.path })
    // A graph without places, such as that of a module without declarations, proves nothing.
    guard compiled.isEmpty || !compiled.isDisjoint(with: paths) else {
      throw MigrationError(
        """
        The symbol graphs of \(name) are those of other files, such as \(compiled.min() ?? ""), and not of \(sources.path).
        """
      )
    }
    try requireCurrent(graph)
    // Only the build of the project shows whether a module can import Futures, so this assumes that each can.
    let imports = ["Futures", "FuturesAsync"]
    let clients = clients.map { target($0, sources: [], dependencies: [name] + imports) }  // only their graphs are read
    return MigrationRequest(
      package: FileManager.default.currentDirectoryPath,
      library: nil,  // Only `neededGraphs` uses this name, and only the plugin calls that.
      targets: [target(name, isLibrary: true, sources: paths, dependencies: imports)] + clients
    )
  }

  /// Throws if a source file does not have a function where the graph says.
  private func requireCurrent(_ graph: SymbolGraph) throws(MigrationError) {
    var files: [String: SourceFile] = [:]
    for symbol in graph.symbols
    where ["swift.func", "swift.method", "swift.type.method"].contains(symbol.kind.identifier) {
      // The function of a macro stands in no file.
      guard let location = symbol.location, let path = location.path, !path.contains("@__swiftmacro_") else { continue }
      let file = files[path] ?? SourceFile(path: path)
      files[path] = file
      // `generate` replaces its own file without a build, so that file can be newer than the graph.
      if file.lines.first == Generator.marker { continue }
      let index = location.position.line
      let name = symbol.pathComponents.last?.prefix { $0 != "(" } ?? ""
      if file.lines.indices.contains(index), file.lines[index].contains(name) { continue }
      throw MigrationError(
        """
        \(path):\(location.line) does not declare \(symbol.title): the symbol graphs in \
        \(symbolGraphs.path) are older than the sources. Delete them, and build \(self.name) again.
        """
      )
    }
  }

  private func target(
    _ name: String,
    isLibrary: Bool = false,
    sources: [String],
    dependencies: [String]
  ) -> MigrationRequest.Target {
    MigrationRequest.Target(
      name: name,
      module: name,
      isLibrary: isLibrary,
      isTest: false,
      sources: sources,
      dependencies: dependencies,
      allDependencies: dependencies,  // no others are known
      graphs: symbolGraphs.path
    )
  }

  private var swiftFiles: [String] {
    let found = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)
    let files = (found?.allObjects ?? []).compactMap { $0 as? URL }
    return files.filter { $0.pathExtension == "swift" }.map(\.standardizedFileURL.path).sorted()
  }

  /// Reads the graph of the module; without one, the error says which options make it.
  private func graph() throws(MigrationError) -> SymbolGraph {
    do throws(MigrationError) {
      return try SymbolGraph.read(module: name, in: symbolGraphs)
    } catch {
      let options = SymbolGraph.compilerOptions(folder: symbolGraphs.path).joined(separator: " ")
      throw MigrationError("\(error.description) Build \(name) with these options of the compiler:\n  \(options)")
    }
  }

  /// The modules that extend this module, and so can hold counterparts: each has a graph `Client@Module.symbols.json`.
  private var clients: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: symbolGraphs.path)) ?? []
    let ending = "@\(name).symbols.json"
    return files.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) }.sorted()
  }
}

extension SymbolGraph {
  /// The options with which the compiler writes the symbol graphs that the tool reads.
  ///
  /// The tool filters by access level itself. It reads private symbols and SPI, too, to refuse counterparts that need them.
  /// Without synthesized members and extension blocks, the graph has a function of an extension once, as a member of its type.
  package static func compilerOptions(folder: String) -> [String] {
    [
      "-emit-symbol-graph", "-emit-symbol-graph-dir", folder, "-symbol-graph-minimum-access-level", "private",
      "-symbol-graph-skip-synthesized-members", "-include-spi-symbols", "-omit-extension-block-symbols",
    ]
  }
}
