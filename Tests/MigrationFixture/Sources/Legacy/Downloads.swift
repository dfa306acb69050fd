// Public for one function alone, which gets no counterpart.
public import Dispatch

/// Work that tells its progress, and work that can be cancelled.
public struct Downloads: Sendable {
  let backend: Backend

  public init(_ backend: Backend) { self.backend = backend }

  // MARK: - Progress

  /// Downloads a file.
  /// - Parameters:
  ///   - path: Where it is.
  ///   - progress: How far it is.
  ///   - completion: Gets the file.
  public func file(
    at path: String,
    progress: @escaping (Double) -> Void,
    completion: @escaping (Result<Picture, any Error>) -> Void
  ) {
    backend.ask(before: { progress(0.5) }) { completion($0.map { .failure($0) } ?? .success(Picture())) }
  }

  /// Downloads, and counts bytes.
  public func bytes(
    progressHandler: @escaping @Sendable (Int64, Int64) -> Void,
    completion: @escaping @Sendable (Picture?, (any Error)?) -> Void
  ) -> Job {
    backend.ask(before: { progressHandler(30, 40) }) { completion($0 == nil ? Picture() : nil, $0) }
  }

  /// Downloads, and may not know how much there is.
  public func items(
    onProgress: ((_ completed: Int, _ total: Int?) -> Void)? = nil,
    completion: @escaping ((any Error)?) -> Void
  ) {
    backend.ask(before: { onProgress?(3, 4) }) { completion($0) }
  }

  /// Waits on any number of queues.
  public func wait(on queues: DispatchQueue..., completion: @escaping () -> Void) {
    let count = queues.count
    backend.ask { _ in if count >= 0 { completion() } }
  }

  // MARK: - Handles

  /// Fetches something that can be cancelled.
  @discardableResult
  public func fetch(_ path: String, completion: @escaping (Result<Picture, any Error>) -> Void) -> Job {
    backend.ask(for: Picture(), completion)
  }

  /// Fetches, unless there is nothing to do.
  public func fetchIfNeeded(_ isNeeded: Bool, completion: @escaping (Result<Picture, any Error>) -> Void) -> Request? {
    let job = backend.ask(for: Picture(), completion)
    return isNeeded ? job : nil
  }

  /// Hands out a handle of which only the protocol is known.
  public func fetchAny(_ path: String, completion: @escaping (Result<Picture, any Error>) -> Void) -> any Cancelling {
    backend.ask(for: Picture(), completion)
  }

  /// Another name of a handle.
  public typealias Request = Job
}
