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

  /// Whether the function can use the queue for more than its callback, such as for its work.
  var hasOtherUses = false

  /// The queue of a callback.
  enum Place: Equatable {
    case main

    /// A global queue.
    case global

    /// The queue parameter of the function around the call.
    case own

    /// Another queue, by its text.
    case other(String)

    /// The function decides, as for the argument `nil`.
    case hidden

    /// The text at the call does not show the queue, or has a call that an await would leave out.
    case unknown
  }

  /// Whether an argument of a call names the queue.
  ///
  /// An argument without a label is known only by the queue of the function around the call, as in `queue ?? .main`.
  func isNamed(by argument: (label: String?, value: Range<Int>), own: String?, in tokens: SourceTokens) -> Bool {
    guard argument.label ?? "_" == label else { return false }
    let start = argument.value.lowerBound
    let isDefaulted = tokens[start + 1] == "?" && tokens[start + 2] == "?"
    return label != "_" || tokens[start] == own && (argument.value.count == 1 || isDefaulted)
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
    // The counterpart would do the work, or report its progress, on another queue.
    if hasOtherUses { return .unknown }
    let text = argument.value.map { tokens[$0] }.joined()
    return text == own ? .own : Self.place(text)
  }

  /// Whether a function does its work on a queue whose name does not say that the queue is for the callback.
  func isForWork(in body: ClosedRange<Int>, _ callbacks: [String], _ tokens: SourceTokens) -> Bool {
    guard !CallbackNames.isQueue(name, hasDefault: false), !CallbackNames.isQueue(label, hasDefault: false) else {
      return false
    }
    let check = ForwardingCheck(tokens: tokens, callbacks: callbacks, queue: name)
    return body.contains { index in
      guard tokens[index] == name, tokens[index - 1] != ".", tokens[index + 1] == "." else { return false }
      return QueueHop(at: index, of: name, in: tokens).map { !check.onlyForwards($0.content) } ?? true
    }
  }

  private static func place(_ text: String) -> Place {
    switch text {
    case ".main", "DispatchQueue.main", "OperationQueue.main": return .main
    case ".global()", "DispatchQueue.global()": return .global
    case "nil": return .hidden
    default:
      // As in `.global(qos: .utility)`.
      let level = text.replacing(prefix: "DispatchQueue", with: "").replacing(prefix: ".global(qos:.", with: "")
      if level.hasSuffix(")"), level.dropLast().allSatisfy(\.isLetter) { return .global }
      let isWithoutCall = text.allSatisfy { $0.isLetter || $0.isNumber || "_.?".contains($0) }
      return isWithoutCall ? .other(text) : .unknown
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

  /// The main queue, as the name of a queue.
  static let mainQueue = "DispatchQueue.main"

  /// Reads the statement that begins at a token; `nil` if the statement is no such closure.
  init?(at index: Int, of queue: String?, in tokens: SourceTokens) {
    guard let queue, tokens[index - 1] != ".", let dot = Self.receiverEnd(at: index, of: queue, in: tokens),
      tokens[dot] == ".", ["async", "addOperation"].contains(tokens[dot + 1]), tokens[dot + 2] == "{",
      tokens.closureSignature(at: dot + 2) == nil,
      let site = CallSite(name: dot + 1, in: tokens, label: "execute"), site.use == .statement, site.start == index
    else { return nil }
    brace = dot + 2
    self.site = site
    content = tokens.content(of: brace)
  }

  /// The token after `queue`, or after `(queue ?? .main)`, where the optional queue has a substitute without a call.
  private static func receiverEnd(at index: Int, of queue: String, in tokens: SourceTokens) -> Int? {
    if tokens[index] == queue { return index + 1 }
    if queue == mainQueue {
      return tokens[index] == "DispatchQueue" && tokens[index + 2] == "main" ? index + 3 : nil
    }
    guard tokens[index] == "(", tokens[index + 1] == queue, tokens[index + 2] == "?", tokens[index + 3] == "?",
      let close = tokens.partner(index),
      (index + 4..<close).allSatisfy({ tokens[$0] == "." || SourceTokens.isWord(tokens[$0]) })
    else { return nil }
    return close + 1
  }
}

/// The queue on which the body of a function runs its callback, such as that of `queue.async { completion(result) }`.
enum DeliveryQueue {
  /// Finds the queue, other than the main queue, a global queue, and that of the function's own parameter.
  /// - Parameters:
  ///   - function: The function.
  ///   - body: The braces of its body.
  ///   - tokens: The file.
  /// - Returns: The text that names the queue; `nil` if the body shows none.
  static func name(of function: AwaitableFunction, in body: ClosedRange<Int>, _ tokens: SourceTokens) -> String? {
    let callbacks = [function.callbackName, function.failureName].compactMap(\.self)
    return name(in: body, of: callbacks, own: function.called.queue?.name, tokens)
  }

  static func name(in body: ClosedRange<Int>, of callbacks: [String], own: String?, _ tokens: SourceTokens) -> String? {
    for index in body where tokens[index - 1] == "." && members.contains(tokens[index]) {
      guard let site = CallSite(name: index, in: tokens, label: "execute"), let brace = site.callback,
        let close = tokens.partner(brace), tokens.closureSignature(at: brace)?.parameters.isEmpty != false,
        (brace...close).contains(where: { callbacks.contains(tokens[$0]) && tokens[$0 - 1] != "." })
      else { continue }
      let receiver = site.start..<index - 1
      if receiver.contains(where: { tokens[$0] == own || tokens[$0] == "main" || tokens[$0] == "global" }) { continue }
      // `DispatchQueue(label: "work").async` makes a queue for one closure, which protects nothing.
      let isNew =
        ["DispatchQueue", "OperationQueue"].contains(tokens[receiver.lowerBound])
        && tokens[receiver.lowerBound + 1] == "("
      if isNew || isGlobal(tokens[index - 2], tokens) { continue }
      return String(tokens.text(receiver.lowerBound...receiver.upperBound - 1))
    }
    return nil
  }

  /// Methods of `DispatchQueue`, `OperationQueue` and `NSManagedObjectContext` that run a closure without parameters.
  private static let members: Set<String> = [
    "async", "asyncAfter", "sync", "addOperation", "addBarrierBlock", "perform", "performAndWait",
  ]

  /// Whether the file sets a variable to a global queue, as in `let queue = DispatchQueue.global()`.
  private static func isGlobal(_ name: String, _ tokens: SourceTokens) -> Bool {
    tokens.items.indices.contains { index in
      guard tokens[index] == "=", tokens[index - 1] == name else { return false }
      let start = tokens[index + 1] == "DispatchQueue" ? index + 2 : index + 1
      return tokens[start] == "." && tokens[start + 1] == "global"
    }
  }
}
