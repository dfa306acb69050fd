internal import Foundation

// The tool runs wherever the package builds, and that is macOS 10.15. The compiler prefers these functions to those of Foundation,
// which have more parameters with defaults.

extension URL {
  /// As the initializer of Foundation, which needs macOS 13.
  init(filePath path: String) { self.init(fileURLWithPath: path, isDirectory: path.hasSuffix("/")) }

  /// As the function of Foundation, which needs macOS 13.
  func appending(path: String) -> URL { appendingPathComponent(path, isDirectory: path.hasSuffix("/")) }
}

extension FileHandle {
  /// Writes all bytes.
  ///
  /// Before macOS 10.15.4 an error ends the program.
  func writeAll(_ data: Data) throws {
    if #available(macOS 10.15.4, iOS 13.4, tvOS 13.4, watchOS 6.2, *) {
      try write(contentsOf: data)
    } else {
      write(data)
    }
  }

  /// Reads and drops all bytes.
  func waitForEnd() {
    if #available(macOS 10.15.4, iOS 13.4, tvOS 13.4, watchOS 6.2, *) {
      _ = try? readToEnd()
    } else {
      _ = readDataToEndOfFile()
    }
  }
}
