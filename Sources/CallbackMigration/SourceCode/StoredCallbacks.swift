internal import Foundation

/// Callbacks that come again: the body calls them twice, or stores them in a property for other code.
struct StoredCallbacks {
  /// The names of the properties, by the file and the line of the function.
  private var properties: [String: [Int: String]] = [:]

  /// The evidence of several calls, by the file and the line of the function.
  private var repetitions: [String: [Int: String]] = [:]

  /// - Parameter functions: The functions of a module.
  init(_ functions: [CallbackFunction]) {
    for (path, functions) in Dictionary(grouping: functions, by: \.path) {
      let tokens = SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
      guard tokens.isBalanced else { continue }
      let titles = Dictionary(functions.map { ($0.line, $0) }, uniquingKeysWith: { first, _ in first })
      for index in tokens.items.indices where tokens[index] == "func" {
        guard let function = titles[tokens.line(index + 1)],
          let body = tokens.body(ofFunction: index + 1)
        else { continue }
        let names = function.callbacks.indices.map { function.declaration.parameters[$0].name }
        let stored = body.lazy.compactMap { tokens.property(assignedFrom: names, at: $0) }.first
        properties[path, default: [:]][function.line] = stored
        let repetition = CallbackRepetition(of: names, in: body, tokens)
        repetitions[path, default: [:]][function.line] = repetition.reason
      }
    }
  }

  /// The property in which a function stores its callback; `nil` if it stores none.
  func property(of function: CallbackFunction) -> String? { properties[function.path]?[function.line] }

  /// The evidence that the body of a function calls its callback more than once; `nil` if it shows none.
  func repetition(of function: CallbackFunction) -> String? { repetitions[function.path]?[function.line] }
}

extension SourceTokens {
  /// The property that gets the token at `index`, if the token is one of these names and the whole value.
  fileprivate func property(assignedFrom names: [String], at index: Int) -> String? {
    guard names.contains(self[index]), self[index - 1] == "=", Self.isWord(self[index - 2]) else { return nil }
    guard self[index + 1] == "}" || self[index + 1] == ";" || isFirstOnLine(index + 1) else { return nil }
    // `let handler = completion` sets a local value. A property stands after a dot, or first in its line.
    let isMember = self[index - 3] == "." || self[index - 4] == "." && self[index - 3] == "?"
    return isMember || isFirstOnLine(index - 2) ? self[index - 2] : nil
  }
}
