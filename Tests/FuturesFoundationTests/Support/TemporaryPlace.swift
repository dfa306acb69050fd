import Foundation

/// A file in a new folder, with the longest name that the file system accepts; the object removes the folder at the end.
final class TemporaryPlace: Sendable {
  let url: URL

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("futures-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent(String(repeating: "n", count: 255))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The content of the file.
  var contents: Data? { try? Data(contentsOf: url) }

  /// The number of files in the folder.
  var count: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? -1 }

  private var folder: URL { url.deletingLastPathComponent() }
}
