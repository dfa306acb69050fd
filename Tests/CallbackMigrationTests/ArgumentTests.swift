internal import CallbackMigration
internal import Foundation
internal import Testing

@Suite("Arguments, reports and files")
struct ArgumentTests {
  @Test("Each option takes a value after a space or an equals sign, and has a default")
  func everyOptionIsRead() throws {
    #expect(try MigrationArguments(["report"]).command == .report(.table))
    let report = try MigrationArguments(["report", "--target", "App", "--format=json", "--minimum-access=public"])
    #expect(report.command == .report(.json))
    #expect(report.target == "App")
    #expect(report.minimumAccess == .public)
    #expect(try MigrationArguments(["report"]).minimumAccess == .public)
    #expect(try MigrationArguments(["report", "--json"]).command == .report(.json))
    #expect(try MigrationArguments(["report", "--check", "B.json"]).command == .check(baseline: "B.json"))
    #expect(
      try MigrationArguments(["generate", "--beside"]).command
        == .generate(.both, to: .beside, only: nil, isDeprecating: false)
    )
    #expect(
      try MigrationArguments(["generate", "--style", "async", "--output", "F.swift", "--only", "a*", "--deprecate"])
        .command
        == .generate(.async, to: .file("F.swift"), only: "a*", isDeprecating: true)
    )
    var options = ConversionOptions()
    #expect(try MigrationArguments(["convert", "--diff"]).command == .convert(options))
    options.commits = .function
    options.isTesting = true
    #expect(try MigrationArguments(["convert", "--commit", "--test"]).command == .convert(options))
    options.commits = .owner
    #expect(try MigrationArguments(["convert", "--commit-by", "owner", "--test"]).command == .convert(options))
    for help in [[], ["help"], ["--help"], ["report", "--help"]] {
      #expect(try MigrationArguments(help).command == .help, "\(help)")
    }
  }

  @Test(
    "The error names the mistake in one sentence",
    arguments: [
      (["repot"], "There is no command repot; there are report, generate, callers, convert, turn-around and compare."),
      (["report", "--taget", "A"], "`report` has no option --taget; it has --target"),
      (["report", "--target"], "--target needs a value."),
      (["generate", "--output", "--only"], "--output needs a value."),
      (["report", "--json", "--format", "table"], "--json and --format table contradict each other."),
      (["generate", "--beside", "--output", "F.swift"], "--beside cannot be used with --output."),
      (["generate", "--beside", "--deprecate"], "--beside cannot be used with --deprecate."),
      (["convert", "--diff", "--commit"], "--diff and --commit contradict each other."),
      (["convert", "--commit", "--apply"], "--apply and --commit contradict each other."),
      (["convert", "--commit-by", "owner", "--apply"], "--apply and --commit-by contradict each other."),
      (["convert", "--commit-by", "file"], "--commit-by is one of function, owner, not file."),
      (["report", "--test"], "`report` has no option --test; it has "),
      (["report", "--format", "xml"], "--format is one of table, json, markdown, not xml."),
    ]
  )
  func mistakeIsNamed(arguments: [String], message: String) {
    let error = #expect(throws: MigrationError.self) { try MigrationArguments(arguments) }
    #expect(error?.description.hasPrefix(message) == true, "\(error?.description ?? "")")
  }

  @Test("The tool leaves a file of the user as it is, and replaces a file that it wrote")
  func onlyGeneratedFilesAreReplaced() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString, directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let graph = folder.appending(path: "App.symbols.json")
    try Data(#"{"symbols": [], "relationships": []}"#.utf8).write(to: graph)
    func run(_ arguments: String...) throws -> String {
      try MigrationRun(try MigrationArguments(arguments), request(folder, graphs: folder)).run().text
    }
    let own = folder.appending(path: "Own.swift")
    try Data("let mine = 1\n".utf8).write(to: own)
    #expect(throws: MigrationError.self) { try run("generate", "--output", "Own.swift") }
    #expect(try String(contentsOf: own, encoding: .utf8) == "let mine = 1\n")
    for round in 1...2 {
      #expect(try run("generate", "--output", "new/Counterparts.swift").isEmpty, "round \(round)")
      let text = try String(contentsOf: folder.appending(path: "new/Counterparts.swift"), encoding: .utf8)
      #expect(text.hasPrefix(Generator.marker + "\n"), "round \(round)")
    }
    #expect(try run("report") == "App: no function takes a callback\n")
    try Data("nonsense".utf8).write(to: graph)
    #expect(throws: MigrationError.self) { try run("report") }
  }
}
