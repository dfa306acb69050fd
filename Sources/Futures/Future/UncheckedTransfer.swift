/// Transfers a value that is not `Sendable` through a future, a callback or a queue.
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
/// The compiler checks nothing here, because most APIs declare a completion handler's parameter without `sending`. So you
/// have two obligations:
/// - The sender gives the value away. Neither the sender nor the API that made it uses it afterwards, nor any object
///   that it refers to.
/// - At any time at most one thread or actor uses the value. Of several consumers of such a future, only one uses the
///   value, or all of them only read it. Reading must not change the value (no lazy properties, no caches).
///
/// Make the value `Sendable` instead, if you can. If one async function waits for it, `withCallback` needs no wrapper.
public struct UncheckedTransfer<Value>: @unchecked Sendable {
  // @unchecked: the documentation puts the obligations on the code that wraps a value.

  /// The value, for its receiver.
  public let value: Value

  /// Wraps a value that the caller gives away, and must not use afterwards.
  public init(_ value: Value) { self.value = value }
}
