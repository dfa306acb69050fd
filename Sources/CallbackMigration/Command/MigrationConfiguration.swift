package import Foundation

/// A package's configuration, `.migrate-callbacks.json`: facts that neither the compiler nor the names show.
package struct MigrationConfiguration: Sendable {
  package static let fileName = ".migrate-callbacks.json"

  /// An entry that is a list of patterns.
  enum List: String, CaseIterable {
    /// The callback comes once, and its values stay valid afterwards.
    case once
    /// No counterpart is written.
    case skip
    /// A value that holds a failure is returned as it is, and not unwrapped.
    case whole
    /// The values can be `nil` although there is no error, so the counterpart returns optionals.
    case optional
    /// The future counterpart holds a value that is not `Sendable`.
    case transfer
    /// The names of types that conform to `Error`, which no symbol graph of the package shows.
    case errors
  }

  /// An entry that has a value for each pattern.
  enum Table: String, CaseIterable {
    /// The parameter that only names the queue of the callback.
    case queue
    /// How the returned handle cancels, such as `stop()`; `none` where callers of a counterpart do without it.
    case handle
    /// The base name of the counterpart, in which `*` stands for that of the function.
    case renames
    /// The function that converts any error to the callback's error type, such as `APIError.other`. Then an async
    /// counterpart throws that type.
    case failure
  }

  private var lists: [List: [String]] = [:]
  private var tables: [Table: [String: String]] = [:]

  package init() {}

  /// Reads the file in the folder of a package; without a file the configuration is empty.
  package init(package: URL) throws(MigrationError) {
    let file = package.appending(path: Self.fileName)
    guard FileManager.default.fileExists(atPath: file.path) else {
      self.init()
      return
    }
    guard let data = try? Data(contentsOf: file) else { throw MigrationError("\(Self.fileName) cannot be read.") }
    try self.init(json: data)
  }

  /// Reads the text of the file; an error names the first wrong key in the order of the keys.
  package init(json: Data) throws(MigrationError) {
    guard let object = try? JSONSerialization.jsonObject(with: json), let entries = object as? [String: Any] else {
      throw MigrationError("\(Self.fileName) is not a JSON object.")
    }
    for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
      if let list = List(rawValue: key) {
        guard let patterns = value as? [String] else {
          throw MigrationError("\(Self.fileName): \"\(key)\" needs a list of texts.")
        }
        lists[list] = patterns
      } else if let table = Table(rawValue: key) {
        guard let values = value as? [String: String] else {
          throw MigrationError("\(Self.fileName): \"\(key)\" needs an object with a text for each pattern.")
        }
        tables[table] = values
      } else {
        let keys = List.allCases.map(\.rawValue) + Table.allCases.map(\.rawValue)
        throw MigrationError(
          "\(Self.fileName) has no entry \"\(key)\"; it has \(keys.sorted().joined(separator: ", "))."
        )
      }
    }
  }

  var errors: Set<String> { Set(lists[.errors] ?? []) }

  /// The entries for one function.
  func knowledge(of title: String) -> FunctionKnowledge {
    var knowledge = FunctionKnowledge(title: title)
    for (list, patterns) in lists where patterns.contains(where: { TitlePattern(whole: $0).matches(title) }) {
      knowledge.lists.insert(list)
    }
    for (table, values) in tables {
      // The longest pattern is the most specific; of two with one length, the order of the alphabet decides.
      let patterns = values.keys.filter { TitlePattern(whole: $0).matches(title) }
      guard let pattern = patterns.max(by: { ($0.count, $0) < ($1.count, $1) }) else { continue }
      knowledge.values[table] = values[pattern]
    }
    return knowledge
  }
}

/// The configuration's entries for one function.
struct FunctionKnowledge {
  let title: String
  fileprivate(set) var lists: Set<MigrationConfiguration.List> = []
  fileprivate(set) var values: [MigrationConfiguration.Table: String] = [:]

  /// Whether a pattern of the list matches the function.
  func isListed(in list: MigrationConfiguration.List) -> Bool { lists.contains(list) }
}

/// A title in which `*` stands for any text.
struct TitlePattern {
  private let parts: [String]

  /// Makes a pattern for `--only`: with `*` it matches whole titles, otherwise parts of titles; `nil` matches all titles.
  init(part pattern: String?) {
    self.init(whole: pattern.map { $0.contains("*") ? $0 : "*\($0)*" } ?? "*")
  }

  init(whole pattern: String) {
    parts = pattern.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
  }

  func matches(_ title: String) -> Bool {
    // Without `*` there is one part, which is the whole title.
    guard let first = parts.first, let last = parts.last, parts.count > 1 else { return title == parts.first }
    guard title.hasPrefix(first) else { return false }
    var rest = title.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {  // `**` has an empty part
      guard let range = rest.range(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}
