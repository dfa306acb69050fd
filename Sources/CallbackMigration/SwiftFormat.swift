public import Foundation

/// The formatter of the toolchain.
public enum SwiftFormat {
  /// Formats a source file by the configuration that holds for its folder.
  /// - Parameters:
  ///   - text: The source.
  ///   - file: The path of the file to write.
  /// - Returns: The text; without a formatter, with a line that asks formatters to leave the file alone.
  public static func formatted(_ text: String, for file: URL) -> String {
    if let formatted = run(text, file), !formatted.isEmpty { return formatted }
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    return lines.prefix(1).joined() + "\n// swift-format-ignore-file\n" + lines.dropFirst().joined()
  }

  /// Formats parts of a source file.
  ///
  /// A package without a configuration keeps the indentation of the file.
  /// - Parameters:
  ///   - text: The source.
  ///   - ranges: The UTF-8 offsets of the parts.
  ///   - file: The path of the file.
  ///   - root: The folder of the package.
  /// - Returns: The text; `nil` if the toolchain has no formatter.
  static func formatted(_ text: String, in ranges: [Range<Int>], for file: URL, root: URL) -> String? {
    var options = ranges.flatMap { ["--offsets", "\($0.lowerBound):\($0.upperBound)"] }
    if !hasConfiguration(file, root) {
      options += ["--configuration", #"{"version": 1, "lineLength": 120, "indentation": \#(indentation(of: text))}"#]
    }
    return run(text, file, options)
  }

  private static func hasConfiguration(_ file: URL, _ root: URL) -> Bool {
    var folder = file.deletingLastPathComponent().standardizedFileURL
    let levels = folder.pathComponents.count - root.standardizedFileURL.pathComponents.count
    // The file system's root has no parent, so the levels are counted.
    for _ in 0...max(levels, 0) {
      if FileManager.default.fileExists(atPath: folder.appending(path: ".swift-format").path) { return true }
      folder.deleteLastPathComponent()
    }
    return false
  }

  /// The indentation of a file: tabs, or the smallest number of spaces that begins many of its lines.
  static func indentation(of text: String) -> String {
    let lines = text.split(separator: "\n").filter { $0.first == " " || $0.first == "\t" }
    if lines.count(where: { $0.first == "\t" }) > lines.count / 2 { return #"{"tabs": 1}"# }
    let spaces = lines.map { $0.prefix { $0 == " " }.count }.filter { $0 > 1 }
    return #"{"spaces": \#(spaces.min() ?? 4)}"#
  }

  private static func run(_ text: String, _ file: URL, _ options: [String] = []) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["swift", "format", "format", "--assume-filename", file.path] + options + ["-"]
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return nil }
    // The formatter reads all of its input before it writes.
    input.fileHandleForWriting.write(Data(text.utf8))
    try? input.fileHandleForWriting.close()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return process.terminationStatus == 0 ? String(decoding: data, as: UTF8.self) : nil
  }
}
