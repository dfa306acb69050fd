import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The reason of a failed download, as text after "failed: ".
enum DownloadError: Error, CustomStringConvertible {
  case cancelled
  case cut(received: Int64, expected: Int64?)
  case file(String)
  case network(String)
  case notHTTP
  case refused(host: String, port: Int?)
  case status(Int)
  case timedOut
  case unknownHost(String)

  var description: String {
    switch self {
    case .cancelled: "cancelled"
    case .cut(let received, let expected?):
      "the connection was cut after \(grouped(received)) of \(grouped(expected)) bytes"
    case .cut(let received, nil): "the connection was cut after \(grouped(received)) bytes"
    case .file(let reason): "the file could not be written: \(reason)"
    case .network(let reason): reason
    case .notHTTP: "the server gave no valid HTTP response"
    case .refused(let host, let port?): "connection refused by \(host), port \(port)"
    case .refused(let host, nil): "connection refused by \(host)"
    case .status(let code): "the server answered \(code) (\(HTTPURLResponse.localizedString(forStatusCode: code)))"
    case .timedOut: "the server did not answer in time"
    case .unknownHost(let host): "no server named \(host) was found"
    }
  }
}
