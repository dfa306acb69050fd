/// A failure type that can represent cancellation.
public protocol CancellableFailure: Error {
  /// The failure of a cancelled future.
  static var cancelled: Self { get }
}

/// The failure of type `Failure` that represents cancellation, if the type has one.
@usableFromInline
package enum Cancelled<Failure: Error> {
  /// Whether the type can represent cancellation.
  ///
  /// A constant in specialised code for the usual types: looking up a conformance takes longer than an allocation.
  @inlinable
  package static var isExpressible: Bool {
    if Failure.self == (any Error).self || Failure.self == CancellationError.self { return true }
    if Failure.self == Never.self { return false }
    return Failure.self is any CancellableFailure.Type
  }

  /// `.cancelled` for a `CancellableFailure`, `CancellationError()` for a type that can hold it, otherwise `nil`.
  @inlinable
  package static var failure: Failure? {
    if let type = Failure.self as? any CancellableFailure.Type { return type.cancelled as? Failure }
    return CancellationError() as? Failure
  }

  /// Whether `error` represents cancellation.
  static func isRepresented(by error: Failure) -> Bool {
    error is CancellationError || (error as? any CancellableFailure)?.isCancelled ?? false
  }
}

extension CancellableFailure {
  /// Whether this equals `.cancelled`; `false` if the type is not `Equatable`.
  fileprivate var isCancelled: Bool {
    // A generic function, because `==` needs the concrete type of `cancelled`, which is that of `self`.
    func equals<Other: Equatable>(_ other: Other) -> Bool { self as? Other == other }
    // From `Any`, because the compiler treats each error as an `NSError`, which is `Equatable`, where Foundation is visible.
    let cancelled: Any = Self.cancelled
    guard let cancelled = cancelled as? any Equatable else { return false }
    return equals(cancelled)
  }
}

/// The failure of a future whose `(value?, error?)` callback received neither a value nor an error.
public struct CallbackContractViolation: Error, Sendable, CustomStringConvertible {
  /// The label of the promise.
  public let label: String?
  /// The file that made the promise, as `#fileID`.
  public let fileID: String
  /// The line that made the promise.
  public let line: UInt

  package init(label: String?, fileID: String, line: UInt) {
    self.label = label
    self.fileID = fileID
    self.line = line
  }

  /// One sentence with the mistake, the label, the file and the line.
  public var description: String {
    let name = label.map { " \"\($0)\"" } ?? ""
    return "The callback\(name) wrapped at \(fileID):\(line) gave neither a value nor an error."
  }
}

/// The failure of a future that exceeded its timeout.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
public struct TimeoutError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The timeout.
  public let duration: Duration

  /// Makes an error.
  public init(duration: Duration) { self.duration = duration }

  /// One sentence with the timeout.
  public var description: String { "The future was not resolved within \(duration)." }
}

/// The failure of a future that joins several others: all of their failures.
public struct CompositeError<Failure: Error>: Error, Sendable, CustomStringConvertible {
  /// The errors, in the order of the failed futures.
  public let errors: [Failure]

  /// Makes an error from several errors.
  /// - Parameter errors: The errors, in the order of the failed futures.
  public init(errors: [Failure]) { self.errors = errors }

  /// One sentence that lists the errors.
  public var description: String {
    let list = errors.map { "\($0)" }.joined(separator: "; ")
    return "\(errors.count) futures failed: \(list)"
  }
}

extension CompositeError: Equatable where Failure: Equatable {}
extension CompositeError: Hashable where Failure: Hashable {}
