internal import Foundation

/// Finds functions that `#if` hides from the compiler, and so from symbol graphs.
struct HiddenFunctions {
  /// The places of functions that take a callback, by file and line.
  let places: [(path: String, line: Int)]

  /// - Parameters:
  ///   - sources: The source files of a module.
  ///   - visible: The lines of each file on which the compiler has seen a declaration.
  init(sources: [SourceFile], visible: [String: Set<Int>]) {
    places = sources.flatMap { file in
      // A condition that holds for one declaration of a file holds for all.
      let compiled = Set((visible[file.path] ?? []).compactMap { file.condition(ofLine: $0) })
      let lines = file.callbackFunctionLines.filter { line in
        file.condition(ofLine: line).map { !compiled.contains($0) } == true
      }
      return lines.map { (file.path, $0) }
    }
  }
}

extension SourceFile {
  /// The lines on which a function is declared whose parameters have an escaping closure, as far as the text says.
  fileprivate var callbackFunctionLines: [Int] {
    lines.indices.compactMap { index in
      let words = lines[index].split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "/" }.map(String.init)
      guard words.first?.hasPrefix("/") == false, words.contains("func") || words.contains("init") else { return nil }
      // The compiler gives no position for private functions.
      guard !words.contains("private"), !words.contains("fileprivate") else { return nil }
      let parameters = parameterText(from: index)
      let hasOptional = parameters.contains("->") && [")?", ")!"].contains { parameters.contains($0) }
      return parameters.contains("@escaping") || hasOptional ? index + 1 : nil
    }
  }

  /// The text between the first parenthesis of a line and the one that closes it.
  private func parameterText(from index: Int) -> String {
    var text = ""
    var depth = 0
    // A declaration with more lines was not written by hand.
    for line in lines[index...].prefix(40) {
      for character in line {
        if character == "(" { depth += 1 }
        if depth > 0 { text.append(character) }
        if character == ")" { depth -= 1 }
        if depth == 0, !text.isEmpty { return text }
      }
      text.append(" ")
    }
    return text
  }
}
