// Failures that a value holds.

/// Holds a result.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
  public let result: Result<Success, Failure>
}

/// Holds a value, or an error.
public enum Found<Value: Sendable>: Sendable {
  case found(Value)
  case lost(any Error)
}

/// Fails without an error.
public enum Login: Sendable {
  case welcome(String), failed, locked
}

/// The errors of a package, with one for all others.
public enum APIError: Error, Equatable {
  case offline
  case other(String)

  static func unexpected(_ error: any Error) -> APIError { .other("\(type(of: error))") }
}

/// Answers with values that hold failures.
public struct Service: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func data(completion: @escaping (DataResponse<Int, Offline>) -> Void) {
    work.result(1) { completion(DataResponse(result: $0)) }
  }

  public func find(completion: @escaping (Found<Int>) -> Void) {
    work.run { completion($0.map { .lost($0) } ?? .found(2)) }
  }

  /// Its counterparts return the failure, because they cannot throw it.
  public func logIn(completion: @escaping (Login) -> Void) {
    work.run { completion($0 == nil ? .welcome("user") : .failed) }
  }

  /// Its tuple holds a value and an error.
  public func pair(completion: @escaping ((Int?, (any Error)?)) -> Void) {
    work.run { completion(($0 == nil ? 3 : nil, $0)) }
  }

  /// Its errors are of one type, and the package says what makes one of any other error.
  public func typed(completion: @escaping (Result<Int, APIError>) -> Void) {
    work.result(4) { completion($0.mapError { _ in .offline }) }
  }
}
