public import Foundation
public import Futures

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// Transfers use the async functions of `URLSession`, except downloads on Linux. Only these functions report to a delegate of one
// transfer on all platforms. So the user's session keeps its connections, cookies and delegate.
// Foundation traps if the session was invalidated, as for its own functions.

extension URLSession {
  /// Sends a request, and collects the body of the response.
  ///
  /// ```swift
  /// let (data, response) = try await session.dataFuture(for: request).value
  /// ```
  ///
  /// The progress counts received bytes. The total is `nil` if the server does not send a length. A response with an error
  /// status, such as 404, is a success of the future.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. If the
  /// session cancels the transfer, the future fails with `URLError`, code `.cancelled`.
  ///
  /// Cost: a task, and the transfer. `.immediate` callbacks run on a thread of Swift's or Dispatch's pool.
  /// - Parameter request: The request.
  /// - Returns: A future of the body and the response. It fails with `URLError`. The transfer has started.
  public func dataFuture(for request: URLRequest) -> Future<(Data, URLResponse), any Error> {
    transfer(.receiving) { observer in try await self.data(for: request, delegate: observer) }
  }

  /// Sends a request, and stores the body of the response in a file.
  ///
  /// Replaces the file at `destination` in one step, after the last byte has arrived. A failed or cancelled transfer
  /// does not change that file, and leaves no other file. The calling thread does no file work. The folder must exist.
  /// The body of a response with an error status, such as 404, is stored too.
  ///
  /// The progress counts received bytes. The total is `nil` if the server does not send a length.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. If the
  /// session cancels the transfer, the future fails with `URLError`, code `.cancelled`. On Linux the download has a session of
  /// its own, which invalidating this session does not reach. It has the same configuration, and the same answers to
  /// challenges and redirections, but its own connections.
  ///
  /// Cost: a task, and the transfer. `.immediate` callbacks run on a thread of Swift's or Dispatch's pool.
  /// - Parameters:
  ///   - request: The request.
  ///   - destination: The file for the body.
  /// - Returns: A future of the response. It fails with `URLError`, or with the error of storing the file. The transfer has
  ///   started.
  public func downloadFuture(for request: URLRequest, to destination: URL) -> Future<URLResponse, any Error> {
    #if canImport(ObjectiveC)
      let stored = StoredFile()
      return transfer(.receiving, isDone: { stored.cancel() }) { observer in
        let (file, response) = try await self.download(for: request, delegate: observer)
        defer { try? FileManager.default.removeItem(at: file) }  // if it could not be moved
        try stored.store(response) { try FileManager.default.replace(destination, with: file) }
        return response
      }
    #else
      Future { promise in Download(promise, to: destination, for: self).start(request) }
    #endif
  }

  /// Sends a request with a body, and collects the body of the response.
  ///
  /// The progress counts sent bytes.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. If the
  /// session cancels the transfer, the future fails with `URLError`, code `.cancelled`.
  ///
  /// Cost: a task, and the transfer. `.immediate` callbacks run on a thread of Swift's or Dispatch's pool.
  /// - Parameters:
  ///   - request: The request. Set its method, often to `POST` or `PUT`.
  ///   - body: The body to send.
  /// - Returns: A future of the response's body and the response. It fails with `URLError`. The transfer has started.
  public func uploadFuture(for request: URLRequest, from body: Data) -> Future<(Data, URLResponse), any Error> {
    transfer(.sending) { observer in try await self.upload(for: request, from: body, delegate: observer) }
  }

  /// Starts a task for a transfer, and returns a future that reports its progress and can stop it.
  /// - Parameters:
  ///   - direction: The direction of the bytes that the progress counts.
  ///   - isDone: Called by a cancellation. Returns the value if it is too late to stop the transfer.
  ///   - run: The transfer.
  /// - Returns: The future of the transfer's value.
  private func transfer<Value: Sendable>(
    _ direction: TransferObserver.Direction,
    isDone: @escaping @Sendable () -> Value? = { nil },
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
      promise.onCancel { [weak promise] in
        if let value = isDone() { promise?.succeed(value) } else { task.cancel() }
      }
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
    reporter.report(totalBytesSent, ofExpected: totalBytesExpectedToSend)
  }

  #if canImport(ObjectiveC)
    // The async functions do not pass the data to their delegate, so this observes the task.
    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) {
      guard direction == .receiving else { return }
      let observation = task.observe(\.countOfBytesReceived) { [weak self] task, _ in
        self?.reporter.report(task.countOfBytesReceived, ofExpected: task.countOfBytesExpectedToReceive)
      }
      self.observation.withLock { $0 = observation }
    }
  #else
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard direction == .receiving else { return }
      let count = received.withLock { received in
        received += Int64(data.count)
        return received
      }
      reporter.report(count, ofExpected: dataTask.countOfBytesExpectedToReceive)
    }
  #endif
}

/// Whether a downloaded file is in its place, or must not be any more.
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
      Result<Void, any Error> {
        if case .cancelled = state { throw CancellationError() }
        try replace()
        state = .stored(response)
      }
    }.get()
  }

  /// Prevents `store`.
  /// - Returns: The response if the file is in its place.
  package func cancel() -> URLResponse? {
    state.withLock { state in
      if case .stored(let response) = state { return response }
      state = .cancelled
      return nil
    }
  }
}

extension Futures.ProgressReporter {
  /// Reports bytes.
  ///
  /// The total is unknown if Foundation expects none.
  fileprivate func report(_ count: Int64, ofExpected total: Int64) {
    report(completed: count, of: total > 0 ? total : nil)
  }
}

#if !canImport(ObjectiveC)
  /// A download with a session of its own, as the delegate of that session.
  ///
  /// Q: Why not the async function? A: On Linux it writes each byte twice if its delegate receives data, and leaves the file of a
  /// cancelled download.
  private final class Download: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // @unchecked: only the delegate queue of the session uses the variables, and it is serial.
    private let promise: Promise<URLResponse, any Error>
    private let destination: URL

    /// The file for the bytes until all have arrived.
    ///
    /// It exists if `file` is not `nil`.
    private let neighbour: URL
    private var file: FileHandle?

    /// The user's session.
    ///
    /// Its delegate answers challenges and redirections.
    private let original: URLSession

    private let stored = StoredFile()
    private var received: Int64 = 0
    private var storingError: (any Error)?

    init(_ promise: Promise<URLResponse, any Error>, to destination: URL, for original: URLSession) {
      self.promise = promise
      self.destination = destination
      self.original = original
      neighbour = FileManager.default.neighbour(of: destination)
    }

    func start(_ request: URLRequest) {
      // The session keeps this object until the transfer has ended.
      let configuration = original.configuration  // a copy
      // Foundation for Linux crashes if a task of a session with a cache is cancelled while it searches the cache.
      configuration.urlCache = nil
      let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
      let task = session.dataTask(with: request)
      session.finishTasksAndInvalidate()
      task.resume()
      promise.onCancel { [stored, weak promise] in
        if let response = stored.cancel() { promise?.succeed(response) } else { task.cancel() }
      }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard storingError == nil else { return }
      do {
        // A cancellation directly after the start does not reach the task.
        try promise.cancellationToken.throwIfCancelled()
        try openFile().write(contentsOf: data)
      } catch {
        storingError = error
        return dataTask.cancel()
      }
      received += Int64(data.count)
      promise.progress.report(received, ofExpected: dataTask.countOfBytesExpectedToReceive)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      do {
        if let error = storingError ?? error { throw error }
        try promise.cancellationToken.throwIfCancelled()
        guard let response = task.response else { throw URLError(.badServerResponse) }
        try openFile().close()
        try stored.store(response) { try FileManager.default.replace(destination, withNeighbour: neighbour) }
        promise.succeed(response)
      } catch {
        if let file {
          try? file.close()
          try? FileManager.default.removeItem(at: neighbour)
        }
        promise.fail(error)
      }
    }

    /// Returns the file for the bytes.
    ///
    /// The first call creates it on the delegate queue. So the caller of `downloadFuture` does no file work.
    private func openFile() throws -> FileHandle {
      if let file { return file }
      // Opens and creates in one step, so a failure leaves no file.
      let descriptor = unsafe open(neighbour.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw CocoaError.posix(errno, .fileWriteUnknown, at: destination) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      self.file = file
      return file
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
      original.delegateQueue.addOperation { [original] in
        delegate.urlSession(original, task: task, didReceive: challenge, completionHandler: completionHandler)
      }
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      guard let delegate = original.delegate as? any URLSessionTaskDelegate else { return completionHandler(request) }
      original.delegateQueue.addOperation { [original] in
        delegate.urlSession(
          original,
          task: task,
          willPerformHTTPRedirection: response,
          newRequest: request,
          completionHandler: completionHandler
        )
      }
    }
  }
#endif

extension FileManager {
  /// A new name beside `file`.
  fileprivate func neighbour(of file: URL) -> URL {
    file.deletingLastPathComponent().appendingPathComponent(".futures-\(UUID().uuidString)")
  }

  /// Replaces `destination` with `file` in one step, also from another volume.
  fileprivate func replace(_ destination: URL, with file: URL) throws {
    let neighbour = neighbour(of: destination)
    defer { try? removeItem(at: neighbour) }  // if it could not replace the destination
    try moveItem(at: file, to: neighbour)
    try replace(destination, withNeighbour: neighbour)
  }

  /// Replaces `destination` with `file` of the same folder.
  fileprivate func replace(_ destination: URL, withNeighbour file: URL) throws {
    guard rename(file.path, destination.path) == 0 else {
      throw CocoaError.posix(errno, .fileWriteUnknown, at: destination)
    }
  }
}
