import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A downloader as written before async/await: a session delegate inside, and closures outside.
///
/// It does not use futures; `Downloader+Futures.swift` wraps it.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class LegacyDownloader: Sendable {
  /// Called with the received bytes, and the total if the server has sent it.
  typealias Progress = @Sendable (_ received: Int64, _ expected: Int64?) -> Void

  /// Called once, at the end.
  typealias Completion = @Sendable (Result<DownloadedFile, any Error>) -> Void

  /// Cancels a download.
  struct Handle: Sendable {
    fileprivate let stop: @Sendable () -> Void

    /// Stops the download: its completion gets a `CancellationError`.
    func cancel() { stop() }
  }

  private let delegate = SessionDelegate()
  private let session: URLSession

  init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil  // each download comes from the server
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  deinit {
    session.finishTasksAndInvalidate()  // otherwise the session keeps its delegate forever
  }

  /// Downloads `url` into memory; both closures run on the delegate queue, which also protects the state of the download.
  @discardableResult
  func download(_ url: URL, progress: @escaping Progress, completion: @escaping Completion) -> Handle {
    let task = session.dataTask(with: url)
    session.delegateQueue.addOperation { [delegate] in
      delegate.start(task, Transfer(progress: progress, completion: completion))
    }
    return Handle { [delegate, session] in
      session.delegateQueue.addOperation { delegate.end(task, CancellationError()) }
    }
  }
}

/// The bytes of a file, and the time that they took.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct DownloadedFile: Sendable {
  let content: Data
  let duration: Duration
}

/// The received bytes of one download, and its callbacks.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
private struct Transfer {
  let progress: LegacyDownloader.Progress
  let completion: LegacyDownloader.Completion
  let start = ContinuousClock.now
  var content = Data()
}

/// Passes the events of a session to the transfer they belong to.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
// @unchecked Sendable: only the session's delegate queue, which is serial, uses the variables.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  private var running: [URLSessionTask: Transfer] = [:]

  /// Starts a task, whose events go to `transfer`.
  func start(_ task: URLSessionTask, _ transfer: Transfer) {
    running[task] = transfer
    task.resume()
  }

  /// Ends a transfer with `error`, or with its bytes if `error` is `nil`; later events of the transfer are ignored.
  func end(_ task: URLSessionTask, _ error: (any Error)?) {
    guard let transfer = running.removeValue(forKey: task) else { return }
    task.cancel()  // has no effect on a task that has ended
    if let error { return transfer.completion(.failure(error)) }
    let file = DownloadedFile(content: transfer.content, duration: .now - transfer.start)
    transfer.completion(.success(file))
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    running[dataTask]?.content.append(data)  // in place: to append to a copy would copy all bytes
    guard let transfer = running[dataTask] else { return }  // it has ended
    let expected = dataTask.countOfBytesExpectedToReceive
    transfer.progress(Int64(transfer.content.count), expected < 0 ? nil : expected)
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    end(task, error)
  }
}
