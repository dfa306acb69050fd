/// A call of a function that takes a callback.
package struct CallbackCall {
  /// The step that can convert a call.
  package enum Class: String, Codable, CaseIterable, Sendable {
    /// The call is in async code.
    case ready

    /// The call is in a function that itself takes a callback, so that this function can become async.
    case next

    /// The call is in synchronous code, which cannot await.
    case edge

    /// An await would change the meaning of the code, or cannot replace the call.
    case byHand = "by hand"
  }

  /// The path of the file, relative to the package.
  package let file: String

  /// The line of the call, counted from 1.
  package let line: Int

  /// The title of the called function.
  package let function: String

  /// The title of the function that it stands in.
  package let enclosing: String

  package var callClass: Class

  /// The class that it has without its refusals.
  package var place: Class

  /// Why it is not converted.
  var refusals: [CallRefusal] = []

  /// The functions of the plan: the called one, and the one with a callback that it stands in.
  var target: Int
  var owner: Int?

  /// The path in the copy.
  var path = ""
  var site: CallSite?
  var scope: CallScope?
  var ignoresFailure = false

  /// Why the refactoring of the compiler would change its meaning; `nil` if it would not.
  var ownTextReason: String?

  /// Whether the refactoring of another call converts it, too.
  var isInsideAnotherCall = false
}
