extension Result {
  @inlinable var success: Success? { if case .success(let value) = self { value } else { nil } }
  @inlinable var isSuccess: Bool { if case .success = self { true } else { false } }
  @inlinable var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
