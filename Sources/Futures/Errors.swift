/// The failure of a future whose promise went away without resolving it.
public struct BrokenPromise: Error, Sendable {
  /// The label that the promise was given.
  public let label: String?
  /// The file in which the promise was made, as `#fileID`.
  public let fileID: String
  /// The line on which the promise was made.
  public let line: UInt

  @usableFromInline
  package init(label: String?, fileID: String, line: UInt) {
    self.label = label
    self.fileID = fileID
    self.line = line
  }
}

extension BrokenPromise: CustomStringConvertible {
  /// A sentence that names the label, the file and the line.
  public var description: String {
    let name = label.map { " \"\($0)\"" } ?? ""
    return "The promise\(name) made at \(fileID):\(line) was dropped without being resolved."
  }
}

/// A typed failure that can say that the work was cancelled.
public protocol CancellableFailure: Error {
  /// What a cancelled future of this failure type fails with.
  static var cancelled: Self { get }
}

/// How a failure type says that the work was cancelled, if it can.
@usableFromInline
package enum Cancelled<Failure: Error> {
  /// Whether the type can say so at all.
  ///
  /// Known at compile time for the usual types in specialised code, since looking up a conformance takes longer than an
  /// allocation.
  @inlinable
  package static var isExpressible: Bool {
    if Failure.self == (any Error).self || Failure.self == CancellationError.self { return true }
    if Failure.self == Never.self { return false }
    return Failure.self is any CancellableFailure.Type
  }

  /// `CancellationError()` where the type holds that, `.cancelled` for a `CancellableFailure`, `nil` for all others.
  @inlinable
  package static var failure: Failure? {
    if let type = Failure.self as? any CancellableFailure.Type { return type.cancelled as? Failure }
    return CancellationError() as? Failure
  }
}

/// The failure of a future whose `(value?, error?)` callback gave neither.
public struct CallbackContractViolation: Error, Sendable, CustomStringConvertible {
  /// The label that the promise was given.
  public let label: String?
  /// The file in which the promise was made, as `#fileID`.
  public let fileID: String
  /// The line on which the promise was made.
  public let line: UInt

  package init(label: String?, fileID: String, line: UInt) {
    self.label = label
    self.fileID = fileID
    self.line = line
  }

  /// A sentence that names the mistake, the label, the file and the line.
  public var description: String {
    let name = label.map { " \"\($0)\"" } ?? ""
    return "The callback\(name) wrapped at \(fileID):\(line) gave neither a value nor an error."
  }
}

/// The failure of a future that was not resolved in time.
public struct TimeoutError: Error, Sendable, Hashable, CustomStringConvertible {
  /// How long was waited.
  public let duration: Duration

  /// An error that says how long was waited.
  /// - Parameter duration: How long was waited.
  public init(duration: Duration) { self.duration = duration }

  /// A sentence that names the duration.
  public var description: String { "The future was not resolved within \(duration)." }
}

/// The failure of a future that waits for others, several of which may have failed.
public struct CompositeError<Failure: Error>: Error, Sendable, CustomStringConvertible {
  /// The errors, in the order of the futures that failed with them.
  public let errors: [Failure]

  /// An error of several errors.
  /// - Parameter errors: The errors, in the order of the futures that failed with them.
  public init(errors: [Failure]) { self.errors = errors }

  /// A sentence that lists the errors.
  public var description: String {
    let list = errors.map { "\($0)" }.joined(separator: "; ")
    return "\(errors.count) futures failed: \(list)"
  }
}

extension CompositeError: Equatable where Failure: Equatable {}
extension CompositeError: Hashable where Failure: Hashable {}
