internal import Foundation

/// Finds functions that `#if` hides from the compiler, and so from symbol graphs.
struct HiddenFunctions {
  /// The places of functions that take a callback, by file and line.
  private(set) var places: [(path: String, line: Int)] = []

  /// The titles of functions that are not async, also without the parameters that have defaults.
  private(set) var plainTitles: Set<String> = []

  /// - Parameters:
  ///   - sources: The source files of a module.
  ///   - visible: The lines of each file on which the compiler has seen a declaration.
  init(sources: [SourceFile], visible: [String: Set<Int>]) {
    for file in sources {
      // A condition that holds for one declaration of a file holds for all.
      let compiled = Set((visible[file.path] ?? []).compactMap { file.condition(ofLine: $0) })
      for index in file.lines.indices {
        guard let condition = file.condition(ofLine: index + 1), !compiled.contains(condition),
          let function = file.function(at: index)
        else { continue }
        if function.takesCallback { places.append((file.path, index + 1)) }
        if !function.isAsync { plainTitles.formUnion(function.titles) }
      }
    }
  }
}

/// A declaration of a function, as far as the text says.
private struct HiddenFunction {
  private let name: String
  private let parameters: [Substring]
  let isAsync: Bool

  /// - Parameters:
  ///   - name: The name.
  ///   - text: The parameters, with their parentheses.
  ///   - rest: The text after the parameters in the last line.
  init(name: String, _ text: String, _ rest: Substring) {
    self.name = name
    isAsync = rest.split(separator: " ").first == "async"
    var depth = 0
    parameters = text.dropFirst().dropLast().split { character in
      if "([{<".contains(character) { depth += 1 }
      if ")]}>".contains(character) { depth -= 1 }
      return character == "," && depth <= 0
    }
  }

  /// Whether a parameter is an escaping closure.
  var takesCallback: Bool {
    let hasOptional = parameters.contains { $0.contains("->") && ($0.contains(")?") || $0.contains(")!")) }
    return hasOptional || parameters.contains { $0.contains("@escaping") }
  }

  var titles: [String] {
    [parameters, parameters.filter { !$0.contains("=") }].map { parameters in
      let labels = parameters.map { $0.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.first ?? "_" }
      return name + "(" + labels.map { $0 + ":" }.joined() + ")"
    }
  }
}

extension SourceFile {
  /// The function that begins on a line; `nil` for a private one, for which the compiler gives no position.
  fileprivate func function(at index: Int) -> HiddenFunction? {
    let words = lines[index].split { !$0.isLetter && !$0.isNumber && $0 != "_" && $0 != "/" }.map(String.init)
    guard words.first?.hasPrefix("/") == false, !words.contains("private"), !words.contains("fileprivate"),
      let keyword = words.firstIndex(where: { $0 == "func" || $0 == "init" })
    else { return nil }
    let name = words[keyword] == "init" ? "init" : words.dropFirst(keyword + 1).first ?? ""
    let (text, rest) = parameterText(from: index)
    return HiddenFunction(name: name, text, rest)
  }

  /// The text from the first parenthesis of a line to the one that closes it, and the rest of the last line.
  private func parameterText(from index: Int) -> (String, rest: Substring) {
    var text = ""
    var depth = 0
    // A declaration with more lines was not written by hand.
    for line in lines[index...].prefix(40) {
      for place in line.indices {
        let character = line[place]
        if character == "(" { depth += 1 }
        if depth > 0 { text.append(character) }
        if character == ")" { depth -= 1 }
        if depth == 0, !text.isEmpty { return (text, line[line.index(after: place)...]) }
      }
      text.append(" ")
    }
    return (text, "")
  }
}
