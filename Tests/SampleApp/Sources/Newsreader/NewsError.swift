import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

enum NewsError: Error, Equatable {
  case status(Int)
  case malformed
  case offline
  case timedOut
  case cancelled
  case unanswered

  init(_ error: any Error) {
    switch error {
    case let error as NewsError: self = error
    case let error as URLError where error.code == .cancelled: self = .cancelled
    default: self = .offline
    }
  }
}
