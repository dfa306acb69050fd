/// Texts of articles, from a server that is sometimes slow and sometimes down.
struct ArticleLoader: Sendable {
  let client: HTTPClient
  let mirrors: [HTTPClient]
  let scheduler: any Scheduler

  /// Three attempts of ten seconds each.
  @discardableResult
  func article(_ id: Int, completion: @escaping Completion<String>) -> any Cancellable {
    withRetries(attempts: 3, pause: .seconds(1), on: scheduler) { [client, scheduler] completion in
      withTimeout(.seconds(10), on: scheduler, { client.text("article/\(id)", completion: $0) }, completion: completion)
    } completion: {
      completion($0)
    }
  }

  /// The article from the fastest mirror.
  @discardableResult
  func mirrored(_ id: Int, completion: @escaping Completion<String>) -> any Cancellable {
    let works = mirrors.map { mirror -> Work<String> in
      { completion in mirror.text("article/\(id)", completion: completion) }
    }
    return firstSuccess(works, completion: completion)
  }
}

extension HTTPClient {
  fileprivate func text(_ path: String, completion: @escaping Completion<String>) -> any Cancellable {
    get(path) { response, error in
      if let response { completion(.success(String(decoding: response.body, as: UTF8.self))) }
      if let error { completion(.failure(error)) }
    }
  }
}
