internal import Foundation

/// The index that the build of a project without Package.swift has written.
///
/// Has the declarations of the project, and all places that refer to them: an incomplete index is an error.
final class StoredIndex {
  private typealias Library = IndexStoreLibrary

  /// A place in a file: both numbers begin at 1, and the column counts UTF-8.
  private struct Place: Hashable {
    let path: String
    let line: Int
    let column: Int
  }

  /// A unit of the index: one compilation of a file.
  private struct Unit {
    let path: String
    let build: String
    let date: Date
    let records: [String]
  }

  /// The bits of a role, as the library defines them.
  private enum Role {
    static let declaration: UInt64 = 1 << 0 | 1 << 1
    static let reference: UInt64 = 1 << 2
    static let implicit: UInt64 = 1 << 8
    static let overriding: UInt64 = 1 << 11
  }

  private let store: String
  private let files: SourceFiles
  private let root: String

  /// The identifiers of the compiler by the places of their names.
  private var identifiers: [Place: Set<String>] = [:]
  private var declarations: [String: Set<Place>] = [:]
  private var references: [String: Set<Place>] = [:]

  /// The declarations that override or implement a declaration.
  private var overriding: [String: Set<String>] = [:]

  /// The places that refer to a declaration of the module that no file has, by the base name of the declaration.
  private var lost: [String: Place] = [:]

  /// Reads an index.
  /// - Parameters:
  ///   - store: The folder of the index.
  ///   - root: The folder of the project. Other files do not count.
  ///   - required: The files that the index must have.
  ///   - others: The other Swift files of the project.
  ///   - module: The module of the required files.
  ///   - files: The texts of files.
  /// - Throws: An error if the index is older than a file, or has no entry for a file.
  init(
    _ store: URL,
    root: URL,
    required: [String],
    others: [String],
    module: String,
    files: SourceFiles
  ) throws(MigrationError) {
    self.store = store.path
    self.files = files
    self.root = root.path + "/"
    let library = try Library()
    guard let reader = library.createStore(store.path, nil) else {
      throw MigrationError("There is no index of the compiler in \(store.path).")
    }
    defer { library.disposeStore(reader) }
    let units = Self.newest(Self.units(of: reader, library, in: self.root))
    let current = try current(units, required: required, others: others)
    let records = current.flatMap { unit in unit.records.map { (path: unit.path, name: $0) } }
    var declared: Set<String> = []
    for record in records { declared.formUnion(try Self.declared(in: record.name, reader, library)) }
    for record in records { try read(record.name, of: record.path, declared, module, reader, library) }
  }

  // MARK: Units

  private static func units(of store: Library.Object, _ library: Library, in root: String) -> [Unit] {
    library.unitNames(of: store).compactMap { name in
      guard let reader = library.createUnit(store, name, nil) else { return nil }
      defer { library.disposeUnit(reader) }
      let text = { (getter: Library.Getter) in Library.string(getter(reader)) }
      let file = text(library.mainFile)
      guard !library.isSystemUnit(reader), file.hasSuffix(".swift") else { return nil }
      let absolute = file.hasPrefix("/") ? file : text(library.workingFolder) + "/" + file
      let path = URL(filePath: absolute).standardizedFileURL.path
      guard path.hasPrefix(root) else { return nil }
      var seconds: Int64 = 0
      var nanoseconds: Int64 = 0
      guard !library.unitTime(store, name, &seconds, &nanoseconds, nil) else { return nil }
      var records: [String] = []
      Library.each({ library.dependencies(reader, $0, $1) }) { dependency in
        guard library.dependencyKind(dependency) == Library.record else { return }
        records.append(Library.string(library.dependencyName(dependency)))
      }
      return Unit(
        path: path,
        build: text(library.moduleName) + " " + text(library.target),
        date: Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9),
        records: records
      )
    }
  }

  /// The last unit of each file for each module and platform.
  ///
  /// A build with temporary object files leaves the units of earlier builds.
  private static func newest(_ units: [Unit]) -> [Unit] {
    Dictionary(grouping: units) { [$0.path, $0.build] }.values.compactMap { $0.max { $0.date < $1.date } }
  }

  /// The units that are not older than their files.
  private func current(_ units: [Unit], required: [String], others: [String]) throws(MigrationError) -> [Unit] {
    let units = Dictionary(grouping: units, by: \.path)
    var current: [Unit] = []
    let wanted = Set(required)
    for path in required + units.keys.filter({ !wanted.contains($0) }).sorted() {
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      // The file has been deleted after the build.
      guard let date = attributes?[.modificationDate] as? Date else { continue }
      guard let found = units[path] else {
        throw MigrationError(
          """
          The index in \(store) has no \(name(path)), so a list would lack the calls there. Build all files with \
          `-index-store-path \(store)`.
          """
        )
      }
      let fresh = found.filter { $0.date >= date }
      guard !fresh.isEmpty else {
        throw MigrationError(
          "\(name(path)) is newer than the index in \(store), so a list could lack calls. Build it again."
        )
      }
      current += fresh
    }
    let missing = others.filter { units[$0] == nil && !wanted.contains($0) }.map(name)
    if !missing.isEmpty {
      let more = missing.count > 5 ? ", and \(missing.count - 5) more" : ""
      Shell.progress(
        "note: The index has no calls of these files: \(missing.prefix(5).joined(separator: ", "))\(more)."
      )
    }
    return current
  }

  private func name(_ path: String) -> String { path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path }

  // MARK: Records

  private static func record<Result>(
    _ name: String,
    _ store: Library.Object,
    _ library: Library,
    _ body: (Library.Object) -> Result
  ) throws(MigrationError) -> Result {
    guard let record = library.createRecord(store, name, nil) else {
      throw MigrationError("The index lacks its record \(name). Delete the index, and build again.")
    }
    defer { library.disposeRecord(record) }
    return body(record)
  }

  private static func declared(
    in name: String,
    _ store: Library.Object,
    _ library: Library
  ) throws(MigrationError) -> Set<String> {
    try record(name, store, library) { record in
      var found: Set<String> = []
      Library.each({ library.symbols(record, true, $0, $1) }) { symbol in
        guard library.symbolRoles(symbol) & Role.declaration != 0 else { return }
        found.insert(Library.string(library.identifier(symbol)))
      }
      return found
    }
  }

  private func read(
    _ name: String,
    of path: String,
    _ declared: Set<String>,
    _ module: String,
    _ store: Library.Object,
    _ library: Library
  ) throws(MigrationError) {
    try Self.record(name, store, library) { record in
      Library.each({ library.occurrences(record, $0, $1) }) { occurrence in
        let symbol = library.symbol(occurrence)
        let identifier = Library.string(library.identifier(symbol))
        var line: UInt32 = 0
        var column: UInt32 = 0
        library.place(occurrence, &line, &column)
        let place = Place(path: path, line: Int(line), column: Int(column))
        guard declared.contains(identifier) else {
          let title = Library.string(library.symbolName(symbol))
          // No file has the members that the compiler makes for `RawRepresentable`, `Codable` and `Hashable`.
          let isMade = ["init(rawValue:)", "init(from:)", "encode(to:)", "hash(into:)"].contains(title)
          if !isMade, Self.isDeclared(identifier, by: module) { lost[String(title.prefix { $0 != "(" })] = place }
          return
        }
        let roles = library.roles(occurrence)
        if roles & Role.implicit == 0 { identifiers[place, default: []].insert(identifier) }
        if roles & Role.reference != 0 { references[identifier, default: []].insert(place) }
        guard roles & Role.declaration != 0 else { return }
        declarations[identifier, default: []].insert(place)
        Library.each({ library.relations(occurrence, $0, $1) }) { relation in
          guard library.relationRoles(relation) & Role.overriding != 0 else { return }
          let base = Library.string(library.identifier(library.relatedSymbol(relation)))
          overriding[base, default: []].insert(identifier)
        }
      }
    }
  }

  /// Whether an identifier of the compiler, such as `s:3App5StoreV4loadyyF`, is that of a declaration of a module.
  static func isDeclared(_ identifier: String, by module: String) -> Bool {
    if identifier.contains("@M@\(module)@") { return true }
    guard let found = identifier.range(of: "\(module.utf8.count)\(module)") else { return false }
    return identifier[..<found.lowerBound].last?.isNumber == false
  }

  // MARK: Answers

  /// Throws if the index does not have the declarations of functions where the symbol graphs say.
  func require(_ functions: [AwaitableFunction]) throws(MigrationError) {
    for function in functions {
      let source = files.tokens(function.path).source
      let place = place(function.path, source.position(of: function.offset))
      let base = String(function.name.prefix { $0 != "(" })
      if let place, declarations[function.identifier]?.contains(place) == true, lost[base] == nil { continue }
      let reason =
        lost[base].map { "at \(name($0.path)):\($0.line), it calls a `\(base)` that no file declares" }
        ?? "it has no \(function.title) at \(name(function.path)):\(source.line(of: function.offset) + 1)"
      throw MigrationError("The index in \(store) is not that of the sources: \(reason). Build again.")
    }
  }

  /// The references to the declaration whose name is at a place.
  func references(_ path: String, _ position: LanguageServerMessage.Position) -> [SourcePlace] {
    sourcePlaces(identifiers(path, position).flatMap { references[$0] ?? [] })
  }

  /// The declarations of the name at a place, and the declarations that override or implement these.
  func definitions(_ path: String, _ position: LanguageServerMessage.Position) -> [SourcePlace] {
    var found: Set<String> = []
    var open = Array(identifiers(path, position))
    while let next = open.popLast() {
      if found.insert(next).inserted { open += overriding[next] ?? [] }
    }
    return sourcePlaces(found.flatMap { declarations[$0] ?? [] })
  }

  private func identifiers(_ path: String, _ position: LanguageServerMessage.Position) -> Set<String> {
    place(path, position).flatMap { identifiers[$0] } ?? []
  }

  private func place(_ path: String, _ position: LanguageServerMessage.Position) -> Place? {
    let source = files.tokens(path).source
    return source.offset(of: position).map { offset in
      Place(path: path, line: position.line + 1, column: offset - source.start(ofLine: position.line) + 1)
    }
  }

  private func sourcePlaces(_ places: [Place]) -> [SourcePlace] {
    Set(places).map { place in
      let source = files.tokens(place.path).source
      return SourcePlace(
        path: place.path,
        position: source.position(of: source.start(ofLine: place.line - 1) + place.column - 1)
      )
    }.sorted { ($0.path, $0.position) < ($1.path, $1.position) }
  }
}
