internal import CallbackMigration
internal import Foundation

// Called by the plugin. First `plan -- ARGUMENTS`, which says what the plugin has to ask the compiler for; then
// `PACKAGE MODULE=GRAPHS … -- ARGUMENTS`.

do throws(MigrationError) {
  let words = Array(CommandLine.arguments.dropFirst())
  guard let separator = words.firstIndex(of: "--"), let first = words.first, separator > 0 else {
    throw MigrationError("Run this as `swift package migrate-callbacks`.")
  }
  let arguments = try MigrationArguments(Array(words[(separator + 1)...]))
  if arguments.command == .help {
    print(MigrationArguments.help, terminator: "")
  } else if first == "plan" {
    print("plan", arguments.target ?? "")
  } else {
    let graphs = words[1..<separator].map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
    let run = MigrationRun(
      arguments,
      package: URL(filePath: first),
      graphs: graphs.map { ($0[0], URL(filePath: $0[1])) }
    )
    print(try run.output(), terminator: "")
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error.description)\n".utf8))
  exit(2)
}
