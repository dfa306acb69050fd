package import Foundation

/// The formatter of the toolchain.
package enum SwiftFormat {
  /// Formats the text of a source file by the configuration that holds for its folder.
  ///
  /// Without formatted text, a new second line asks formatters to leave the file alone; the first stays the tool's marker.
  package static func formatted(_ text: String, for file: URL) -> String {
    if let formatted = run(text, file), !formatted.isEmpty { return formatted }
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return lines.prefix(1).joined() + "\n// swift-format-ignore-file\n" + lines.dropFirst().joined()
  }

  /// The output of the formatter; `nil` if the formatter is missing or fails.
  private static func run(_ text: String, _ file: URL) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "format", "format", "--assume-filename", file.path, "-"]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    signal(SIGPIPE, SIG_IGN)  // if the formatter is missing, writing to it fails, and must not end this process
    guard (try? process.run()) != nil else { return nil }
    // The formatter reads all of its input before it writes.
    try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try? input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }
}
