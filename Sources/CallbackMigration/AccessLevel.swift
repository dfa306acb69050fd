/// The access level of a declaration.
public enum AccessLevel: String, CaseIterable, Comparable, Sendable {
  case `private`, `fileprivate`, `internal`, `package`, `public`, open

  /// Whether the left one is seen by fewer.
  public static func < (left: Self, right: Self) -> Bool {
    allCases.firstIndex(of: left).unsafelyUnwrapped < allCases.firstIndex(of: right).unsafelyUnwrapped
  }
}
