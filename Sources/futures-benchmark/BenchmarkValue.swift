/// A type of value for the rows.
///
/// Each row makes a value from an integer, passes it on, and reads an integer from it.
protocol BenchmarkValue: Sendable {
  /// The end of a row's name, for example " String"; empty for `Int`.
  static var suffix: String { get }

  /// Returns a value, without an allocation.
  ///
  /// Every type uses the index, so that the closures of all variants capture the same.
  static func make(_ index: Int) -> Self

  var word: Int { get }
}

/// A value without references.
extension Int: BenchmarkValue {
  static var suffix: String { "" }

  static func make(_ index: Int) -> Int { index }

  var word: Int { self }
}

/// A value with one reference: one shared string, too long for the inline form, so each copy counts a reference.
extension String: BenchmarkValue {
  static var suffix: String { " String" }

  private static let shared = String(repeating: "a long string; ", count: 3)

  static func make(_ index: Int) -> String { index == .min ? "" : shared }

  var word: Int { utf8.count }
}

/// A value that is a reference: one shared object.
final class SharedObject: BenchmarkValue {
  static var suffix: String { " class" }

  private static let shared = SharedObject(word: 1)
  private static let other = SharedObject(word: 2)

  static func make(_ index: Int) -> SharedObject { index == .min ? other : shared }

  let word: Int

  /// Out of line: otherwise the compiler makes static objects, and counts no references to them.
  @inline(never)
  private init(word: Int) { self.word = word }
}
