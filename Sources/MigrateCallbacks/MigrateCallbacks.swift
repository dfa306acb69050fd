import Foundation
import PackagePlugin

/// `swift package migrate-callbacks`: has the compiler write down what targets declare, and the tool read that.
@main
struct MigrateCallbacks: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = try context.tool(named: "migrate-callbacks-tool").url
    // The tool reads the arguments first, so that a mistake in them needs no build.
    guard let plan = try Plan(tool, arguments) else { return }
    var graphs: [String] = []
    for target in try targets(of: context.package, named: plan.target) {
      Diagnostics.progress("Building \(target.name), and reading what it declares.")
      let options = PackageManager.SymbolGraphOptions(
        // The tool leaves out what is asked for; it needs to know what is private to keep counterparts from naming it.
        minimumAccessLevel: .private,
        includeSynthesized: false,
        includeSPI: true,
        emitExtensionBlocks: false
      )
      do {
        let graph = try packageManager.getSymbolGraph(for: target, options: options)
        graphs.append("\(target.moduleName)=\(graph.directoryURL.path)")
      } catch {
        fail("\(target.name) does not build, so nothing can be said of it.")
      }
    }
    let process = try Process.run(tool, arguments: [context.package.directoryURL.path] + graphs + ["--"] + arguments)
    process.waitUntilExit()
    if process.terminationStatus != 0 { exit(process.terminationStatus) }
  }

  private func targets(of package: Package, named name: String?) throws -> [SwiftSourceModuleTarget] {
    let all = package.targets.compactMap { $0 as? SwiftSourceModuleTarget }.sorted { $0.name < $1.name }
    guard let name else { return all.filter { $0.kind == .generic } }
    guard let target = all.first(where: { $0.name == name }) else {
      fail("There is no target \(name); there are \(all.map(\.name).joined(separator: ", ")).")
    }
    return [target]
  }
}

/// What the tool has read out of the arguments.
private struct Plan {
  let target: String?

  /// Asks the tool; `nil` if it has answered the user already.
  init?(_ tool: URL, _ arguments: [String]) throws {
    let output = Pipe()
    let process = Process()
    process.executableURL = tool
    process.arguments = ["plan", "--"] + arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { exit(process.terminationStatus) }
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.first == "plan" else {
      print(text, terminator: "")
      return nil
    }
    target = words.count > 1 ? words[1] : nil
  }
}

private func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("error: \(message)\n".utf8))
  exit(2)
}
