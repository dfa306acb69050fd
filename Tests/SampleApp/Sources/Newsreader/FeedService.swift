import Foundation
import Synchronization

struct Feed: Codable, Sendable {
  let title: String
  let headlines: [String]
}

/// Single feeds, and the front page of several feeds.
struct FeedService: Sendable {
  let client: HTTPClient

  @discardableResult
  func feed(_ id: Int, completion: @escaping @Sendable (Result<Feed, NewsError>) -> Void) -> any Cancellable {
    client.get("feed/\(id)") { response, error in
      guard let response else { return completion(.failure(NewsError(error ?? NewsError.offline))) }
      guard let feed = try? JSONDecoder().decode(Feed.self, from: response.body) else {
        return completion(.failure(.malformed))
      }
      completion(.success(feed))
    }
  }

  /// All feeds in the order of `ids`; the first failure stops the other requests.
  @discardableResult
  func frontPage(_ ids: [Int], completion: @escaping Completion<[Feed]>) -> any Cancellable {
    let requests = CancelBag()
    let once = Once(completion)
    let found = Mutex<[Int: Feed]>([:])
    if ids.isEmpty { once(.success([])) }
    for (place, id) in ids.enumerated() {
      let request = feed(id) { result in
        switch result {
        case .success(let feed):
          let feeds = found.withLock { found in
            found[place] = feed
            return ids.indices.compactMap { found[$0] }
          }
          if feeds.count == ids.count { once(.success(feeds)) }
        case .failure(let error):
          once(.failure(error))
          requests.cancel()
        }
      }
      requests.add(request)
    }
    return requests
  }
}
