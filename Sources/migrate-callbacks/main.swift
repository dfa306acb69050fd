internal import CallbackMigration
internal import Foundation

do throws(MigrationError) {
  let outcome: MigrationRun.Outcome
  // The plugin runs the tool twice. The step `plan` names the targets whose symbol graphs the tool needs; the help needs none.
  if let call = PluginCall.current {
    let arguments = try MigrationArguments(call.arguments)
    let request = try MigrationRequest(file: call.request)
    if call.step == .plan, arguments.command != .help {
      print((["graphs"] + (try request.neededGraphs(for: arguments))).joined(separator: "\n"))
      exit(0)
    }
    outcome = try MigrationRun(arguments, request).run()
  } else {
    let words = Array(CommandLine.arguments.dropFirst())
    outcome = try MigrationRun.run(try MigrationArguments(words, isPlugin: false))
  }
  print(outcome.text, terminator: "")
  exit(outcome.status)
} catch {
  FileHandle.standardError.write(Data("error: \(error.description)\n".utf8))
  exit(2)
}
