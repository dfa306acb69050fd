import Foundation
import ProgramSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

extension LoopbackServer {
  /// A request for `path`.
  func request(_ path: String = "/", method: String = "GET") -> URLRequest {
    var request = URLRequest(url: url(path))
    request.httpMethod = method
    // Foundation's default of a minute is too short when a sanitizer runs other tests at the same time. This limit only
    // ends hangs.
    request.timeoutInterval = 1_200
    return request
  }
}
