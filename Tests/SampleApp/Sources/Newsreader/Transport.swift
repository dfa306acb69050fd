import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

struct Request: Sendable {
  let url: URL
  var body: Data?
  /// The position of the first byte.
  var start = 0
}

struct Response: Sendable {
  let status: Int
  let body: Data
  /// The number of bytes of the whole, of which the body can be a part.
  let total: Int
}

/// Sends requests; another team owns this package, and keeps its callbacks.
protocol Transport: Sendable {
  /// Calls back once, with a response or an error, on any thread; also when it is cancelled.
  func send(_ request: Request, completion: @escaping @Sendable (Response?, (any Error)?) -> Void) -> any Cancellable
}

struct URLSessionTransport: Transport {
  let session: URLSession

  func send(_ request: Request, completion: @escaping @Sendable (Response?, (any Error)?) -> Void) -> any Cancellable {
    var urlRequest = URLRequest(url: request.url)
    urlRequest.httpMethod = request.body == nil ? "GET" : "POST"
    urlRequest.httpBody = request.body
    if request.start > 0 { urlRequest.setValue("bytes=\(request.start)-", forHTTPHeaderField: "Range") }
    let task = session.dataTask(with: urlRequest) { data, response, error in
      guard let http = response as? HTTPURLResponse, let data else {
        return completion(nil, error ?? NewsError.offline)
      }
      // "bytes 0-99/1234"
      let total = http.value(forHTTPHeaderField: "Content-Range")?.split(separator: "/").last.flatMap { Int($0) }
      completion(Response(status: http.statusCode, body: data, total: total ?? data.count), nil)
    }
    task.resume()
    return CancelAction { task.cancel() }
  }
}
