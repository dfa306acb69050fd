internal import Foundation

/// The methods that classes in the package's tests override, by the text of the tests.
///
/// `@testable import` lets a test override a method that is not open. The graph of the method's module does not show that.
struct TestOverrides {
  /// The superclasses that the overriding classes name, by the title of the method without its type, such as
  /// `load(id:completion:)`.
  private var superclasses: [String: Set<String>] = [:]

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
      superclasses[function.title, default: []].formUnion(inherited(around: index, tokens))
    }
  }

  /// The names after the colon of the class around a method; of an extension, the name of its type.
  private func inherited(around index: Int, _ tokens: SourceTokens) -> [String] {
    guard let brace = tokens.parent(index), let keyword = tokens.typeKeyword(before: brace) else { return [] }
    let names = (keyword + 2..<brace).drop { tokens[$0] != ":" }.filter { SourceTokens.isWord(tokens[$0]) }
    return names.map { tokens[$0] }
  }

  /// The functions, with the fact that a call of one can run the body of a subclass in the tests.
  ///
  /// A class of the tests can name a subclass of the method's class. So if it names no type with such a method, it can override
  /// each of them.
  func marked(_ functions: [AwaitableFunction]) -> [AwaitableFunction] {
    let methods = functions.filter { !$0.type.isEmpty && superclasses[$0.name] != nil }
    let owners = Dictionary(grouping: methods, by: \.name).mapValues { Set($0.map(owner)) }
    return functions.map { function in
      guard let owners = owners[function.name], let superclasses = superclasses[function.name] else { return function }
      var function = function
      let named = owners.intersection(superclasses)
      if !function.type.isEmpty, named.isEmpty || named.contains(owner(of: function)) { function.isPlain = false }
      return function
    }
  }

  private func owner(of function: AwaitableFunction) -> String {
    function.type.split(separator: ".").last.map(String.init) ?? ""
  }
}
