internal import Foundation

/// The bodies of a module's functions, by the text of its files.
struct FunctionBodies {
  private let roles: Roles

  /// The functions of the graph by their titles with the enclosing types.
  private var symbols: [String: [SymbolGraph.Symbol]] = [:]
  private var files: [String: SourceTokens] = [:]

  /// The functions of all files by their base names, also private ones, which have no place in the symbol graph.
  private var functions: [String: [(tokens: SourceTokens, name: Int)]] = [:]

  /// The name tokens of the functions in each file, by their lines.
  private var names: [String: [Int: Int]] = [:]

  /// Reads the source files, except those with unbalanced brackets, because the ends of their bodies are unclear.
  init(_ graph: SymbolGraph, _ roles: Roles, sources: [String]) {
    self.roles = roles
    for symbol in graph.symbols { symbols[symbol.title, default: []].append(symbol) }
    for path in Set(sources).sorted() {
      let tokens = SourceTokens((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")
      guard tokens.isBalanced else { continue }
      files[path] = tokens
      for index in tokens.items.indices.dropLast() where tokens[index] == "func" {  // no name follows the last token
        functions[tokens[index + 1], default: []].append((tokens, index + 1))
        names[path, default: [:]][tokens.line(index + 1)] = index + 1
      }
    }
  }

  /// The bodies that a call can run, each in a list with the bodies to which it passes the callbacks.
  ///
  /// A call can run the function, an override, or the implementation in a conforming type. `indices` are those of the callbacks.
  func implementations(of symbol: SymbolGraph.Symbol, _ indices: Set<Int>) -> [[FunctionBody]] {
    let name = symbol.pathComponents.last ?? ""
    let others = roles.conformers(of: symbol).flatMap { symbols["\($0).\(name)"] ?? [] }
    return ([symbol] + others).compactMap { symbol in
      // Another implementation can name its parameters differently, or seem to have fewer: `<` in a default reads as a bracket.
      guard let location = symbol.location, let path = location.path,
        let parameters = Declaration(symbol.tokens)?.parameters
      else { return nil }
      let callbacks = indices.filter(parameters.indices.contains).map { parameters[$0].name }
      let found = bodies(path: path, line: location.line, callbacks: callbacks)
      return found.isEmpty ? nil : found
    }
  }

  /// The body of the function on a line, then those that get its callbacks; empty for a requirement, an `init` or an unread file.
  private func bodies(path: String, line: Int, callbacks: [String]) -> [FunctionBody] {
    guard let tokens = files[path], let name = names[path]?[line], let body = tokens.body(ofFunction: name) else {
      return []
    }
    var found = [FunctionBody(tokens: tokens, range: body, callbacks: callbacks)]
    // Follows the callbacks from call to call, as from `load` to `send`, up to about eight bodies. Recursion adds no body again.
    var next = 0
    while next < found.count, found.count < 8 {  // 8 bounds the cost, because each body is searched for calls
      let caller = found[next]
      let others = caller.receivers.compactMap { bodyCalled(by: $0, in: caller) }
      found += others.filter { other in
        !found.contains { $0.range == other.range && $0.tokens.text == other.tokens.text }
      }
      next += 1
    }
    return found
  }

  /// The body of the only function with the name and label of a call; `nil` if no function or several have them.
  private func bodyCalled(by call: FunctionBody.Receiver, in caller: FunctionBody) -> FunctionBody? {
    let found = (functions[call.base] ?? []).compactMap { tokens, name -> FunctionBody? in
      guard let parameter = tokens.parameter(labelled: call.label, ofFunction: name),
        let body = tokens.body(ofFunction: name)
      else { return nil }
      let returnsHandle = caller.returnsHandle && call.isReturned  // so the first caller of the chain returns it
      return FunctionBody(tokens: tokens, range: body, callbacks: [parameter], returnsHandle: returnsHandle)
    }
    return found.count == 1 ? found[0] : nil
  }
}

/// The body of a function that gets callbacks.
struct FunctionBody {
  let tokens: SourceTokens

  /// The braces.
  let range: ClosedRange<Int>

  /// The names of the callbacks.
  let callbacks: [String]

  /// Whether this body's result is also that of the function at the start of the chain, so that its callers get it.
  var returnsHandle = true

  /// A call that gets a callback as it is.
  struct Receiver {
    let base: String
    let label: String

    /// Whether the body returns what the call returns.
    let isReturned: Bool
  }

  /// The refusal of `title`, whose callback might come several times, much later, or never; `nil` if the body shows no reason.
  func refusal(_ title: String) -> Refusal? {
    for index in range where callbacks.contains(tokens[index]) {
      if let property = tokens.property(assignedAt: index) { return .isStored(in: property, title) }
      // A local collection ends with the function.
      if let name = tokens.collection(keeping: index), !declares(name) { return .isKept(in: name, title) }
    }
    return CallbackRepetition(of: callbacks, in: range, tokens, title: title).refusal
  }

  /// The line of a call that passes `nil` for the error, its last argument, and for a value; `nil` if there is none.
  var lineWithoutValue: Int? {
    range.first { index in
      guard callbacks.contains(tokens[index]), let open = tokens.argumentList(ofCallAt: index),
        let arguments = tokens.arguments(in: open), arguments.count > 1
      else { return false }
      let areMissing = arguments.map { $0.count == 1 && tokens[$0.lowerBound] == "nil" }
      return areMissing.last == true && areMissing.dropLast().contains(true)
    }.map(tokens.line)
  }

  /// Whether the body calls `method` of the handle that it returns, as in `task.resume()` before `return task`.
  func starts(by method: String) -> Bool {
    guard returnsHandle else { return false }
    let name = method.prefix { $0 != "(" }
    return range.contains { index in
      let isCall = tokens[index - 1] == "." && tokens[index + 1] == "(" && tokens[index + 2] == ")"
      // In a branch or a closure, the call might not run.
      guard tokens[index] == name, isCall, tokens.parent(index) == range.lowerBound else { return false }
      let isChained = ["?", "!"].contains(tokens[index - 2])
      let handle = tokens[isChained ? index - 3 : index - 2]
      return range.contains { tokens[$0] == "return" && tokens[$0 + 1] == handle }
    }
  }

  /// Whether the body makes the handle that callers get, by a call such as `type(…)` or `dataTask(…)`, and never calls `method`.
  func makes(_ type: String, withoutStarting method: String) -> Bool {
    let name = method.prefix { $0 != "(" }
    guard returnsHandle, !range.contains(where: { tokens[$0] == name }) else { return false }
    return range.contains { index in
      tokens[index + 1] == "(" && (tokens[index] == type || tokens[index].hasSuffix("Task"))
    }
  }

  /// The functions to which the body passes a callback as it is.
  fileprivate var receivers: [Receiver] {
    range.compactMap { index in
      guard callbacks.contains(tokens[index]), [",", ")"].contains(tokens[index + 1]),
        let open = tokens.parent(index), tokens[open] == "(", SourceTokens.isWord(tokens[open - 1])
      else { return nil }
      let isLabelled = tokens[index - 1] == ":" && SourceTokens.isWord(tokens[index - 2])
      // A call at the end of the body counts as returned, with or without the word `return`.
      let isLast = tokens.partner(open).map { $0 + 1 == range.upperBound } == true
      let isReturned = isLast && tokens.parent(open) == range.lowerBound
      return Receiver(base: tokens[open - 1], label: isLabelled ? tokens[index - 2] : "_", isReturned: isReturned)
    }
  }

  /// Whether the body has a variable of this name.
  private func declares(_ name: String) -> Bool {
    range.contains { tokens[$0] == name && ["var", "let"].contains(tokens[$0 - 1]) }
  }
}

extension SourceTokens {
  /// The inner name of the parameter with a label; `nil` if the function has no such parameter.
  fileprivate func parameter(labelled label: String, ofFunction name: Int) -> String? {
    var open = name + 1  // Generic parameters can follow the name.
    while open < items.count, self[open] != "(" { open += 1 }
    for element in arguments(in: open) ?? [] where self[element.lowerBound] == label {
      let second = element.lowerBound + 1
      return self[second] == ":" ? label : self[second]
    }
    return nil
  }

  /// The bracket after the name of a called closure, as in `done(` and `done?(`; `nil` for a member, and without a call.
  func argumentList(ofCallAt name: Int) -> Int? {
    let open = ["?", "!"].contains(self[name + 1]) ? name + 2 : name + 1
    return self[name - 1] != "." && self[open] == "(" ? open : nil
  }

  /// The parts between the commas of brackets; `nil` if the token is no opening bracket.
  func arguments(in open: Int) -> [Range<Int>]? {
    guard items.indices.contains(open), let close = partner(open), close > open else { return nil }
    guard open + 1 < close else { return [] }
    let commas = (open..<close).filter { self[$0] == "," && parent($0) == open }
    return zip([open] + commas, commas + [close]).map { $0 + 1..<$1 }
  }

  /// The property to which a statement assigns exactly the token at `index`; `nil` if there is none.
  fileprivate func property(assignedAt index: Int) -> String? {
    let endsStatement = self[index + 1] == "}" || self[index + 1] == ";" || isFirstOnLine(index + 1)
    guard self[index - 1] == "=", Self.isWord(self[index - 2]), endsStatement else { return nil }
    // `let handler = completion` sets a local value. A property stands after a dot, or first in its line.
    return self[index - 3] == "." || isFirstOnLine(index - 2) ? self[index - 2] : nil
  }

  /// The array or dictionary to which a statement adds the token, alone or inside a tuple or an array; `nil` if there is none.
  fileprivate func collection(keeping index: Int) -> String? {
    // From the innermost brackets outwards, as in `waiting.append((id, callback))`.
    var element = index
    while let open = parent(element), self[open] != "{" {
      if self[open] == "(", Self.isWord(self[open - 1]) {
        let isKept = ["append", "insert", "updateValue"].contains(self[open - 1]) && self[open - 2] == "."
        return isKept ? name(before: open - 2) : nil
      }
      element = open
    }
    guard self[element - 1] == "=" else { return nil }
    // As in `waiting[key] = callback`, `waiting[key, default: []] += [callback]` and `waiting += [callback]`.
    let isAddition = self[element - 2] == "+"
    let sign = isAddition ? element - 2 : element - 1
    if self[sign - 1] == "]" { return name(before: sign) }
    return isAddition && Self.isWord(self[sign - 1]) ? self[sign - 1] : nil
  }

  /// The name before `index` without its subscripts, as `waiting` in `waiting[key]?.append`; `nil` if there is none.
  private func name(before index: Int) -> String? {
    var last = index - 1
    while ["]", "?", "!"].contains(self[last]) { last = (partner(last) ?? last) - 1 }  // only a bracket has a partner
    return Self.isWord(self[last]) ? self[last] : nil
  }
}
