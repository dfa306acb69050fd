/// The reason why no counterpart is written, or how a written one differs, and the entry of the configuration that settles it.
///
/// All reasons are here, in the order of the stages that find them. In a reason, “they” are the counterparts.
package struct Refusal: Equatable, Sendable {
  package let reason: String

  /// The entry to propose, unless one for all functions of the type replaces it; `nil` if none is proposed.
  let entry: Entry?

  struct Entry: Equatable, Sendable {
    let key: String
    var pattern: String

    /// The value; `nil` for an entry that is a list of patterns.
    let value: String?

    /// The entry as the configuration writes it, such as `"once": ["Store.load(completion:)"]`.
    var text: String {
      value.map { "\"\(key)\": {\"\(pattern)\": \"\($0)\"}" } ?? "\"\(key)\": [\"\(pattern)\"]"
    }
  }

  private init(_ reason: String) { (self.reason, entry) = (reason, nil) }

  /// Makes a refusal whose entry is a pattern in a list.
  private init(_ reason: String, entry list: MigrationConfiguration.List, _ pattern: String) {
    self.reason = reason
    entry = Entry(key: list.rawValue, pattern: pattern, value: nil)
  }

  /// Makes a refusal whose entry is a value for a pattern.
  private init(_ reason: String, entry table: MigrationConfiguration.Table, _ pattern: String, _ value: String) {
    self.reason = reason
    entry = Entry(key: table.rawValue, pattern: pattern, value: value)
  }

  /// The reason with `…` for each name between backticks; the report groups refusals by this text.
  var general: String {
    reason.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .map { $0.offset.isMultiple(of: 2) ? String($0.element) : "`…`" }.joined()
  }
}

// MARK: - The type of the callback

extension Refusal {
  static func takesCallbacks(_ count: Int) -> Refusal { Refusal("it takes \(count) callbacks") }

  static let givesClosure = Refusal("it is given a closure")

  /// A parameter that the callback takes has an ownership specifier, as in `(inout Int) -> Void`.
  static func callbackParameter(hasOwnership specifier: String) -> Refusal {
    Refusal("its callback's parameter is `\(specifier)`")
  }

  static let variadicCallback = Refusal("its callback is variadic")

  static let contextAndResult = Refusal("its callback gets a context and a result; \(scopeAdvice)")

  static let onlyError = Refusal("its only closure gets an error")

  static func errorAmongValues(_ title: String) -> Refusal {
    Refusal("its callback gets an error as one of its values", entry: .whole, title)
  }

  static func mightBeError(_ type: String) -> Refusal {
    Refusal("nothing here says whether `\(type)` is an error", entry: .errors, type)
  }
}

// MARK: - The lifetime of its values

/// The entry `once` of the configuration says that the values stay valid, and that the callback comes once.
extension Refusal {
  private static let scopeAdvice = "write an async function that takes a closure"

  static func isValidInside(_ type: String, _ title: String) -> Refusal {
    Refusal("`\(type)` is valid inside the callback only; \(scopeAdvice)", entry: .once, title)
  }

  /// `lender` is a function that lends such values to its closure; `nil` if the refused function lends them, as its name says.
  static func mightBeValidInside(_ type: String, lentBy lender: String? = nil, _ title: String) -> Refusal {
    let lent = lender.map { ", which `\($0)` lends," } ?? ""
    return Refusal("`\(type)`\(lent) might be valid inside the callback only; \(scopeAdvice)", entry: .once, title)
  }

  static func documentationForbidsKeeping(_ phrase: String, _ title: String) -> Refusal {
    Refusal("its documentation says \"\(phrase)\"; \(scopeAdvice)", entry: .once, title)
  }
}

// MARK: - How often the callback comes

extension Refusal {  // The entry `once` of the configuration says that a callback comes once.
  static func comesAgain(_ title: String) -> Refusal {
    Refusal("its callback may come again and again; `callbackStream` makes a sequence of it", entry: .once, title)
  }

  static func documentationOfRepetition(_ phrase: String, _ title: String) -> Refusal {
    Refusal("its documentation says \"\(phrase)\"", entry: .once, title)
  }

  static func unknownRepetition(of parameter: String, _ title: String) -> Refusal {
    Refusal("nothing says whether `\(parameter)` is called once", entry: .once, title)
  }

  static func isStored(in property: String, _ title: String) -> Refusal {
    Refusal("its callback is stored in `\(property)`, and may be called again", entry: .once, title)
  }

  static func isKept(in collection: String, _ title: String) -> Refusal {
    let reason = "its callback is kept in `\(collection)`, from which other code calls it much later or never"
    return Refusal(reason, entry: .once, title)
  }

  static func comesTwice(_ first: Int, _ second: Int, _ title: String) -> Refusal {
    Refusal("line \(first) calls its callback, and line \(second) calls it again", entry: .once, title)
  }

  static func comesInLoop(_ line: Int, _ title: String) -> Refusal {
    Refusal("line \(line) calls its callback in a loop", entry: .once, title)
  }

  static func comesForEachEvent(_ line: Int, _ title: String) -> Refusal {
    Refusal("line \(line) calls its callback for each event", entry: .once, title)
  }
}

// MARK: - The returned handle

/// The entry `handle` of the configuration says how the handle cancels; with `none`, callers do without it.
extension Refusal {
  /// The work might wait for `start`; the entry suits a handle whose work runs already, and which `end` cancels.
  static func mightNotRun(_ type: String, start: String, end: String?, _ title: String) -> Refusal {
    let reason = "nothing says whether `\(type)`, which it returns, runs before its caller calls `\(start)`"
    return Refusal(reason, entry: .handle, title, end ?? "none")
  }

  static func cannotCancel(_ type: String, because reason: String, _ title: String) -> Refusal {
    Refusal("`\(type).cancel()` \(reason)", entry: .handle, title, "none")  // `reason`: such as “changes its handle”
  }

  static func mightCancel(_ type: String, _ method: String, _ title: String) -> Refusal {
    Refusal("nothing says whether `\(type).\(method)` cancels its work", entry: .handle, title, method)
  }

  static func unknownHandle(_ type: String, _ title: String) -> Refusal {
    Refusal("nothing says how `\(type)`, which it returns, cancels its work", entry: .handle, title, "cancel()")
  }

  static func returnsValue(_ type: String, _ title: String) -> Refusal {
    Refusal("it returns `\(type)`, which a counterpart cannot return, too", entry: .handle, title, "none")
  }
}

// MARK: - The declaration

extension Refusal {
  static let initializer = Refusal("an initializer returns before its callback comes")
  static let isOperator = Refusal("it is an operator")
  static let isAsync = Refusal("it is async already")
  static let isRethrowing = Refusal("it rethrows what a closure throws")
  static let isSPI = Refusal("it is for those who import it by `@_spi`")
  static let isUnavailable = Refusal("it is unavailable")
  static let isDeprecated = Refusal("it is deprecated, and calling it would warn")
  static let optionalRequirement = Refusal("it is an optional requirement")
  static let isOverride = Refusal("it overrides one whose counterpart calls it")

  static func implements(_ type: String) -> Refusal {
    Refusal("it implements a requirement of `\(type)`, whose counterpart calls it")
  }

  /// Other code calls it, and would not call a counterpart; the entry says that the user wants one nevertheless.
  static func isDelegateMethod(of type: String, _ title: String) -> Refusal {
    Refusal("it is a method of `\(type)`, which other code calls", entry: .once, title)
  }

  static func isVariadic(_ parameter: String) -> Refusal {
    Refusal("`\(parameter)` is variadic, and cannot be passed on")
  }

  static func hasSpecifier(_ parameter: String, _ specifier: String) -> Refusal {  // such as `inout` or `consuming`
    Refusal("`\(parameter)` is `\(specifier)`, and cannot be passed on")
  }

  static func isPack(_ parameter: String) -> Refusal { Refusal("`\(parameter)` is a parameter pack") }

  /// `name` stands in the default value of a parameter, and `why` says why a counterpart cannot use this name.
  static func unusableDefault(_ name: String, _ why: String) -> Refusal { Refusal("`\(name)`, a default, \(why)") }

  static let unknownIsolation = Refusal(
    "nothing here says whether it belongs to the main actor; add `@MainActor` or `nonisolated`"
  )
}

// MARK: - The counterpart

extension Refusal {
  static func notSendable(_ type: String, isKnown: Bool, _ title: String) -> Refusal {
    let reason = isKnown ? "`\(type)` is not Sendable" : "nothing here says whether `\(type)` is Sendable"
    return Refusal(reason, entry: .transfer, title)
  }

  /// Calls of an existing declaration would get the counterpart; the entry proposes another name, such as `loadAsync`.
  static func isTaken(by rival: String, for function: String, proposing name: String) -> Refusal {
    let reason = "`\(rival)` is there, and async code that calls it would get the new one"
    return Refusal(reason, entry: .renames, function, name)
  }

  /// Another function would have the same counterpart, and is preferred if `isForRival`, because its callback has a better shape.
  ///
  /// `name` is `nil` if both functions have the same title, because `renames` would rename the counterparts of both.
  static func sameCounterpart(isForRival: Bool, for function: String, proposing name: String?) -> Refusal {
    let reason =
      isForRival
      ? "another function, which differs from it only in the form of its callback, gets the counterpart"
      : "another function differs from it only in its callback"
    return name.map { Refusal(reason, entry: .renames, function, $0) } ?? Refusal(reason)
  }
}

// MARK: - Differences of counterparts that are written

/// An entry of the configuration accepts the difference, or ends it. The entry `handle` with `none` accepts a dropped result.
extension Refusal {
  static func dropsResult(_ type: String, _ title: String) -> Refusal {
    Refusal("they drop the `\(type)` that it returns", entry: .handle, title, "none")
  }

  /// For an async counterpart if no entry `failure` exists; proposes none, because only the user can name a converting function.
  static func throwsAnyError(_ type: String) -> Refusal {
    Refusal("it throws any error; name a function that converts errors of cancelled or dropped callbacks to `\(type)`")
  }

  /// A value has a name such as `lastError`, but its type is no error; `isOwn`: the type is a single name, of the user's package.
  static func returnsNoError(_ label: String, _ type: String, isOwn: Bool) -> Refusal {
    let remedy = isOwn ? "; `extension \(type): Error {}` would make it one" : ""
    return Refusal("they return `\(label)`, a `\(type)`, which is no `Error` that they could throw\(remedy)")
  }

  /// Counterparts return a value of `type` as it is, although it can hold a failure; the entry `whole` accepts this difference.
  static func returnsFailure(in type: String) -> Refusal {
    Refusal("they return `\(type)`, which might hold a failure")
  }

  static func returnsOptional(line: Int) -> Refusal {  // the backticks make `general` replace the line by `…`
    Refusal("they return an optional, because `line \(line)` calls back with neither a value nor an error")
  }

  /// Unless another declaration has the name, proposes the entry `"renames": {"*": "*"}`, which keeps the functions' names.
  static func hasOtherName(_ reason: OtherName) -> Refusal {
    switch reason {
    case .callbackIsOptional:
      Refusal("they have another name, because \(reason.text)", entry: .renames, "*", "*")
    case .isThere: Refusal("they have another name, because \(reason.text)")
    }
  }

  /// Why a counterpart does not have the name of its function.
  enum OtherName: Equatable {
    /// Callers can leave out the callback, and async code that does so would get the counterpart.
    case callbackIsOptional

    /// A declaration with this title is there, and async code that calls it would get the counterpart.
    case isThere(String)

    fileprivate var text: String {
      switch self {
      case .callbackIsOptional: "async code can leave out the callback"
      case .isThere(let title): "`\(title)` is there"
      }
    }
  }
}
