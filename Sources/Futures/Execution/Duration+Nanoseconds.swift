// Inside the library a delay is a number of nanoseconds: `Duration` needs macOS 13 and iOS 16, and the rest of the library does
// not. Zero or less is no delay. `Int64.max`, 292 years, never ends.

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension Duration {
  /// The duration in nanoseconds, rounded up: from zero to `Int64.max`.
  @usableFromInline
  package var nanoseconds: Int64 {
    guard self > .zero else { return 0 }
    guard self < .nanoseconds(Int64.max) else { return .max }
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
  }
}
