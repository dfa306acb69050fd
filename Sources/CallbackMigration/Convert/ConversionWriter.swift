internal import Foundation

/// Shows the result of a conversion as a diff, or writes it.
struct ConversionWriter {
  let package: URL
  let work: URL

  /// The option that asks for changes, such as `--apply`.
  var option = "--apply"

  /// Throws if the package has changes that are not committed, or if git does not know it.
  func requireCleanState() throws(MigrationError) {
    let (status, output) = try Shell.run(["git", "status", "--porcelain", "--", "."], in: package)
    guard status == 0 else {
      throw MigrationError(
        "\(package.path) is in no git repository, so \(option) could not be undone. Print a diff without it."
      )
    }
    guard output.allSatisfy(\.isWhitespace) else {
      throw MigrationError(
        "The package has changes that are not committed. Commit them, so that \(option) can be undone."
      )
    }
  }

  /// The diff for `git apply`.
  func diff(_ texts: [String: String]) throws(MigrationError) -> String {
    let folder = work.appending(path: "diff")
    do {
      try? FileManager.default.removeItem(at: folder)
      for (path, text) in texts {
        let relative = relativePath(path)
        try PackageCopy.write(Data(contentsOf: URL(filePath: path)), to: folder.appending(path: "a/\(relative)"))
        try PackageCopy.write(Data(text.utf8), to: folder.appending(path: "b/\(relative)"))
      }
    } catch {
      throw MigrationError("The diff cannot be made: \(error.localizedDescription)")
    }
    guard !texts.isEmpty else { return "" }
    return try Shell.run(["git", "diff", "--no-index", "--no-prefix", "--no-color", "a", "b"], in: folder).output
  }

  /// Replaces the files, each in one atomic step.
  ///
  /// An interrupt ends the tool before the first file or after the last, so that a package is never half converted.
  func write(_ texts: [String: String]) throws(MigrationError) {
    // The files could have changed while the copy was built.
    try requireCleanState()
    try InterruptSignal.prevented { () throws(MigrationError) in try replace(texts) }
  }

  /// Replaces the files, and commits them and nothing else.
  ///
  /// An interrupt ends the tool before the first file or after the commit. If git refuses the commit, the files get
  /// their old texts back.
  func commit(_ texts: [String: String], message: String) throws(MigrationError) {
    try requireCleanState()
    try InterruptSignal.prevented { () throws(MigrationError) in
      let paths = texts.keys.sorted()
      let old = paths.map { ($0, (try? String(contentsOfFile: $0, encoding: .utf8)) ?? "") }
      try replace(texts)
      let git = ["git", "--literal-pathspecs", "commit", "--quiet", "--message", message, "--"]
      let (status, output) = try Shell.run(git + paths.map(relativePath), in: package)
      if status == 0 { return }
      try replace(Dictionary(uniqueKeysWithValues: old))
      throw MigrationError("git refuses a commit, so its changes are undone; the commits before it stay.\n\(output)")
    }
  }

  private func replace(_ texts: [String: String]) throws(MigrationError) {
    for (path, text) in texts.sorted(by: { $0.key < $1.key }) {
      do {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
      } catch {
        throw MigrationError("\(path) cannot be written: \(error.localizedDescription). Undo with `git restore .`.")
      }
    }
  }

  /// The path of a file, relative to the package.
  func relativePath(_ path: String) -> String {
    let root = package.standardizedFileURL.path + "/"
    return path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
  }
}
