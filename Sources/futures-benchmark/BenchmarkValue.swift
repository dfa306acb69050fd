/// A kind of value that the rows are measured with.
///
/// The work of a row is the same for all of them: a value is made of an integer, handed on, and read as one.
protocol BenchmarkValue: Sendable {
  /// What it adds to the name of a row; nothing for `Int`.
  static var suffix: String { get }

  /// A value, without an allocation.
  ///
  /// It depends on the index for all types, so that a closure that makes one captures the index for all types.
  static func make(_ index: Int) -> Self

  var word: Int { get }
}

/// A value without references.
extension Int: BenchmarkValue {
  static var suffix: String { "" }

  static func make(_ index: Int) -> Int { index }

  var word: Int { self }
}

/// A value with one reference: always the same string, too long to be kept inside, so that each copy counts a reference.
extension String: BenchmarkValue {
  static var suffix: String { " String" }

  private static let shared = String(repeating: "a long string; ", count: 3)

  static func make(_ index: Int) -> String { index == .min ? "" : shared }

  var word: Int { utf8.count }
}

/// A value that is a reference: always the same object.
final class SharedObject: BenchmarkValue {
  static var suffix: String { " class" }

  private static let shared = SharedObject(word: 1)
  private static let other = SharedObject(word: 2)

  static func make(_ index: Int) -> SharedObject { index == .min ? other : shared }

  let word: Int

  /// Out of line: else the compiler makes objects that live in the program itself, and counts no references to them.
  @inline(never)
  private init(word: Int) { self.word = word }
}
