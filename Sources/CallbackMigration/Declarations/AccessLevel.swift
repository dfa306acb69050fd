/// The access level of a declaration; the cases stand from the lowest to the highest.
package enum AccessLevel: String, CaseIterable, Comparable, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, open

  package static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left).unsafelyUnwrapped < allCases.firstIndex(of: right).unsafelyUnwrapped
  }
}
