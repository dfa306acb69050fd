import Futures

#if canImport(FoundationNetworking)
  import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// Whether a downloaded file was moved to its place, or must no longer be moved there.
///
/// A cancellation can come while the file is moved. Then the future succeeds, because the file has changed.
package final class StoredFile: Sendable {
  private enum State {
    /// Next is `stored` or `cancelled`.
    case pending
    /// Final.
    case stored(URLResponse)
    /// Final.
    case cancelled
  }

  private let state = Locked(State.pending)

  package init() {}

  /// Moves the file to its place.
  /// - Parameters:
  ///   - response: The response of the transfer.
  ///   - replace: Moves the file. It runs under the lock, so a cancellation waits for it.
  /// - Throws: The error of `replace`, or `CancellationError` after a cancellation.
  package func store(_ response: URLResponse, _ replace: () throws -> Void) throws {
    try state.withLock { state in
      Result<Void, any Error> {  // `withLock` passes no errors on
        if case .cancelled = state { throw CancellationError() }
        try replace()
        state = .stored(response)
      }
    }.get()
  }

  /// Makes a later `store` throw; called when the future is cancelled.
  /// - Returns: The response if the file is already in its place, so that the future succeeds; otherwise `nil`.
  package func cancel() -> URLResponse? {
    state.withLock { state in
      if case .stored(let response) = state { return response }
      state = .cancelled
      return nil
    }
  }
}

extension FileManager {
  /// A new name beside `file`.
  func neighbour(of file: URL) -> URL {
    file.deletingLastPathComponent().appendingPathComponent(".futures-\(UUID().uuidString)")
  }

  /// Replaces `destination` with `file` in one step, also from another volume.
  func replace(_ destination: URL, with file: URL) throws {
    let neighbour = neighbour(of: destination)
    defer { try? removeItem(at: neighbour) }  // still there only after an error
    try moveItem(at: file, to: neighbour)  // a move from another volume copies; `destination` is not touched yet
    try replace(destination, withNeighbour: neighbour)
  }

  /// Replaces `destination` with `file` of the same folder.
  func replace(_ destination: URL, withNeighbour file: URL) throws {
    guard rename(file.path, destination.path) == 0 else {
      throw CocoaError.posix(errno, .fileWriteUnknown, at: destination)
    }
  }
}
