// Callbacks that come again and again, beside callbacks that come once.

/// Tells of rows and messages.
public struct Feed: Sendable {
  let work: Work
  public init(_ work: Work) { self.work = work }

  public func forEach(operation: @escaping ([Any?]?, (any Error)?) -> Void) {
    for row in 0..<3 { work.run { operation($0 == nil ? [row] : nil, $0) } }
  }

  public func onMessage(_ handler: @escaping (Result<String, any Error>) -> Void) { twice(handler) }

  public func startPolling(handler: @escaping (Result<String, any Error>) -> Void) { twice(handler) }

  public func stream(handler: @escaping (Result<String, any Error>) -> Void) { twice(handler) }

  public func updateDownload(_ id: Int, callback: @escaping (String?, (any Error)?) -> Void) {
    for _ in 0..<2 { work.run { callback($0 == nil ? "\(id)" : nil, $0) } }
  }

  public func onConnectionDidOpen(_ callback: @escaping (String) -> Void) { work.run { _ in callback("open") } }

  /// Its name says nothing, and the package says that it comes once.
  public func evaluate(_ block: @escaping (Result<Int, any Error>) -> Void) {
    work.result(5) { block($0.mapError { $0 }) }
  }

  public func stopPolling(completion: @escaping ((any Error)?) -> Void) { work.run { completion($0) } }

  public func updateName(completion: @escaping (Result<String, any Error>) -> Void) {
    work.result("name") { completion($0.mapError { $0 }) }
  }

  private func twice(_ handler: @escaping (Result<String, any Error>) -> Void) {
    for _ in 0..<2 { work.result("message") { handler($0.mapError { $0 }) } }
  }
}
