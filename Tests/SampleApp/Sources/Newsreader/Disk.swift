import Foundation

/// Files, by functions that block.
protocol Disk: Sendable {
  func read(_ name: String) throws -> Data
  func append(_ data: Data, to name: String) throws
  func rename(_ name: String, to newName: String) throws
  /// Nothing happens if there is no such file.
  func remove(_ name: String)
}

struct FileDisk: Disk {
  let folder: URL

  func read(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

  func append(_ data: Data, to name: String) throws {
    let file = folder.appending(path: name)
    guard let handle = try? FileHandle(forWritingTo: file) else { return try data.write(to: file) }
    defer { try? handle.close() }
    try handle.seekToEnd()
    try handle.write(contentsOf: data)
  }

  func rename(_ name: String, to newName: String) throws {
    try FileManager.default.moveItem(at: folder.appending(path: name), to: folder.appending(path: newName))
  }

  func remove(_ name: String) { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
}
