extension Result {
  /// The value of a success.
  var value: Success? { if case .success(let value) = self { value } else { nil } }

  /// The error of a failure.
  var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}
