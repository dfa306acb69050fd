internal import Foundation

/// Runs other programs.
enum Shell {
  /// Runs a program, and waits for its end.
  /// - Parameters:
  ///   - arguments: The program and its arguments.
  ///   - folder: The folder in which it runs.
  ///   - showsErrors: Whether its standard error is that of the tool, and no part of the output.
  /// - Returns: Its status and its output.
  /// - Throws: An error if the program cannot be started.
  static func run(
    _ arguments: [String],
    in folder: URL? = nil,
    showsErrors: Bool = false
  ) throws(MigrationError) -> (status: Int32, output: String) {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    if !showsErrors { process.standardError = output }
    if let folder { process.currentDirectoryURL = folder }
    do {
      let data = try InterruptSignal.run(process) { output.fileHandleForReading.readDataToEndOfFile() }
      return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    } catch {
      throw MigrationError("\(arguments.first ?? "") cannot be started: \(error.localizedDescription)")
    }
  }

  /// Prints a line about the state of the work.
  static func progress(_ text: String) {
    let mark = PluginCall.current == nil ? "" : "progress: "
    FileHandle.standardError.write(Data("\(mark)\(text)\n".utf8))
  }
}
