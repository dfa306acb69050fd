import FuturesAsync
public import Shapes

extension Client {
  /// A counterpart in another target than its function.
  public func reserve() async throws -> Int {
    try await withCallback { _ = self.reserve(completion: $0.resultHandler) }
  }
}
