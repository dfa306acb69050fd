import Dispatch
import Foundation

/// Recordings that come with articles: fetched in pieces, kept on the disk.
struct Enclosures: Sendable {
  let client: HTTPClient
  let disk: any Disk

  /// Reports fractions, and then the name of the file; removes an incomplete file after every ending.
  @discardableResult
  func download(
    _ name: String,
    progress: @escaping @Sendable (Double) -> Void,
    completion: @escaping Completion<String>
  ) -> any Cancellable {
    let requests = CancelBag()
    let part = name + ".part"

    @Sendable func finish(_ result: Result<String, any Error>) {
      disk.remove(part)
      completion(result)
    }

    @Sendable func fetch(from start: Int) {
      let request = client.get("enclosure/\(name)", from: start) { response, error in
        guard let response else { return finish(.failure(error ?? NewsError.offline)) }
        let end = start + response.body.count
        do {
          try disk.append(response.body, to: part)
          progress(Double(end) / Double(response.total))
          if end < response.total { return fetch(from: end) }
          try disk.rename(part, to: name)
          finish(.success(name))
        } catch {
          finish(.failure(error))
        }
      }
      requests.add(request)
    }

    fetch(from: 0)
    return requests
  }

  /// Reads the downloaded file, on a thread that can block.
  func saved(_ name: String, completion: @escaping @Sendable (Data?, (any Error)?) -> Void) {
    DispatchQueue.global().async {
      do { completion(try disk.read(name), nil) } catch { completion(nil, error) }
    }
  }
}
