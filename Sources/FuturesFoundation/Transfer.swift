#if !canImport(ObjectiveC)
  import Foundation
  import FoundationNetworking
  import Futures

  /// The bytes of a response, while they arrive.
  protocol ResponseBody: SendableMetatype {
    associatedtype Value: Sendable

    mutating func append(_ data: Data) throws  // an error stops the transfer

    /// Called with the response after the last byte; returns the value of the transfer.
    mutating func finish(_ response: URLResponse) throws -> Value

    /// Called if the transfer fails, also after `finish` has thrown.
    mutating func discard()
  }

  /// A transfer with a session of its own, as the delegate of that session.
  ///
  /// Q: Why not the async functions? A: On Linux `cancel()` can block for ever. The cancellation of a task waits for the queue of
  /// Foundation, under the lock of the task's status. On that queue Foundation resumes a task, which waits for the same lock.
  ///
  /// Q: Why not a task of the user's session? A: On Linux only the delegate of the session gets the bytes of a task as they arrive.
  final class Transfer<Body: ResponseBody>: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // @unchecked: only the delegate queue of the session uses `body`, `received` and `bodyError`, and it is serial. `task` is set
    // once, before another thread can stop the transfer, and `representative` before the transfer can end.
    enum Direction { case sending, receiving }

    private let promise: Promise<Body.Value, any Error>
    private var body: Body
    private let direction: Direction

    /// The user's session.
    ///
    /// Its delegate answers challenges and redirections.
    private let original: URLSession

    private var received: Int64 = 0
    private var bodyError: (any Error)?
    private let isStopped = Locked(false)
    private var task: URLSessionTask?
    private var representative: URLSessionTask?

    /// Prepares a transfer, which resolves `promise`; the progress counts the bytes of `direction`.
    init(_ promise: Promise<Body.Value, any Error>, _ body: Body, _ direction: Direction, for original: URLSession) {
      self.promise = promise
      self.body = body
      self.direction = direction
      self.original = original
    }

    /// Starts the transfer.
    /// - Parameters:
    ///   - valueIfDone: Called by a cancellation. Returns the value if it is too late to stop the transfer.
    ///   - makeTask: Makes the task of the transfer in the given session.
    func start(
      valueIfDone: @escaping @Sendable () -> Body.Value? = { nil },
      _ makeTask: (URLSession) -> URLSessionTask
    ) {
      // The session keeps this object. `finishTasksAndInvalidate` makes it release the object after its one task.
      let session = URLSession(
        configuration: original.transferConfiguration,
        delegate: self,
        delegateQueue: TransferQueue()
      )
      let task = makeTask(session)
      self.task = task
      session.finishTasksAndInvalidate()
      // A task of the user's session, which never starts. If that session is invalidated, it cancels this task, which stops the
      // transfer. It is a download task, because Foundation would search the cache for a data task.
      isStopped.withLock { _ in  // `stop` waits for this lock, so `representative` is set before the transfer can end
        representative = original.downloadTask(with: URL(string: "data:,")!) { [weak self] _, _, _ in self?.stop() }
      }
      task.resume()
      promise.onCancel { [weak self] in
        guard let self else { return }
        if let value = valueIfDone() { promise.succeed(value) } else { stop() }
      }
    }

    /// Stops the transfer, which then completes with an error; has no effect after its end.
    private func stop() {
      isStopped.withLock { $0 = true }  // `answerUnlessStopped` then calls nothing any more
      // Not on this thread: `cancel()` waits for the queue of Foundation. A server that sends single bytes can keep it busy for
      // seconds.
      transferStops.async { [task] in task?.cancel() }
    }

    /// Calls `answer`, which calls a completion handler of Foundation, unless the transfer has stopped.
    ///
    /// Foundation for Linux traps if such a call follows a cancellation. So `answer` runs under the lock, for which `stop` waits.
    private func answerUnlessStopped(_ answer: () -> Void) {
      isStopped.withLock { if !$0 { answer() } }
    }

    // MARK: Called by the session, on its delegate queue

    /// Adds bytes to the body; stops the transfer if the body refuses them or the future was cancelled.
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      guard bodyError == nil else { return }  // the transfer is being stopped
      do {
        try promise.cancellationToken.throwIfCancelled()  // a stop takes time, so bytes can still come
        try body.append(data)
      } catch {
        bodyError = error
        return stop()
      }
      guard direction == .receiving else { return }
      received += Int64(data.count)
      promise.progress.report(received, ofExpected: dataTask.countOfBytesExpectedToReceive)
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      didSendBodyData bytesSent: Int64,
      totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      guard direction == .sending else { return }
      promise.progress.report(totalBytesSent, ofExpected: totalBytesExpectedToSend)
    }

    /// Resolves the promise; if an error of the body has stopped the task, the promise fails with that error.
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      representative?.cancel()  // this task of the user's session never starts, so that session would keep it
      do {
        if let error = bodyError ?? error { throw error }
        try promise.cancellationToken.throwIfCancelled()  // a cancelled download stores nothing
        guard let response = task.response else { throw URLError(.badServerResponse) }
        promise.succeed(try body.finish(response))
      } catch {
        body.discard()
        promise.fail(error)
      }
    }

    /// Passes the challenge to the user's delegate, on the delegate's queue; without a delegate, Foundation handles it.
    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      guard let delegate = original.delegate as? any URLSessionTaskDelegate else {
        return answerUnlessStopped { completionHandler(.performDefaultHandling, nil) }
      }
      original.delegateQueue.addOperation { [self] in
        delegate.urlSession(original, task: task, didReceive: challenge) { disposition, credential in
          self.answerUnlessStopped { completionHandler(disposition, credential) }  // a call after a stop would trap
        }
      }
    }

    /// Passes the new request and the cookies for its URL to the user's delegate, on its queue; without a delegate, follows it.
    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      let request = session.configuration.settingCookies(of: request, from: response.url)
      guard let delegate = original.delegate as? any URLSessionTaskDelegate else {
        return answerUnlessStopped { completionHandler(request) }
      }
      original.delegateQueue.addOperation { [self] in
        delegate.urlSession(original, task: task, willPerformHTTPRedirection: response, newRequest: request) {
          request in
          self.answerUnlessStopped { completionHandler(request) }
        }
      }
    }
  }

  /// The delegate queue of a transfer, which runs blocks without making operations of them.
  ///
  /// Foundation for Linux adds a block for each chunk of a response. Without an operation for each, a response that arrives in single
  /// bytes takes half as much processor time.
  private final class TransferQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "futures.transfer")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }
  }

  /// Stops transfers, one after another: each stop waits for the one queue that Foundation has for all sessions.
  private let transferStops = DispatchQueue(label: "futures.transfer-stops")

  /// A body that is collected in memory.
  struct CollectedBody: ResponseBody {
    private var data = Data()

    mutating func append(_ data: Data) { self.data.append(data) }

    func finish(_ response: URLResponse) -> (Data, URLResponse) { (data, response) }

    func discard() {}
  }

  /// The flags of a file that other processes do not inherit, and whose bytes the C library does not change.
  #if os(Windows)
    private let uninheritedFlags = _O_NOINHERIT | _O_BINARY
  #else
    private let uninheritedFlags = O_CLOEXEC
  #endif

  /// A body that is stored in a file.
  ///
  /// Q: Why not a download task? A: On Linux it writes each byte twice if its delegate receives data, and leaves the file of a
  /// cancelled download.
  struct StoredBody: ResponseBody {
    private let destination: URL
    private let stored: StoredFile  // its `store` throws if the future was cancelled before
    private let validate: @Sendable (URLResponse) throws -> Void  // throws if the file must not be stored

    /// The path of the file for the bytes until all have arrived; the file exists if `file` is not `nil`.
    private let neighbour: URL
    private var file: FileHandle?

    init(
      to destination: URL,
      _ stored: StoredFile,
      validating validate: @escaping @Sendable (URLResponse) throws -> Void
    ) {
      self.destination = destination
      self.stored = stored
      self.validate = validate
      neighbour = FileManager.default.neighbour(of: destination)
    }

    mutating func append(_ data: Data) throws { try openFile().write(contentsOf: data) }

    mutating func finish(_ response: URLResponse) throws -> URLResponse {
      try openFile().close()  // opens it if the body is empty
      try validate(response)
      try stored.store(response) { try FileManager.default.replace(destination, withNeighbour: neighbour) }
      return response
    }

    func discard() {
      guard let file else { return }
      try? file.close()
      try? FileManager.default.removeItem(at: neighbour)
    }

    /// Returns the file for the bytes, which the first call creates.
    ///
    /// Called on the delegate queue, so the caller of `downloadFuture` does no file work.
    private mutating func openFile() throws -> FileHandle {
      if let file { return file }
      // Opens and creates in one step, so a failure leaves no file.
      let descriptor = unsafe open(neighbour.path, O_WRONLY | O_CREAT | O_EXCL | uninheritedFlags, 0o666)
      guard descriptor >= 0 else { throw CocoaError.posix(errno, .fileWriteUnknown, at: destination) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      self.file = file
      return file
    }
  }

  extension URLSession {
    /// The configuration for a session of one transfer.
    fileprivate var transferConfiguration: URLSessionConfiguration {
      // `URLSession` for Linux returns its own configuration, although its documentation says that it returns a copy.
      guard let copy = configuration.copy() as? URLSessionConfiguration else { return configuration }
      // Foundation for Linux crashes if a task of a session with a cache is cancelled while it searches the cache.
      copy.urlCache = nil
      return copy
    }
  }

  extension URLSessionConfiguration {
    /// Returns `request`, which follows a redirection from `previous`, with the cookies for its URL, if any are stored.
    ///
    /// Foundation for Linux adds them only if the session has no delegate, and sends those of `previous` even to another host.
    fileprivate func settingCookies(of request: URLRequest, from previous: URL?) -> URLRequest {
      var request = request
      if request.url?.host != previous?.host { request.setValue(nil, forHTTPHeaderField: "Cookie") }
      if httpShouldSetCookies, let url = request.url, let cookies = httpCookieStorage?.cookies(for: url),
        !cookies.isEmpty
      {
        request.setValue(HTTPCookie.requestHeaderFields(with: cookies)["Cookie"], forHTTPHeaderField: "Cookie")
      }
      return request
    }
  }
#endif
