public import Foundation
public import Futures

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// Transfers are those of `URLSession`'s own async functions, which alone report to a delegate of one transfer on all platforms,
// so that the session stays the user's, with its connections, its cookies and its delegate.

extension URLSession {
  /// Sends a request, and gathers the body of the response.
  ///
  /// ```swift
  /// let (data, response) = try await session.dataFuture(for: request).value
  /// ```
  ///
  /// Its progress counts the received bytes of the body; the total is what the server said, `nil` if it did not. A response
  /// that tells of a failure, as 404 does, is a response.
  ///
  /// Cancellation, future to transfer: cancelling the future stops the transfer, and fails the future at once with
  /// `CancellationError`. Transfer to future: a transfer that the session cancels fails it with `URLError`, code `.cancelled`.
  ///
  /// Cost: that of a task, and of the transfer. Callbacks run on threads of Swift's or Dispatch's pool unless they say where.
  /// - Parameter request: What to send.
  /// - Returns: A future of the body and the response, which fails with `URLError`. The transfer has begun.
  public func dataFuture(for request: URLRequest) -> Future<(Data, URLResponse), any Error> {
    transfer(.receiving) { observer in try await self.data(for: request, delegate: observer) }
  }

  /// Sends a request, and stores the body of the response in a file.
  ///
  /// What is at `destination` is replaced, in one step, when all has come; a transfer that fails or is cancelled before leaves
  /// it alone. The folder must be there. A response that tells of a failure, as 404 does, is a response, and its body is stored.
  ///
  /// Its progress counts the received bytes of the body; the total is what the server said, `nil` if it did not.
  ///
  /// Cancellation, future to transfer: cancelling the future stops the transfer, and fails the future at once with
  /// `CancellationError`. Transfer to future: a transfer that the session cancels fails it with `URLError`, code `.cancelled`;
  /// on Linux invalidating this session does not reach the download, which has a session of its own there, with the same
  /// configuration and the same answers to challenges and redirections.
  ///
  /// Cost: that of a task, and of the transfer. Callbacks run on threads of Swift's or Dispatch's pool unless they say where.
  /// - Parameters:
  ///   - request: What to send.
  ///   - destination: Where to store the body.
  /// - Returns: A future of the response, which fails with `URLError`, or with the error of storing the file. The transfer has
  ///   begun.
  public func downloadFuture(for request: URLRequest, to destination: URL) -> Future<URLResponse, any Error> {
    #if canImport(ObjectiveC)
      transfer(.receiving) { observer in
        let (file, response) = try await self.download(for: request, delegate: observer)
        defer { try? FileManager.default.removeItem(at: file) }  // where it was not moved
        try Task.checkCancellation()
        try FileManager.default.replace(destination, with: file)
        return response
      }
    #else
      Future { promise in Download(promise, to: destination, for: self).start(request) }
    #endif
  }

  /// Sends a request with a body, and gathers the body of the response.
  ///
  /// Its progress counts the sent bytes of the body.
  ///
  /// Cancellation, future to transfer: cancelling the future stops the transfer, and fails the future at once with
  /// `CancellationError`. Transfer to future: a transfer that the session cancels fails it with `URLError`, code `.cancelled`.
  ///
  /// Cost: that of a task, and of the transfer. Callbacks run on threads of Swift's or Dispatch's pool unless they say where.
  /// - Parameters:
  ///   - request: What to send; its method is not set by this, and is often `POST` or `PUT`.
  ///   - body: The body to send.
  /// - Returns: A future of the response's body and the response, which fails with `URLError`. The transfer has begun.
  public func uploadFuture(for request: URLRequest, from body: Data) -> Future<(Data, URLResponse), any Error> {
    transfer(.sending) { observer in try await self.upload(for: request, from: body, delegate: observer) }
  }

  /// Starts a task for a transfer, whose future reports progress and stops it.
  private func transfer<Value: Sendable>(
    _ direction: TransferObserver.Direction,
    _ run: @escaping @Sendable (TransferObserver) async throws -> Value
  ) -> Future<Value, any Error> {
    Future { promise in
      let observer = TransferObserver(direction, reporter: promise.progress)
      let task = Task {
        do {
          promise.resolveFromTask(.success(try await run(observer)))
        } catch {
          promise.resolveFromTask(.failure(error))
        }
      }
      promise.onCancel { task.cancel() }
      promise.setProducer(task: task)
    }
  }
}

/// Reports the bytes of one transfer.
private final class TransferObserver: NSObject, URLSessionDataDelegate, Sendable {
  enum Direction { case sending, receiving }

  private let direction: Direction
  private let reporter: Futures.ProgressReporter

  #if canImport(ObjectiveC)
    private let observation = Locked<NSKeyValueObservation?>(nil)
  #else
    private let received = Locked<Int64>(0)
  #endif

  init(_ direction: Direction, reporter: Futures.ProgressReporter) {
    self.direction = direction
    self.reporter = reporter
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didSendBodyData bytesSent: Int64,
    totalBytesSent: Int64,
    totalBytesExpectedToSend: Int64
  ) {
    guard direction == .sending else { return }
    report(totalBytesSent, of: totalBytesExpectedToSend)
  }

  #if canImport(ObjectiveC)
    // The async functions tell their delegate nothing of the data; the task itself can be observed.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
      guard direction == .receiving else { return }
      observation.withLock {
        $0 = task.observe(\.countOfBytesReceived) { [weak self] task, _ in
          self?.report(task.countOfBytesReceived, of: task.countOfBytesExpectedToReceive)
        }
      }
    }
  #else
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard direction == .receiving else { return }
      let count = received.withLock { received in
        received += Int64(data.count)
        return received
      }
      report(count, of: dataTask.countOfBytesExpectedToReceive)
    }
  #endif

  private func report(_ count: Int64, of total: Int64) {
    reporter.report(completed: count, of: total > 0 ? total : nil)
  }
}

#if !canImport(ObjectiveC)
  /// A download in a session of its own, with the same configuration, as whose delegate it hears of the bytes.
  ///
  /// Foundation for Linux writes each byte twice where the async function has a delegate that hears of them.
  private final class Download: NSObject, URLSessionDownloadDelegate {
    private let promise: Promise<URLResponse, any Error>
    private let destination: URL

    /// Whose delegate answers questions.
    private let original: URLSession

    /// Why the file could not be stored.
    private let storingError = Locked<(any Error)?>(nil)

    init(_ promise: Promise<URLResponse, any Error>, to destination: URL, for original: URLSession) {
      self.promise = promise
      self.destination = destination
      self.original = original
    }

    func start(_ request: URLRequest) {
      // The session keeps this object until it is invalidated, which it is when the transfer has ended.
      let session = URLSession(configuration: original.configuration, delegate: self, delegateQueue: nil)
      let task = session.downloadTask(with: request)
      session.finishTasksAndInvalidate()
      task.resume()
      promise.onCancel { task.cancel() }
    }

    func urlSession(
      _ session: URLSession,
      downloadTask: URLSessionDownloadTask,
      didWriteData bytesWritten: Int64,
      totalBytesWritten: Int64,
      totalBytesExpectedToWrite: Int64
    ) {
      let total = totalBytesExpectedToWrite
      promise.progress.report(completed: totalBytesWritten, of: total > 0 ? total : nil)
    }

    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
      guard !promise.isResolved else { return }
      do {
        try FileManager.default.replace(destination, with: location)
      } catch {
        storingError.withLock { $0 = error }
      }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      if let error = error ?? storingError.withLock({ $0 }) {
        promise.fail(error)
      } else if let response = task.response {
        promise.succeed(response)
      } else {
        promise.fail(URLError(.badServerResponse))
      }
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let delegate = original.delegate as? any URLSessionTaskDelegate else {
        return completionHandler(.performDefaultHandling, nil)
      }
      delegate.urlSession(original, task: task, didReceive: challenge, completionHandler: completionHandler)
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      guard let delegate = original.delegate as? any URLSessionTaskDelegate else { return completionHandler(request) }
      delegate.urlSession(
        original,
        task: task,
        willPerformHTTPRedirection: response,
        newRequest: request,
        completionHandler: completionHandler
      )
    }
  }
#endif

extension FileManager {
  /// Moves `file` to `destination`, in whose place it comes in one step, also from another volume.
  fileprivate func replace(_ destination: URL, with file: URL) throws {
    let name = ".\(destination.lastPathComponent).\(UUID().uuidString)"
    let neighbour = destination.deletingLastPathComponent().appendingPathComponent(name)
    try moveItem(at: file, to: neighbour)
    guard rename(neighbour.path, destination.path) != 0 else { return }
    let code = errno
    try? removeItem(at: neighbour)
    throw CocoaError(
      .fileWriteUnknown,
      userInfo: [
        NSFilePathErrorKey: destination.path,
        NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(code)),
      ]
    )
  }
}
