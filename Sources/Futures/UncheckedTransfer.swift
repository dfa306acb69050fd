/// Carries a value that is not `Sendable` to the one who is to have it: through a future, a callback, a queue.
///
/// ```swift
/// func loadImage() -> Future<UncheckedTransfer<Image>, any Error> {
///   Future { promise in
///     load { image, error in promise.valueOrErrorHandler(image.map(UncheckedTransfer.init), error) }
///   }
/// }
/// let image = try await loadImage().value.value
/// ```
///
/// The compiler checks nothing here, since a completion handler's parameter cannot be `sending`; so two obligations are yours:
/// - Who puts a value in gives it away: neither he nor the API that made it uses it, or what it refers to, after that.
/// - At any time at most one thread, or actor, uses the value. So of all who wait for such a future only one may use it, or all of
///   them only read, and reading does not change the value behind its back (no lazy properties, no caches).
///
/// Where the value can be made `Sendable`, do that instead; where one async function waits for it, `withCallback` needs no wrapper.
public struct UncheckedTransfer<Value>: @unchecked Sendable {
  // @unchecked: whoever makes one vouches for what the documentation says.

  /// The value, for the one who is to have it.
  public let value: Value

  /// Wraps a value that the caller gives away.
  /// - Parameter value: The value, which nobody else uses from now on.
  public init(_ value: Value) { self.value = value }
}
