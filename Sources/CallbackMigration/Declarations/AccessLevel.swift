/// The access level of a declaration.
package enum AccessLevel: String, CaseIterable, Comparable, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, open

  /// Whether the left level is lower.
  package static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left).unsafelyUnwrapped < allCases.firstIndex(of: right).unsafelyUnwrapped
  }
}
