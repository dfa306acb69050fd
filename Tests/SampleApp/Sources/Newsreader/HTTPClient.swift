import Foundation

/// Requests to one server.
struct HTTPClient: Sendable {
  let base: URL
  let transport: any Transport

  /// A value or an error.
  @discardableResult
  func get(
    _ path: String,
    from start: Int = 0,
    completion: @escaping @Sendable (Response?, (any Error)?) -> Void
  ) -> any Cancellable {
    send(Request(url: base.appending(path: path), start: start), completion)
  }

  /// A closure for success and one for failure.
  func signIn(
    _ user: String,
    password: String,
    success: @escaping @Sendable (_ token: String) -> Void,
    failure: @escaping @Sendable (any Error) -> Void
  ) {
    let request = Request(url: base.appending(path: "session"), body: Data("\(user):\(password)".utf8))
    _ = send(request) { response, error in
      if let response { success(String(decoding: response.body, as: UTF8.self)) }
      if let error { failure(error) }
    }
  }

  private func send(
    _ request: Request,
    _ completion: @escaping @Sendable (Response?, (any Error)?) -> Void
  ) -> any Cancellable {
    let once = Once<Response> { result in
      switch result {
      case .success(let response): completion(response, nil)
      case .failure(let error): completion(nil, error)
      }
    }
    return transport.send(request) { response, error in
      guard let response else { return once(.failure(error ?? NewsError.offline)) }
      once(response.status < 400 ? .success(response) : .failure(NewsError.status(response.status)))
    }
  }
}
