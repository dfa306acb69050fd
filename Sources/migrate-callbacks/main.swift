internal import CallbackMigration
internal import Foundation

// Called by the plugin with a request, a file: first `plan REQUEST -- ARGUMENTS`, which prints `graphs` and the names of the
// targets of which it needs symbol graphs; then `run REQUEST -- ARGUMENTS`.

do throws(MigrationError) {
  let words = Array(CommandLine.arguments.dropFirst())
  guard words.count >= 3, words[2] == "--" else {
    throw MigrationError("Run this as `swift package migrate-callbacks`.")
  }
  let arguments = try MigrationArguments(Array(words[3...]))
  let request = try MigrationRequest(file: URL(filePath: words[1]))
  if words[0] == "plan", arguments.command != .help {
    print((["graphs"] + (try request.neededGraphs(for: arguments))).joined(separator: "\n"))
  } else {
    Interruption.watchStandardInput()
    let work = URL(filePath: words[1]).deletingLastPathComponent()
    let outcome = try MigrationRun(arguments, request, work: work).run()
    print(outcome.text, terminator: "")
    exit(outcome.status)
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error.description)\n".utf8))
  exit(2)
}
