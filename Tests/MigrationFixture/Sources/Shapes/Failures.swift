// Failures that a value holds.

/// Holds a result.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
  public let result: Result<Success, Failure>
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

  /// Its counterparts return the failure, because they cannot throw it.
  public func logIn(completion: @escaping (Login) -> Void) {
    work.run { completion($0 == nil ? .welcome("user") : .failed) }
  }

  /// Its errors are of one type, and the package says what makes one of any other error.
  public func typed(completion: @escaping (Result<Int, APIError>) -> Void) {
    work.result(4) { completion($0.mapError { _ in .offline }) }
  }
}
