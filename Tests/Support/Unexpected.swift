public import Testing

/// An expectation that the body of an exploration throws, so that the explorer sees it.
public struct Unexpected: Error, CustomStringConvertible {
  /// The difference from the expected result.
  public let description: String

  /// Makes an error with the given text.
  public init(description: String) { self.description = description }

  /// Throws an error with `description` unless `isTrue`.
  public static func unless(_ isTrue: Bool, _ description: @autoclosure () -> String) throws {
    guard isTrue else { throw Unexpected(description: description()) }
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips tests under the sanitizers, which replace the functions for the clock and the main queue that the explorer replaces,
  /// and which allocate memory for tasks, so that it cannot be measured.
  ///
  /// Tests of endless bodies are skipped too: the loops that they leave behind are leaks.
  public static var unlessSanitized: Self {
    #if ASAN || TSAN
      .disabled("A sanitizer is present.")
    #else
      .enabled(if: true)
    #endif
  }
}
