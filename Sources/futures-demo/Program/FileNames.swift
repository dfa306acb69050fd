import Foundation

/// Chooses a file for each URL.
///
/// No download overwrites an earlier file or another download.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct FileNames {
  private let folder: URL
  private var taken: Set<String> = []

  init(in folder: URL) {
    self.folder = folder
  }

  /// The file for `url`: the last part of its path, with a number if that name is taken.
  mutating func file(for url: URL) -> URL {
    let (stem, ending) = Self.nameParts(of: url)
    var name = stem + ending
    var number = 1
    while !isFree(name) {
      number += 1
      name = "\(stem)-\(number)\(ending)"
    }
    // Lowercased: some file systems ignore case.
    taken.insert(name.lowercased())
    taken.insert(name.lowercased() + ".part")
    return folder.appending(path: name)
  }

  /// Whether the name and the name of its partial file are free.
  private func isFree(_ name: String) -> Bool {
    [name, name + ".part"].allSatisfy { name in
      !taken.contains(name.lowercased())
        && !FileManager.default.fileExists(atPath: folder.appending(path: name).path(percentEncoded: false))
    }
  }

  /// The last part of the URL's path as a safe file name, split before its extension.
  private static func nameParts(of url: URL) -> (stem: String, ending: String) {
    let last = url.lastPathComponent
    guard !["", "/", ".", ".."].contains(last) else { return ("index", ".html") }
    let name = last.harmless.map { $0 == "/" || $0 == "\\" ? "_" : $0 }
    let dot = name.lastIndex(of: ".").flatMap { $0 > 0 && name.count - $0 < 16 ? $0 : nil } ?? name.count
    // Most file systems allow 255 bytes, including the number and the extensions.
    var stem = String(name[..<dot])
    while stem.utf8.count > 200 { stem.removeLast() }
    return (stem, String(name[dot...]))
  }
}
