/// The code around a call, up to the code that decides whether the call can be awaited.
struct CallScope {
  /// A pair of braces around the call.
  struct Level {
    let brace: Int
    let block: CodeBlock

    /// The last token of the statement in these braces that contains the call.
    let end: Int

    /// Whether that statement returns the call, or another call whose callback contains the call.
    var isReturned = false
  }

  enum Boundary: Equatable {
    /// The body of a function; `name` is the token with its name.
    case function(name: Int, isAsync: Bool)

    /// The closure of a task; `callee` is the token `Task`.
    case task(callee: Int, isKept: Bool)

    /// A closure that is passed to `callee`; `nil` if the closure is no argument.
    case closure(callee: Int?, isAsync: Bool)
    case accessor

    /// The initial value of a property, or code outside functions.
    case none
  }

  /// The levels, the innermost first.
  private(set) var levels: [Level] = []
  private(set) var boundary = Boundary.none

  /// The opening brace of the boundary.
  private(set) var body: Int?

  /// The calls whose callbacks contain this call, each as the token with the name of the called function.
  private(set) var outerCalls: [Int] = []

  /// Reads the code around a call.
  /// - Parameters:
  ///   - site: The call.
  ///   - tokens: The file.
  ///   - callbacks: The calls of the file by the brace of their callback.
  init(of site: CallSite, in tokens: SourceTokens, callbacks: [Int: CallSite] = [:]) {
    var start = site.start
    var end = site.end
    var isReturned = site.use == .returned
    while let bracket = tokens.parent(start) {
      guard tokens[bracket] == "{" else {
        // The call is an argument of another call, or a part of a literal.
        start = bracket
        end = tokens.partner(bracket) ?? end
        continue
      }
      let block = tokens.block(at: bracket)
      levels.append(Level(brace: bracket, block: block, end: end, isReturned: isReturned))
      isReturned = false
      switch block {
      case .branch, .cases, .loop, .deferred:
        start = tokens.statementStart(before: bracket)
        end = tokens.partner(bracket) ?? end
      case .function(let name):
        body = bracket
        boundary = .function(name: name, isAsync: tokens.isAsync(from: name, to: bracket))
        return
      case .accessor:
        body = bracket
        boundary = .accessor
        return
      case .type: return
      case .closure(let callee):
        if let outer = callbacks[bracket] {
          outerCalls.append(outer.name)
          start = outer.start
          end = outer.end
          isReturned = outer.use == .returned
          continue
        }
        body = bracket
        boundary = Self.closure(callee, bracket, tokens)
        return
      }
    }
  }

  private static func closure(_ callee: Int?, _ brace: Int, _ tokens: SourceTokens) -> Boundary {
    if let callee, tokens.isTask(callee) {
      guard let site = CallSite(name: callee, in: tokens, label: "operation") else {
        return .task(callee: callee, isKept: true)
      }
      return .task(callee: callee, isKept: site.use == .used || site.use == .returned || tokens.isResult(site))
    }
    let signature = tokens.closureSignature(at: brace)
    let body = (signature?.end ?? brace)..<(tokens.partner(brace) ?? brace)
    let awaits = body.contains { tokens[$0] == "await" && tokens.parent($0) == brace }
    return .closure(callee: callee, isAsync: signature?.isAsync == true || awaits)
  }

  /// Whether the call is in a task whose handle is dropped, so that no other code waits for the task.
  var isInUnkeptTask: Bool {
    if case .task(_, isKept: false) = boundary { true } else { false }
  }

  /// Whether the code around the call can await.
  var isAsync: Bool {
    switch boundary {
    case .function(_, let isAsync): isAsync
    case .task: true
    case .closure, .accessor, .none: false
    }
  }
}

extension SourceTokens {
  /// Whether a function is async, by the words between its name and its body.
  func isAsync(from name: Int, to brace: Int) -> Bool {
    (name..<brace).contains { (self[$0] == "async" || self[$0] == "reasync") && parent($0) == parent(brace) }
  }

  /// Whether a token starts a task, as in `Task { }` and `Task.detached { }`.
  func isTask(_ callee: Int) -> Bool {
    if self[callee] == "Task" { return self[callee - 1] != "." }
    return ["detached", "immediate", "immediateDetached"].contains(self[callee]) && self[callee - 1] == "."
      && self[callee - 2] == "Task"
  }

  /// Whether a call is the only statement of a body, which could return the call's value.
  func isResult(_ site: CallSite) -> Bool {
    guard let brace = parent(site.start), self[brace] == "{", self[site.end + 1] == "}" else { return false }
    let first = (closureSignature(at: brace)?.end ?? brace) + 1
    guard first == site.start else { return false }
    switch block(at: brace) {
    case .closure(let callee): return callee.map(isTask) != true
    case .function(let name): return (name..<brace).contains { self[$0] == "->" && parent($0) == parent(brace) }
    case .accessor: return true
    default: return false
    }
  }

  /// The first token of the code that runs after a call, up to the end of its scope; `nil` if there is no such code.
  func statement(after scope: CallScope) -> Int? {
    var isLeaving = false
    for level in scope.levels {
      guard let close = partner(level.brace) else { return nil }
      let isClosure = if case .closure = level.block { true } else { false }
      if isLeaving || level.isReturned {
        // A `return` in a callback leaves the callback only.
        isLeaving = !isClosure
        continue
      }
      switch following(level.end, before: close, isInSwitch: level.block == .cases) {
      case .statement(let index): return index
      case .exit: isLeaving = !isClosure
      case .nothing: break
      }
    }
    return nil
  }

  private enum Following {
    case nothing
    case exit
    case statement(Int)
  }

  private func following(_ end: Int, before close: Int, isInSwitch: Bool) -> Following {
    var index = end + 1
    while index < close {
      switch self[index] {
      case ";", "#endif": index += 1
      case "#else", "#elseif":
        while index < close, self[index] != "#endif" { index += 1 }
      case "else", "catch":
        // This branch does not run after the one with the call.
        while index < close, self[index] != "{" { index = (partner(index).map { max($0, index) } ?? index) + 1 }
        index = (partner(index) ?? close) + 1
      case "case", "default", "@unknown": return isInSwitch ? .nothing : .statement(index)
      case "break" where isInSwitch: index += 1
      case "return" where self[index + 1] == "}" || isInSwitch && ["case", "default"].contains(self[index + 1]):
        return .exit
      default: return .statement(index)
      }
    }
    return .nothing
  }
}
