/// A call of a function that takes a callback.
package struct CallbackCall {
  /// The way to convert a call: `convert` for `ready`, `convert --functions` for `next`.
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

  /// The title of the function around the call.
  package let enclosing: String

  package var callClass: Class

  /// The class that the call would have without its refusals.
  package var place: Class

  /// The reasons why the call is not converted.
  var refusals: [CallRefusal] = []

  /// The index of the called function, and that of the callback function around the call, if there is one.
  var target: Int
  var owner: Int?

  /// The path of the file in the copy.
  var path = ""
  var site: CallSite?
  var scope: CallScope?
  var ignoresFailure = false

  /// The reason why the compiler's refactoring would change the behaviour; `nil` if it would not.
  var ownTextReason: String?

  /// Whether the refactoring of an outer call converts this call, too.
  var isInsideAnotherCall = false
}
