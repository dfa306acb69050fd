internal import Foundation

/// A copy of a package or a project, which the tool builds and changes instead of the original.
///
/// The copy keeps its build between runs, so the next run builds only changed files.
struct PackageCopy {
  /// The origin of the compiler's index.
  enum Builder {
    case swiftPM

    /// A shell command, run in the copy.
    case command(String)

    /// The project's own build, which has written this folder. There is no copy.
    case done(index: URL)
  }

  /// The folder of the package.
  let original: URL

  /// The folder of the copy.
  let folder: URL

  /// The folder of the copy's build.
  let scratch: URL

  let builder: Builder
  private let lock: FolderLock?

  /// Makes or refreshes the copy.
  /// - Parameters:
  ///   - original: The folder of the package.
  ///   - work: The folder for the copy and its build.
  ///   - builder: The origin of the index. If the project's own build wrote the index, the copy is the project itself.
  /// - Throws: An error if files cannot be copied.
  init(of original: URL, in work: URL, builder: Builder = .swiftPM) throws(MigrationError) {
    self.original = original.standardizedFileURL
    self.builder = builder
    scratch = work.appending(path: "build").standardizedFileURL
    if case .done = builder {
      folder = self.original
      lock = nil
      return
    }
    folder = work.appending(path: "copy").standardizedFileURL
    do {
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
      lock = try FolderLock(work) { Shell.progress("Waiting for the end of another run of migrate-callbacks.") }
      try refresh()
    } catch let error as MigrationError {
      throw error
    } catch {
      throw MigrationError("\(original.path) cannot be copied to \(work.path): \(error.localizedDescription)")
    }
  }

  /// The Swift files of the copy.
  var swiftFiles: [String] {
    let paths = (try? Self.files(in: folder)) ?? []
    return paths.filter { $0.hasSuffix(".swift") }.sorted().map { folder.appending(path: $0).path }
  }

  /// The path in the copy of a file of the package.
  func copied(_ path: String) -> String { Self.moved(path, from: original.path, to: folder.path) }

  /// The path in the package of a file of the copy.
  func original(_ path: String) -> String { Self.moved(path, from: folder.path, to: original.path) }

  private static func moved(_ path: String, from old: String, to new: String) -> String {
    path.hasPrefix(old + "/") ? new + path.dropFirst(old.count) : path
  }

  // MARK: Files

  private func refresh() throws {
    let files = FileManager.default
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    let wanted = try Self.files(in: original)
    for path in try Self.files(in: folder).subtracting(wanted) {
      try files.removeItem(at: folder.appending(path: path))
    }
    for path in wanted {
      let source = original.appending(path: path)
      let target = folder.appending(path: path)
      if let link = try? files.destinationOfSymbolicLink(atPath: source.path) {
        if (try? files.destinationOfSymbolicLink(atPath: target.path)) == link { continue }
        try? files.removeItem(at: target)
        try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try files.createSymbolicLink(atPath: target.path, withDestinationPath: link)
        continue
      }
      var data = try Data(contentsOf: source)
      if target.lastPathComponent.hasPrefix("Package"), target.pathExtension == "swift" {
        let text = String(decoding: data, as: UTF8.self)
        data = Data(Self.manifest(text, relativeTo: source.deletingLastPathComponent()).utf8)
      }
      try Self.write(data, to: target)
    }
  }

  /// Writes a file if its content differs, so an unchanged file is not built again.
  static func write(_ data: Data, to file: URL) throws {
    if let old = try? Data(contentsOf: file), old == data { return }
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file, options: .atomic)
  }

  /// The files and symbolic links of a package, as paths relative to its folder.
  private static func files(in folder: URL) throws -> Set<String> {
    let keys: [URLResourceKey] = [.isDirectoryKey, .isSymbolicLinkKey]
    guard let found = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys) else { return [] }
    var paths: Set<String> = []
    let root = folder.standardizedFileURL.path + "/"
    for case let file as URL in found {
      let values = try file.resourceValues(forKeys: Set(keys))
      let isLink = values.isSymbolicLink == true
      if [".build", ".git", ".swiftpm", "DerivedData"].contains(file.lastPathComponent) {
        found.skipDescendants()
        continue
      }
      let path = file.standardizedFileURL.path
      if isLink || values.isDirectory != true, path.hasPrefix(root) { paths.insert(String(path.dropFirst(root.count))) }
    }
    return paths
  }

  /// A manifest in which the paths of other packages are absolute.
  static func manifest(_ text: String, relativeTo folder: URL) -> String {
    let tokens = SourceTokens(text)
    var edits: [SourceEdit] = []
    for index in tokens.items.indices where tokens[index] == "path" && tokens[index + 1] == ":" {
      guard let open = tokens.parent(index), tokens[open] == "(", tokens[open - 1] == "package",
        tokens[open - 2] == "."
      else { continue }
      let literal = tokens[index + 2]
      guard literal.hasPrefix("\""), literal.count > 2 else { continue }
      let path = String(literal.dropFirst().dropLast())
      guard !path.hasPrefix("/"), !path.hasPrefix("~") else { continue }
      let absolute = folder.appending(path: path).standardizedFileURL.path
      edits.append(SourceEdit(tokens.items[index + 2].range, "\"\(absolute)\""))
    }
    return tokens.source.applying(edits)
  }

  // MARK: Building

  /// An error of the compiler.
  struct BuildError: Equatable {
    let path: String

    /// The line of the error, counted from 1.
    let line: Int
    let message: String
  }

  /// The outcome of a build.
  enum Build {
    case succeeded

    /// The errors that the output shows; empty if it shows none.
    case failed([BuildError], output: String)
  }

  /// Builds the copy with its tests.
  /// - Parameter isStrict: Whether warnings are errors where the package says so.
  /// - Returns: The outcome.
  /// - Throws: An error if the build cannot be started.
  func build(isStrict: Bool) throws(MigrationError) -> Build {
    if case .done = builder { return .succeeded }
    if case .command(let command) = builder { return try build(command) }
    var arguments = ["swift", "build", "--build-tests", "--disable-sandbox", "--package-path", folder.path]
    arguments += ["--scratch-path", scratch.path]
    // The annotations in the copy make the compiler warn of the calls that are not converted yet.
    if !isStrict { arguments += ["-Xswiftc", "-no-warnings-as-errors"] }
    let (status, output) = try Shell.run(arguments)
    return status == 0 ? .succeeded : .failed(Self.errors(in: output), output: output)
  }

  private func build(_ command: String) throws(MigrationError) -> Build {
    do {
      try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    } catch {
      throw MigrationError("\(scratch.path) cannot be made: \(error.localizedDescription)")
    }
    let (status, output) = try Shell.run(["\(Self.buildVariable)=\(scratch.path)", "sh", "-c", command], in: folder)
    if status == 0 { return .succeeded }
    let paths = swiftFiles
    let errors = Self.errors(in: output).map { error in
      // The compiler repeats the paths of its arguments, which are relative to a folder that only the command knows.
      let found = paths.filter { $0.hasSuffix("/" + error.path) }
      return BuildError(path: found.count == 1 ? found[0] : error.path, line: error.line, message: error.message)
    }
    return .failed(errors, output: output)
  }

  /// The variable of the environment that names the folder for the results of a command's build.
  static let buildVariable = "MIGRATION_BUILD"

  /// The parts of the project that a build includes.
  var subject: String { if case .swiftPM = builder { "package with its tests" } else { "project" } }

  /// The index of a project without Package.swift; `nil` for a package.
  func index() throws(MigrationError) -> URL? {
    switch builder {
    case .swiftPM: return nil
    case .done(let index): return index
    case .command:
      let found = FileManager.default.enumerator(at: scratch, includingPropertiesForKeys: nil)
      while let file = found?.nextObject() as? URL {
        if FileManager.default.fileExists(atPath: file.appending(path: "v5/units").path) {
          return file.standardizedFileURL
        }
        // Xcode's index is in `Index.noindex/DataStore`.
        if (found?.level ?? 0) > 1 { found?.skipDescendants() }
      }
      throw MigrationError(
        """
        The command of --build has written no index into $\(Self.buildVariable). Let it compile with \
        `-index-store-path "$\(Self.buildVariable)/index"`, or run xcodebuild with `-derivedDataPath "$\(Self.buildVariable)"`.
        """
      )
    }
  }

  /// The first errors, or the end of the output.
  func text(of errors: [BuildError], _ output: String) -> String {
    let lines = errors.prefix(5).map { "\(original($0.path)):\($0.line): \($0.message)" }
    return lines.isEmpty ? String(output.suffix(2000)) : lines.joined(separator: "\n")
  }

  static func errors(in output: String) -> [BuildError] {
    var errors: [BuildError] = []
    for line in output.split(separator: "\n") {
      guard let mark = line.range(of: ": error: ") else { continue }
      let place = line[..<mark.lowerBound].split(separator: ":")
      guard place.count == 3, let number = Int(place[1]) else { continue }
      let error = BuildError(path: String(place[0]), line: number, message: String(line[mark.upperBound...]))
      if !errors.contains(error) { errors.append(error) }
    }
    return errors
  }
}

extension PackageCopy {
  /// Builds the copy, with warnings as errors if the package says so.
  /// - Parameter suspects: The changes to which an error points.
  /// - Returns: Whether the changes build.
  /// - Throws: An error if the build cannot be started.
  func trial<Change>(_ suspects: (BuildError) -> [Change]) throws(MigrationError) -> Bisection.Trial<Change> {
    switch try build(isStrict: true) {
    case .succeeded: return .passes
    case .failed(let errors, let output):
      return .fails(suspects: errors.flatMap(suspects), reason: "it does not build: \(Self.reason(errors, output))")
    }
  }

  /// The first error of a build, or the end of its output.
  static func reason(_ errors: [BuildError], _ output: String) -> String {
    errors.first?.message ?? String(output.suffix(200))
  }
}
