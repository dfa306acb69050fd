internal import Foundation

/// Hints from the names of a function and its callback: how often the callback comes, and how long its values live.
enum CallbackNames {
  enum Repetition {
    case once, many, unknown
  }

  /// Beginnings of words in the names of closures that are usually called once, such as `completion`.
  static let completions = ["complet", "done", "finish", "then", "reply", "success", "succeed", "fulfil"]

  /// Beginnings of words in the names of callbacks that come once or often: the name of the function decides.
  private static let replies = ["callback", "handler", "result", "answer", "respon"]

  /// Beginnings of words in the names of closures that are callbacks, and not work to do.
  static let callbacks = completions + replies

  private static let repeatingParameters = [
    "observ", "listen", "chang", "updat", "event", "each", "every", "tick", "receiv", "subscri", "next", "iterat",
    "messag", "notif", "progress",
  ]

  /// Beginnings of words in the names of functions whose callback comes again, whatever its name is.
  private static let repeatingFunctions = [
    "observ", "listen", "subscri", "watch", "monitor", "each", "every", "enumerat", "iterat", "poll", "stream",
  ]

  /// Beginnings of words in the names of functions whose callback might come again.
  private static let doubtfulFunctions = [
    "updat", "chang", "receiv", "messag", "event", "notif", "progress", "track", "tick", "live", "continu", "follow",
  ]

  /// First words of functions that end a repetition, as in `stopObserving(completion:)`.
  private static let endingVerbs: Set<String> = [
    "stop", "end", "remove", "cancel", "finish", "disable", "delete", "close", "unsubscribe", "unregister",
  ]

  /// First words of functions that answer once.
  private static let requests: Set<String> = [
    "fetch", "get", "load", "save", "store", "delete", "remove", "create", "insert", "request", "post", "put", "upload",
    "download", "count", "compute", "calculate", "resolve", "login", "logout", "authenticate", "authorize", "validate",
    "verify", "decode", "encode", "parse", "render", "convert", "import", "export", "copy", "move", "rename", "confirm",
    "retrieve", "check", "make", "generate", "submit", "commit", "clear", "reset", "flush", "hash", "encrypt",
    "decrypt", "ping", "stop", "cancel", "close", "disconnect",
  ]

  /// How often a callback comes, by the name of its function, and by the label and the name of its parameter.
  static func repetition(function: String, parameter names: [String]) -> Repetition {
    let isCompletion = names.contains { hasWord($0, like: completions) }
    if names.contains(where: { hasWord($0, like: repeatingParameters) }) {
      // A closure `_ updates:` is work to do, and `onReceiveCompletion:` can come once or often.
      let isWork = names.allSatisfy { ["_", "updates", "changes"].contains($0) }
      return isCompletion || isWork ? .unknown : .many
    }
    let words = words(function)
    let isEnding = words.first.map(endingVerbs.contains) == true
    let isRequest = words.first.map(requests.contains) == true
    let isRepeating = words.enumerated().contains { index, word in
      guard hasWord([word], like: repeatingFunctions) else { return false }
      // `sendPoll` sends a questionnaire.
      if index > 0, ["poll", "polls"].contains(word) { return false }
      // `getSubscription` and `loadListeners` ask for a thing of that name.
      if isRequest { return !nounEndings.contains { word.hasSuffix($0) } }
      // In `setThreadSubscription(completion:)`, the word with `-ption` is a thing to set, so the callback comes once.
      // A noun with another ending still counts as repeating, because `addListener(completion:)` keeps its callback.
      return !(isCompletion && word.contains(endingOfSettableNouns))  // `contains`, because the word can be a plural
    }
    if isRepeating, !isEnding { return .many }
    if isCompletion { return .once }
    let isEvent = words.first == "on" || words.first == "when" || words.contains("did")
    if isEvent { return .many }
    let isReply = names.contains { hasWord($0, like: replies) }
    return isReply && isRequest && !hasWord(words, like: doubtfulFunctions) ? .once : .unknown
  }

  /// Whether a function might keep its callback for several events, by its name: `addHandler(_:)`, `trackChanges(_:)`.
  static func mightRepeat(function: String) -> Bool {
    let words = words(function)
    return hasWord(words, like: doubtfulFunctions) || words.first.map(registrations.contains) == true
  }

  /// First words of functions that keep their callback, as in `addHandler(_:)`.
  private static let registrations: Set<String> = [
    "add", "append", "attach", "bind", "connect", "install", "listen", "on", "open", "register", "set", "start", "use",
    "when",
  ]

  /// Endings of nouns that are made from a verb, as in `subscription` and `listeners`.
  private static let nounEndings = [endingOfSettableNouns, endingOfSettableNouns + "s", "er", "ers", "or", "ors"]
  private static let endingOfSettableNouns = "ption"

  /// The first of the phrases that a documentation comment has; `nil` if it has none.
  static func phrase(of phrases: [String], in documentation: String) -> String? {
    let text = documentation.lowercased()
    return phrases.first { text.contains($0) }
  }

  /// Phrases of documentation comments that say that a callback comes more than once.
  static let repetitions = [
    "more than once", "multiple times", "many times", "several times", "each time", "every time", "repeatedly",
    "whenever", "again and again", "for each", "for every", "periodically", "until you", "until it is removed",
  ]

  /// Whether the name of a function says that its values are valid only inside the callback, as with `read(_:)`.
  ///
  /// If the callback gets the result of the work, `lendingWords` do not count: `write(_:completion:)` lends nothing.
  static func lendsValues(function: String, givesResult: Bool = false) -> Bool {
    let words = words(function)
    // Words such as `in` and `with` mean lending only at the start, or after `async`: `asyncWithPool` lends, `logIn` does not.
    let first = words.first { $0 != "async" }
    return first.map(lendingFirstWords.contains) == true || !givesResult && words.contains { lendingWords.contains($0) }
  }

  private static let lendingFirstWords: Set<String> = ["with", "in", "use", "borrow", "lend", "access", "transaction"]

  private static let lendingWords: Set<String> = [
    "read", "write", "perform", "access", "borrow", "lend", "transaction", "reading", "writing",
  ]

  /// Whether a type, by its name without generic arguments, is a pointer, or a view of memory that it does not own.
  static func isPointer(_ type: String) -> Bool {
    type.hasPrefix("Unsafe") || type.hasPrefix("AutoreleasingUnsafe") || type == "OpaquePointer"
      || type.hasSuffix("Span") && type != "TimeSpan"
  }

  /// Phrases of documentation comments that forbid keeping a value.
  static let lendings = [
    "do not store", "don't store", "not be stored", "must not store", "do not keep", "don't keep", "do not retain",
    "don't retain", "not be retained", "not escape", "n't escape", "only valid", "valid only", "outside of the c",
    "outside the c", "outside of the b", "outside the b", "for the duration of", "after the closure", "after the block",
    "after the callback",
  ]

  /// Whether a name means a queue only for the callback: `callbackQueue`, or, for a parameter with a default, `queue` or `on`.
  static func isQueue(_ name: String, hasDefault: Bool) -> Bool {
    let words = words(name)
    if hasDefault, ["on", "queue"].contains(name) { return true }  // without a default it might be the work's queue
    guard let last = words.last, ["queue", "on"].contains(last) else { return false }
    let callbackWords = ["callback", "completion", "response", "result", "delivery", "reply"]
    return words.dropLast().contains { callbackWords.contains($0) }
  }

  /// Whether a word of a name, such as `change` in `onChange`, begins with one of `beginnings`.
  static func hasWord(_ name: String, like beginnings: [String]) -> Bool { hasWord(words(name), like: beginnings) }

  private static func hasWord(_ words: [String], like beginnings: [String]) -> Bool {
    words.contains { word in beginnings.contains { word.hasPrefix($0) } }
  }

  /// The words of a name, in lower case.
  static func words(_ name: String) -> [String] {
    var words = [""]
    for character in name {
      // `ID` is one word.
      if character.isUppercase, words[words.count - 1].last?.isUppercase != true { words.append("") }
      words[words.count - 1].append(character)
    }
    return words.filter { !$0.isEmpty }.map { $0.lowercased() }
  }
}
