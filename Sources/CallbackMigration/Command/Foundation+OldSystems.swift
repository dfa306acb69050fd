internal import Foundation

// The package builds for macOS 10.15, so the tool cannot use newer functions of Foundation. The compiler prefers these
// functions to Foundation's functions of the same name, which have more parameters with defaults.

extension URL {
  /// Does the same as Foundation's initializer, which needs macOS 13.
  init(filePath path: String) { self.init(fileURLWithPath: path, isDirectory: path.hasSuffix("/")) }

  /// Does the same as Foundation's function, which needs macOS 13.
  func appending(path: String) -> URL { appendingPathComponent(path, isDirectory: path.hasSuffix("/")) }
}
