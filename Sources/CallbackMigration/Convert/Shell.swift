internal import Dispatch
internal import Foundation

/// Runs other programs.
enum Shell {
  /// Runs a program, and waits for its end.
  /// - Parameters:
  ///   - arguments: The program and its arguments.
  ///   - folder: The folder in which it runs.
  ///   - showsErrors: Whether the program writes errors to the tool's standard error, and not into the output.
  ///   - limit: The seconds after which the program is ended; its status is then ``limitReached``.
  /// - Returns: The program's status and output.
  /// - Throws: An error if the program cannot be started.
  static func run(
    _ arguments: [String],
    in folder: URL? = nil,
    showsErrors: Bool = false,
    limit: Double? = nil
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
      let start = Date()
      let data = try InterruptSignal.run(process) {
        let program = process.processIdentifier
        let signals = [SIGINT, SIGKILL].map { signal in DispatchWorkItem { kill(program, signal) } }
        defer { for signal in signals { signal.cancel() } }
        if let limit {
          // `swift test` ends its programs after SIGINT. SIGKILL ends a program that ignores SIGINT.
          DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: signals[0])
          DispatchQueue.global().asyncAfter(deadline: .now() + limit + min(limit, 10), execute: signals[1])
        }
        return output.fileHandleForReading.readDataToEndOfFile()
      }
      let isLate = limit.map { Date().timeIntervalSince(start) >= $0 } == true && process.terminationStatus != 0
      return (isLate ? limitReached : process.terminationStatus, String(decoding: data, as: UTF8.self))
    } catch {
      throw MigrationError("\(arguments.first ?? "") cannot be started: \(error.localizedDescription)")
    }
  }

  /// The status of a program that took too long; `timeout` uses the same number.
  static let limitReached: Int32 = 124

  /// Prints a line about the state of the work.
  static func progress(_ text: String) {
    let mark = PluginCall.current == nil ? "" : "progress: "
    FileHandle.standardError.write(Data("\(mark)\(text)\n".utf8))
  }
}
