internal import Foundation

/// The methods that classes in the package's tests override, by the text of the tests.
///
/// `@testable import` lets a test override a method that is not open. The graph of the method's module does not show that.
struct TestOverrides {
  /// The titles without types, such as `load(id:completion:)`.
  private var titles: Set<String> = []

  /// - Parameter sources: The paths of the source files of tests.
  init(sources: [String]) {
    for path in sources { add((try? String(contentsOfFile: path, encoding: .utf8)) ?? "") }
  }

  /// Adds the overrides in a text.
  mutating func add(_ text: String) {
    guard text.contains("override") else { return }
    let tokens = SourceTokens(text)
    guard tokens.isBalanced else { return }
    for index in tokens.items.indices where tokens[index - 1] == "func" {
      guard (tokens.statementStart(before: index)..<index).contains(where: { tokens[$0] == "override" }),
        let function = FunctionText(name: index, in: tokens)
      else { continue }
      titles.insert(function.title)
    }
  }

  /// The function, with the fact that a call of it can run the body of a subclass in the tests.
  func marked(_ function: AwaitableFunction) -> AwaitableFunction {
    var function = function
    if titles.contains(function.name), !function.type.isEmpty { function.isPlain = false }
    return function
  }
}
