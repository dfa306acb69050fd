public import Foundation

/// One call of the tool.
public struct MigrationRun {
  private let arguments: MigrationArguments
  private let package: URL
  private let graphs: [(module: String, folder: URL)]

  /// Takes what is asked for, and what the compiler has written.
  /// - Parameters:
  ///   - arguments: The arguments.
  ///   - package: The folder of the package.
  ///   - graphs: The modules, and the folders with their symbol graphs.
  public init(_ arguments: MigrationArguments, package: URL, graphs: [(module: String, folder: URL)]) {
    self.arguments = arguments
    self.package = package
    self.graphs = graphs
  }

  /// Does it.
  /// - Returns: What is to be printed.
  /// - Throws: Why it could not be done.
  public func output() throws(MigrationError) -> String {
    switch arguments.command {
    case .help: return MigrationArguments.help
    case .report(let format):
      var inventories: [Inventory] = []
      for graph in graphs { inventories.append(try inventory(graph)) }
      return Report(inventories).text(as: format)
    case .generate(let style, let output, let only, let isDeprecating):
      guard let graph = graphs.first, graphs.count == 1 else {
        throw MigrationError("There are \(graphs.count) targets; name one with --target.")
      }
      let file = output.map { $0.hasPrefix("/") ? URL(filePath: $0) : package.appending(path: $0) }
      if isDeprecating {
        let diff = try DeprecationDiff(try inventory(graph), style: style, only: only).text()
        guard let file else { return diff }
        try write(DeprecationDiff.marker + "\n" + diff, to: file, over: DeprecationDiff.marker)
        return ""
      }
      let text = Generator(try inventory(graph, ignoring: file), style: style, only: only).text
      guard let file else { return text }
      try write(text, to: file)
      return ""
    }
  }

  private func inventory(
    _ graph: (module: String, folder: URL),
    ignoring output: URL? = nil
  ) throws(MigrationError) -> Inventory {
    try Inventory(
      module: graph.module,
      graphs: graph.folder,
      minimumAccess: arguments.minimumAccess,
      root: package,
      configuration: try MigrationConfiguration(package: package),
      ignoring: output
    )
  }

  private func write(_ text: String, to file: URL, over marker: String = Generator.marker) throws(MigrationError) {
    if let old = try? Data(contentsOf: file), !old.starts(with: Data(marker.utf8)) {
      throw MigrationError("\(file.path) was not written by this command, so it is left as it is.")
    }
    do {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file, options: .atomic)
    } catch {
      throw MigrationError("\(file.path) cannot be written: \(error.localizedDescription)")
    }
  }
}
