import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A downloader as written before async/await: a session delegate inside, and closures outside.
///
/// It does not use futures. `Downloader+Futures.swift` wraps it, and `Downloader+Async.swift` awaits it.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class LegacyDownloader: Sendable {
  /// Called with the received bytes, and the total if the server has sent it.
  typealias Progress = @Sendable (_ received: Int64, _ expected: Int64?) -> Void

  /// Called once, at the end.
  typealias Completion = @Sendable (Result<DownloadedFile, any Error>) -> Void

  /// A handle that cancels a download.
  struct Handle: Sendable {
    fileprivate let stop: @Sendable () -> Void

    /// Stops the download: its completion gets `DownloadError.cancelled`, and its partial file is removed.
    func cancel() {
      stop()
    }
  }

  private let delegate: SessionDelegate
  private let session: URLSession

  init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    delegate = SessionDelegate()
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  deinit {
    session.finishTasksAndInvalidate()
  }

  /// Downloads `url` to the file `destination`, which must not exist yet.
  ///
  /// It writes the body to a file beside it, with the extension `part`. At the end it renames that file, or removes it after
  /// a failure. Both closures run on a background queue.
  @discardableResult
  func download(
    _ url: URL,
    to destination: URL,
    progress: Progress? = nil,
    completion: @escaping Completion
  ) -> Handle {
    var request = URLRequest(url: url)
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    let task = session.dataTask(with: request)
    session.delegateQueue.addOperation { [delegate] in
      delegate.start(task, Transfer(of: url, to: destination, progress: progress, completion: completion))
    }
    return Handle { [delegate, session] in
      session.delegateQueue.addOperation { delegate.fail(task, DownloadError.cancelled) }
    }
  }

  /// Calls `completion` when all earlier calls of `download` and `cancel` have been carried out.
  func whenSettled(_ completion: @escaping @Sendable () -> Void) {
    session.delegateQueue.addOperation(completion)
  }
}

/// Passes the events of a session to the transfer they belong to.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
// @unchecked Sendable: only the session's delegate queue uses its variables, and it is serial.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private var running: [URLSessionTask: Transfer] = [:]
  func start(_ task: URLSessionTask, _ transfer: Transfer) {
    running[task] = transfer
    task.resume()
  }

  /// Ends a transfer at once.
  ///
  /// Later events of its task are ignored.
  func fail(_ task: URLSessionTask, _ error: any Error) {
    guard let transfer = running.removeValue(forKey: task) else { return }
    task.cancel()
    transfer.finish(error)
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    attempt(dataTask) { transfer in try transfer.open(response) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    attempt(dataTask) { transfer in try transfer.write(data) }
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    running.removeValue(forKey: task)?.finish(error)
  }

  /// Performs one step of a transfer.
  ///
  /// If the step throws, the transfer fails.
  private func attempt(_ task: URLSessionTask, _ step: (Transfer) throws -> Void) {
    do {
      if let transfer = running[task] { try step(transfer) }
    } catch {
      fail(task, error)
    }
  }
}
