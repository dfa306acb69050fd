// Callbacks that come again and again, beside callbacks that come once.

/// Tells of rows and messages.
public struct Feed: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func onMessage(_ handler: @escaping (Result<String, any Error>) -> Void) { twice(handler) }

  /// Its name says nothing, and the package says that it comes once.
  public func evaluate(_ block: @escaping (Result<Int, any Error>) -> Void) {
    work.result(5) { block($0.mapError { $0 }) }
  }

  private func twice(_ handler: @escaping (Result<String, any Error>) -> Void) {
    for _ in 0..<2 { work.result("message") { handler($0.mapError { $0 }) } }
  }
}
