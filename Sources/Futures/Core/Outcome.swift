/// The outcome in a state: pending, a value or a failure.
@usableFromInline
package enum Outcome<Value: Sendable, Failure: Error>: Sendable {
  case pending
  case success(Value)
  case failure(Failure)
}

/// `Outcome` as one generic parameter, in place of `Value` and `Failure`.
///
/// Q: Why is `TypedState` not generic in `Value` and `Failure`? A: The deinitializer of a generic class is never
/// specialised. It would look up the metadata of `Outcome<Value, Failure>` each time: a fifth of the time of a promise. A
/// field whose type is a parameter of the class needs no lookup.
@usableFromInline
package protocol OutcomeStorage: Sendable {
  associatedtype Value: Sendable
  associatedtype Failure: Error

  static var pending: Self { get }
  init(_ result: Result<Value, Failure>)
  var result: Result<Value, Failure>? { get }
}

extension Outcome: OutcomeStorage {
  @inlinable
  package init(_ result: Result<Value, Failure>) {
    switch result {
    case .success(let value): self = .success(value)
    case .failure(let error): self = .failure(error)
    }
  }

  @inlinable
  package var result: Result<Value, Failure>? {
    switch self {
    case .pending: nil
    case .success(let value): .success(value)
    case .failure(let error): .failure(error)
    }
  }
}
