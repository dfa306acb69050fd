import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A downloader as written before async/await: a session delegate inside, and closures outside.
///
/// The downloader does not use futures. `Downloader+Futures.swift` wraps it, and `Downloader+Async.swift` awaits it.
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
  /// Writes the body to a partial file: `destination` with the extension `part`. At the end renames the partial file,
  /// or removes it after a failure. Both closures run on a background queue.
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
// @unchecked Sendable: only the session's delegate queue, which is serial, uses the variables.
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

/// A complete file.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct DownloadedFile: Sendable {
  let location: URL
  let byteCount: Int64
  let duration: Duration
}

/// One download of the legacy layer: the partial file, the received bytes, and the callbacks.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
final class Transfer {
  private let url: URL
  private let destination: URL
  private let partialFile: URL
  private let progress: LegacyDownloader.Progress?
  private let completion: LegacyDownloader.Completion

  private let start = ContinuousClock.now
  private var output: FileHandle?
  private var received: Int64 = 0
  private var expected: Int64?

  init(
    of url: URL,
    to destination: URL,
    progress: LegacyDownloader.Progress?,
    completion: @escaping LegacyDownloader.Completion
  ) {
    self.url = url
    self.destination = destination
    self.partialFile = destination.appendingPathExtension("part")
    self.progress = progress
    self.completion = completion
  }

  /// Checks the head of the response, and creates the file for its body.
  func open(_ response: URLResponse) throws {
    guard let response = response as? HTTPURLResponse else { throw DownloadError.notHTTP }
    guard (200...299).contains(response.statusCode) else { throw DownloadError.status(response.statusCode) }
    // The length of a compressed body is not the length of the file.
    let isEncoded = response.value(forHTTPHeaderField: "Content-Encoding").map { $0 != "identity" } ?? false
    expected = response.expectedContentLength < 0 || isEncoded ? nil : response.expectedContentLength
    try wrappingFileErrors {
      try Data().write(to: partialFile, options: .withoutOverwriting)
      output = try FileHandle(forWritingTo: partialFile)
    }
  }

  /// Appends bytes of the body to the partial file.
  func write(_ data: Data) throws {
    try wrappingFileErrors { try output?.write(contentsOf: data) }
    received += Int64(data.count)
    progress?(received, expected)
  }

  /// Ends the transfer: renames or removes the partial file, and calls the completion.
  func finish(_ error: (any Error)?) {
    do {
      try seal(error)
      let duration = ContinuousClock.now - start
      completion(.success(DownloadedFile(location: destination, byteCount: received, duration: duration)))
    } catch {
      if let output {
        try? output.close()
        try? FileManager.default.removeItem(at: partialFile)
      }
      completion(.failure(error))
    }
  }

  private func seal(_ error: (any Error)?) throws {
    if let error { throw reason(for: error) }
    guard let output else { throw DownloadError.notHTTP }
    guard received == expected ?? received else { throw DownloadError.cut(received: received, expected: expected) }
    try wrappingFileErrors {
      try output.close()
      try FileManager.default.moveItem(at: partialFile, to: destination)
    }
  }

  /// The error for the user, instead of the session's error.
  private func reason(for error: any Error) -> DownloadError {
    if let error = error as? DownloadError { return error }
    switch (error as? URLError)?.code {
    case .cancelled: return .cancelled
    case .timedOut: return .timedOut
    case .badServerResponse, .unsupportedURL: return .notHTTP
    case .cannotFindHost: return .unknownHost(url.host() ?? "")
    case .cannotConnectToHost: return .refused(host: url.host() ?? "", port: url.port)
    case _ where output != nil: return .cut(received: received, expected: expected)
    default: return .network(error.localizedDescription)
    }
  }

  private func wrappingFileErrors(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
      let code = cause?.domain == NSPOSIXErrorDomain ? cause?.code : nil
      throw DownloadError.file(code.map { String(cString: strerror(Int32($0))) } ?? error.localizedDescription)
    }
  }
}
