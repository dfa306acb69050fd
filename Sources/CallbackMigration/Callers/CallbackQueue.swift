/// The parameter of a called function that names the queue of the callback.
struct CallbackQueue {
  /// The label at the call; `_` for none.
  let label: String

  /// The name in the function's body.
  let name: String

  /// The text of the default value.
  var defaultValue: String?

  /// Whether the async counterpart has the parameter, too.
  var isKept = false

  /// The queue of a callback.
  enum Place: Equatable {
    case main

    /// A global queue.
    case global

    /// The queue parameter of the function around the call.
    case own

    /// Another queue, by its text.
    case other(String)

    case unknown
  }

  /// Whether an argument of a call names the queue.
  ///
  /// An argument without a label is known only if it passes the queue of the function around the call.
  func isNamed(by argument: (label: String?, value: Range<Int>), own: String?, in tokens: SourceTokens) -> Bool {
    guard argument.label ?? "_" == label else { return false }
    return label != "_" || argument.value.count == 1 && tokens[argument.value.lowerBound] == own
  }

  /// The queue that a call names.
  /// - Parameters:
  ///   - site: The call.
  ///   - own: The name of the queue parameter of the function around the call.
  ///   - tokens: The file.
  /// - Returns: The queue.
  func place(at site: CallSite, own: String?, in tokens: SourceTokens) -> Place {
    let arguments = site.arguments.map { tokens.arguments(in: $0) } ?? []
    guard let argument = arguments.first(where: { isNamed(by: $0, own: own, in: tokens) }) else {
      return label == "_" ? .unknown : defaultValue.map(Self.place) ?? .unknown
    }
    let text = argument.value.map { tokens[$0] }.joined()
    return text == own ? .own : Self.place(text)
  }

  private static func place(_ text: String) -> Place {
    switch text {
    case ".main", "DispatchQueue.main", "OperationQueue.main": return .main
    case ".global()", "DispatchQueue.global()": return .global
    default:
      let isPath = text != "nil" && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
      return isPath ? .other(text) : .unknown
    }
  }
}

/// A closure that a function runs on the queue of its callback, such as `queue.async { completion(result) }`.
struct QueueHop {
  /// The brace of the closure.
  let brace: Int

  /// The call of `async`.
  let site: CallSite

  /// The tokens of the closure's statements.
  let content: Range<Int>

  /// Reads the statement that begins at a token; `nil` if the statement is no such closure.
  init?(at index: Int, of queue: String?, in tokens: SourceTokens) {
    guard let queue, tokens[index] == queue, tokens[index - 1] != ".", tokens[index + 1] == ".",
      ["async", "addOperation"].contains(tokens[index + 2]), tokens[index + 3] == "{",
      tokens.closureSignature(at: index + 3) == nil,
      let site = CallSite(name: index + 2, in: tokens, label: "execute"), site.use == .statement
    else { return nil }
    brace = index + 3
    self.site = site
    content = tokens.content(of: brace)
  }
}
