/// The body of a callback function, before a wrapper replaces it.
struct OldBody {
  let tokens: SourceTokens
  let text: FunctionText
  let braces: ClosedRange<Int>

  /// The queues of closures and passed callbacks in the file, as ``CallbackPlaces`` knows them.
  private let callbacks: [Int: String]

  /// The names of the callbacks.
  private let names: [String]

  /// The places that use the callback.
  private let uses: [Int]

  /// The places that use the closure for the progress.
  private let progressUses: [Int]

  /// The place of code that uses the callback.
  enum Place: Equatable {
    /// A closure that runs on a queue; the argument of `forward(on:to:)`.
    case queue(String)

    /// The body itself, so that the callback comes before the function returns.
    case inline

    /// Another closure or function, whose queue the body does not show.
    case elsewhere
  }

  /// - Parameters:
  ///   - function: The callback function.
  ///   - text: The text of the function.
  ///   - tokens: The tokens of the function's file.
  ///   - callbacks: The queues of closures and passed callbacks in the file.
  init?(of function: CallbackFunction, _ text: FunctionText, in tokens: SourceTokens, callbacks: [Int: String] = [:]) {
    let parameters = function.declaration.parameters
    let names = function.callbacks.indices.map { parameters[$0].name }
    let progress = function.callbacks.progress.map { [parameters[$0.parameter].name] } ?? []
    self.init(text, in: tokens, of: names, progress: progress, callbacks: callbacks)
  }

  /// Makes the body of a function whose callbacks and closures for progress have these names.
  init?(
    _ text: FunctionText,
    in tokens: SourceTokens,
    of names: [String],
    progress: [String] = [],
    callbacks: [Int: String] = [:]
  ) {
    guard let braces = text.body else { return nil }
    self.text = text
    self.tokens = tokens
    self.braces = braces
    self.callbacks = callbacks
    self.names = names
    uses = Self.uses(of: names, in: braces, tokens)
    progressUses = Self.uses(of: progress, in: braces, tokens)
  }

  private static func uses(of names: [String], in braces: ClosedRange<Int>, _ tokens: SourceTokens) -> [Int] {
    braces.filter { index in
      let isLabel = tokens[index + 1] == ":" && ["(", ","].contains(tokens[index - 1])
      return names.contains(tokens[index].filter { $0 != "`" }) && tokens[index - 1] != "." && !isLabel
    }
  }

  /// Whether the body awaits a function of this name.
  func awaits(_ name: String) -> Bool {
    braces.contains { index in
      guard tokens[index] == name, tokens[index + 1] == "(",
        tokens[index - 1] != "." || ["self", "Self"].contains(tokens[index - 2])
      else { return false }
      return tokens.statementStart(before: index) < index
        && (tokens.statementStart(before: index)..<index).contains { tokens[$0] == "await" }
    }
  }

  // MARK: The queue

  /// The argument of `forward(on:to:)`, if all calls of the callback outside the body itself are on the same queue.
  var queue: String? {
    let places = uses.map(place).filter { $0 != .inline }
    guard case .queue(let queue)? = places.first, places.allSatisfy({ $0 == places[0] }) else { return nil }
    return queue
  }

  /// Whether each call of the callback is in the body itself.
  var isInline: Bool { !uses.isEmpty && uses.allSatisfy { place($0) == .inline } }

  /// Whether all calls of the callback outside the body itself are on the main queue, and there is one.
  var isOnMainQueue: Bool {
    let others = uses.filter { !isCaptured($0) && !isBinding($0) && place($0) != .inline }
    return !others.isEmpty && others.allSatisfy { place($0) == .queue(".main") || isLaterOnMainQueue($0) }
  }

  /// Whether a token is a name in `if let completion` or `if let completion = completion`.
  private func isBinding(_ index: Int) -> Bool {
    let words = ["let", "var"]
    if words.contains(tokens[index - 1]) { return true }
    return tokens[index - 1] == "=" && tokens[index - 2] == tokens[index] && words.contains(tokens[index - 3])
  }

  /// Whether a use of the callback is in a closure, or is the argument, of `DispatchQueue.main.asyncAfter` or `sync`.
  private func isLaterOnMainQueue(_ index: Int) -> Bool {
    let open = isCall(index) ? nil : tokens.parent(index)
    var callee = open.map { $0 - 1 }
    if isCall(index), let brace = tokens.closureOrFunction(around: index),
      case .closure(let found) = tokens.block(at: brace)
    {
      callee = found.map(called)
    }
    guard let callee, ["asyncAfter", "sync"].contains(tokens[callee]) else { return false }
    return [".", "main", ".", "DispatchQueue"].indices.allSatisfy {
      tokens[callee - 1 - $0] == [".", "main", ".", "DispatchQueue"][$0]
    }
  }

  /// Whether a call of the callback is in the body itself.
  var hasInlineCall: Bool { uses.contains { place($0) == .inline } }

  /// Whether a token stands in a capture list, as in `[completion] in`.
  private func isCaptured(_ index: Int) -> Bool {
    guard let open = tokens.parent(index), tokens[open] == "[", tokens[open - 1] == "{" else { return false }
    return tokens.closureSignature(at: open - 1)?.captures?.lowerBound == open
  }

  private func place(_ index: Int) -> Place {
    guard isCall(index) else {
      // As in `queue.async(execute: completion)`.
      guard let open = tokens.parent(index), tokens[open] == "(" else { return .elsewhere }
      return (queue(ofCall: open - 1) ?? callbacks[index]).map { .queue($0) } ?? .elsewhere
    }
    guard let brace = tokens.closureOrFunction(around: index) else { return .elsewhere }
    if brace == braces.lowerBound { return .inline }
    return (queue(ofClosureAt: brace) ?? callbacks[brace]).map { .queue($0) } ?? .elsewhere
  }

  private func isCall(_ index: Int) -> Bool {
    tokens[index + 1] == "(" || ["?", "!"].contains(tokens[index + 1]) && tokens[index + 2] == "("
  }

  /// The queue on which a closure runs, such as that of `DispatchQueue.main.async { }`.
  private func queue(ofClosureAt brace: Int) -> String? {
    guard case .closure(let callee?) = tokens.block(at: brace) else { return nil }
    if tokens.isTask(callee) {
      return tokens.closureSignature(at: brace)?.attributes.contains("@MainActor") == true ? ".main" : nil
    }
    return queue(ofCall: called(callee))
  }

  /// The function that gets a closure: for the label `execute`, that of the call.
  private func called(_ callee: Int) -> Int {
    let isLabel = tokens[callee] == "execute" && tokens[callee + 1] == ":"
    return isLabel ? tokens.parent(callee).map { $0 - 1 } ?? callee : callee
  }

  /// The queue on which a call runs its closure.
  private func queue(ofCall callee: Int) -> String? {
    guard tokens[callee - 1] == ".", let site = CallSite(name: callee, in: tokens, label: "execute") else { return nil }
    let receiver = (site.start..<callee - 1).map { tokens[$0] }
    switch tokens[callee] {
    case "run": return receiver == ["MainActor"] ? ".main" : nil
    case "addOperation": return receiver.joined() == "OperationQueue.main" ? ".main" : nil
    case "async": return context(receiver)
    case "notify": return argument("queue", of: site).flatMap(context)
    case "forward", "forwardUnsafely", "whenResolved", "whenSucceeded", "whenFailed":
      guard let words = argument("on", of: site) else { return nil }
      if words.starts(with: [".", "queue", "("]) { return context(words.dropFirst(3).dropLast()) }
      return words == [".", "mainQueue"] ? ".main" : context(words)
    default: return nil
    }
  }

  private func argument(_ label: String, of site: CallSite) -> [String]? {
    site.arguments.flatMap { tokens.arguments(in: $0).first { $0.label == label } }?.value.map { tokens[$0] }
  }

  /// The argument of `forward(on:to:)` for a queue.
  private func context(_ queue: some Collection<String>) -> String? {
    switch queue.joined() {
    case "DispatchQueue.main", ".main": ".main"
    case "DispatchQueue.global()", ".global()": ".global()"
    case let text: isStored(queue) ? ".queue(\(text))" : nil
    }
  }

  /// Whether the wrapper can name the queue: a value such as `self.queue`, which is not declared in the body.
  private func isStored(_ words: some Collection<String>) -> Bool {
    guard words.allSatisfy({ SourceTokens.isWord($0) || $0 == "." }), let first = words.first, first != "." else {
      return false
    }
    return !isLocal(first)
  }

  private func isLocal(_ name: String) -> Bool {
    braces.contains { index in
      guard tokens[index] == name else { return tokens.hides(name, closureAt: index) }
      return ["let", "var"].contains(tokens[index - 1])
    }
  }

  // MARK: Changes of meaning

  /// The reason why no wrapper can replace the body.
  var refusal: String? {
    if let found = braces.first(where: { tokens[$0] == "#if" }) {
      return "it has an `#if` on line \(tokens.line(found)), of which the compiler sees one branch"
    }
    if uses.isEmpty { return "it never calls its callback" }
    let other = uses.first { index in
      let isArgument = [",", ")"].contains(tokens[index + 1]) && tokens.parent(index).map { tokens[$0] } == "("
      return !isCall(index) && !isArgument
    }
    return other.map { "line \(tokens.line($0)) uses its callback without calling it" }
  }

  /// The changes of meaning that a wrapper brings.
  var risks: [CallRefusal] {
    var risks: [CallRefusal] = []
    if let inline {
      let reason =
        "line \(tokens.line(inline)) calls `\(tokens[inline])` before it returns, and a wrapper calls it later"
      risks.append(CallRefusal(reason, .order))
    } else if let first = uses.first, uses.allSatisfy(isOrdered) {
      let reason = "the queue on line \(tokens.line(first)) keeps the order of several calls, and a task does not"
      risks.append(CallRefusal(reason, .order))
    }
    if let effect = firstEffect {
      let reason = "line \(tokens.line(effect)) has an effect before it returns, and a wrapper starts its work later"
      risks.append(CallRefusal(reason, .order))
    } else if let read = firstRead {
      let name = StateReads(in: braces, names, tokens).name(at: read) ?? tokens[read]
      let reason =
        "line \(tokens.line(read)) reads `\(name)` before it returns, and a wrapper reads it later; pass it as a parameter"
      risks.append(CallRefusal(reason, .order))
    }
    if let found = braces.first(where: isWeak) {
      let reason = "line \(tokens.line(found)) captures `\(tokens[found]) \(tokens[found + 1])`, and a wrapper keeps it"
      risks.append(CallRefusal(reason, .weakSelf))
    }
    return risks
  }

  /// Whether the body has an effect, which callers can see, before it returns.
  var worksInline: Bool { inline != nil || firstEffect != nil }

  /// Whether the body has an effect or reads state, which callers can change, before it returns.
  var startsAtOnce: Bool { worksInline || firstRead != nil }

  /// The first read of state in the body itself.
  private var firstRead: Int? { StateReads(in: braces, names, tokens).first }

  private var inline: Int? { (uses + progressUses).first { place($0) == .inline } }

  /// Whether only serial queues are around a call of the callback, which keep the order of several calls.
  private func isOrdered(_ index: Int) -> Bool {
    if !isCall(index), tokens.parent(index).map({ keepsOrder($0 - 1) }) != true { return false }
    var brace = tokens.closureOrFunction(around: index)
    while let current = brace, current != braces.lowerBound {
      guard case .closure(let callee?) = tokens.block(at: current), keepsOrder(callee) else { return false }
      brace = tokens.closureOrFunction(around: current)
    }
    return true
  }

  /// Whether a call passes its closure to a serial queue.
  private func keepsOrder(_ callee: Int) -> Bool {
    ["async", "addOperation"].contains(tokens[callee]) && queue(ofCall: callee).map { $0 != ".global()" } == true
  }

  /// The first assignment or call in the body itself that callers can see, and that is not the work of the callback.
  private var firstEffect: Int? {
    braces.first { index in
      guard tokens.closureOrFunction(around: index) == braces.lowerBound else { return false }
      return isWrite(index) || isEffect(index)
    }
  }

  private func isWrite(_ index: Int) -> Bool {
    guard tokens[index] == "=", tokens.parent(index).map({ tokens[$0] }) == "{" else { return false }
    let start = tokens.statementStart(before: index)
    return !Self.keywords.contains(tokens[start]) && !isLocal(tokens[start])
  }

  private func isEffect(_ index: Int) -> Bool {
    guard SourceTokens.isWord(tokens[index]), let site = CallSite(name: index, in: tokens, label: ""),
      site.use == .statement || site.use == .discarded, !(site.start...site.end).contains(where: uses.contains)
    else { return false }
    let first = tokens[site.start]
    return !Self.keywords.contains(first) && !Self.checks.contains(first) && !isLocal(first)
  }

  private static let checks: Set<String> = [
    "assert", "assertionFailure", "precondition", "preconditionFailure", "fatalError", "dispatchPrecondition",
  ]

  private static let keywords: Set<String> = [
    "let", "var", "_", "if", "guard", "while", "for", "switch", "case", "return", "async", "typealias",
  ]

  private func isWeak(_ index: Int) -> Bool {
    guard ["weak", "unowned"].contains(tokens[index]), let bracket = tokens.parent(index) else { return false }
    return tokens[bracket] == "[" && tokens[bracket - 1] == "{" || tokens[index + 1] == "var"
  }

  /// The line on which a queue calls the closure for the progress; `nil` if no queue does.
  var lineOfQueuedProgress: Int? {
    progressUses.first { index in
      if case .queue = place(index) { true } else { false }
    }.map(tokens.line)
  }
}
