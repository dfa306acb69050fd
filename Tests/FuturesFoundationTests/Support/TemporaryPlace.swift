import Foundation

/// A file name in a new folder, which this object removes when it is released.
final class TemporaryPlace: Sendable {
  let url: URL

  init() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("futures-tests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    url = folder.appendingPathComponent("file")
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// The content of the file.
  var contents: Data? { try? Data(contentsOf: url) }

  /// The number of files in the folder.
  var count: Int { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).count) ?? -1 }

  private var folder: URL { url.deletingLastPathComponent() }
}
