public import Foundation
public import Futures

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

// No transfer uses a Swift task, or an async function of Foundation: see `Transfer`.
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
  /// On Linux each transfer has a session of its own. It has the configuration of this session, with the same storage of cookies
  /// and credentials. The delegate of this session answers challenges and redirections. Invalidating this session stops the
  /// transfer. The transfer has its own connection, and does not use the cache.
  ///
  /// Cost: the transfer; on Linux also a connection. `.immediate` callbacks run on the delegate queue: on Linux that of the
  /// transfer's session, elsewhere that of this session.
  /// - Returns: A future of the body and the response. It fails with `URLError`. The transfer has started.
  public func dataFuture(
    for request: URLRequest,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Future<(Data, URLResponse), any Error> {
    #if canImport(ObjectiveC)
      transfer(request, fileID, line, \.countOfBytesReceived, of: \.countOfBytesExpectedToReceive) { completion in
        dataTask(with: request) { completion.resolve($0, $1, $2) { ($0, $1) } }
      }
    #else
      Future(fileID: fileID, line: line) { promise in
        promise.describe(as: .request, request.title)
        Transfer(promise, CollectedBody(), .receiving, for: self).start { $0.dataTask(with: request) }
      }
    #endif
  }

  /// Sends a request, and stores the body of the response in a file, whatever its status.
  ///
  /// A response with an error status, such as 404, replaces the file too. To keep the file then, use
  /// `downloadFuture(for:to:validating:)`, which looks at the response first.
  ///
  /// Replaces the file at `destination` in one step, after the last byte has arrived. A failed or cancelled transfer
  /// does not change that file, and leaves no other file. The calling thread does no file work. The folder must exist.
  ///
  /// The progress counts received bytes. The total is `nil` if the server does not send a length.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. If the
  /// session cancels the transfer, the future fails with `URLError`, code `.cancelled`.
  ///
  /// On Linux the transfer has a session of its own, as in `dataFuture(for:)`.
  ///
  /// Cost: the transfer, and the file. `.immediate` callbacks run on the same queue as in `dataFuture(for:)`.
  /// - Returns: A future of the response. It fails with `URLError`, or with the error of storing the file. The transfer has
  ///   started.
  public func downloadFuture(
    for request: URLRequest,
    to destination: URL,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Future<URLResponse, any Error> {
    downloadFuture(for: request, to: destination, validating: { _ in }, fileID: fileID, line: line)
  }

  /// Sends a request, and stores the body in a file if `validate` accepts the response.
  ///
  /// For a file that only a good response may replace:
  ///
  /// ```swift
  /// let saved = session.downloadFuture(for: request, to: file) { response in
  ///   guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
  /// }
  /// ```
  ///
  /// `validate` runs once, after the last byte and before the file is moved, on the delegate queue of `dataFuture(for:)`.
  /// If it throws, the future fails with that error. The file at `destination` is untouched, and the body is removed.
  /// In all else it is as `downloadFuture(for:to:)`.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. The file is
  /// untouched. But if the file was stored before, the future succeeds, because a cancellation comes too late.
  /// - Returns: A future of the response. It fails with `URLError`, with the error of `validate`, or with the error of storing the
  ///   file. The transfer has started.
  public func downloadFuture(
    for request: URLRequest,
    to destination: URL,
    validating validate: @escaping @Sendable (URLResponse) throws -> Void,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Future<URLResponse, any Error> {
    let stored = StoredFile()  // if the file is in its place, a cancellation comes too late, and the future succeeds
    #if canImport(ObjectiveC)
      return transfer(
        request,
        fileID,
        line,
        \.countOfBytesReceived,
        of: \.countOfBytesExpectedToReceive,
        valueIfDone: { stored.cancel() }
      ) { completion in
        downloadTask(with: request) {
          completion.resolve($0, $1, $2) { file, response in
            defer { try? FileManager.default.removeItem(at: file) }  // if it could not be moved
            try validate(response)
            try stored.store(response) { try FileManager.default.replace(destination, with: file) }
            return response
          }
        }
      }
    #else
      return Future(fileID: fileID, line: line) { promise in
        promise.describe(as: .request, request.title)
        Transfer(promise, StoredBody(to: destination, stored, validating: validate), .receiving, for: self)
          .start(valueIfDone: { stored.cancel() }) { $0.dataTask(with: request) }  // a download task writes bytes twice
      }
    #endif
  }

  /// Sends a request with a body, and collects the body of the response.
  ///
  /// Set the method of the request, often to `POST` or `PUT`. The progress counts sent bytes.
  ///
  /// Cancellation: cancelling the future stops the transfer, and fails the future at once with `CancellationError`. If the
  /// session cancels the transfer, the future fails with `URLError`, code `.cancelled`.
  ///
  /// On Linux the transfer has a session of its own, as in `dataFuture(for:)`.
  ///
  /// Cost: the transfer; on Linux also a connection. `.immediate` callbacks run on the same queue as in `dataFuture(for:)`.
  /// - Returns: A future of the response's body and the response. It fails with `URLError`. The transfer has started.
  public func uploadFuture(
    for request: URLRequest,
    from body: Data,
    fileID: StaticString = #fileID,
    line: UInt = #line
  ) -> Future<(Data, URLResponse), any Error> {
    #if canImport(ObjectiveC)
      transfer(request, fileID, line, \.countOfBytesSent, of: \.countOfBytesExpectedToSend) { completion in
        uploadTask(with: request, from: body) { completion.resolve($0, $1, $2) { ($0, $1) } }
      }
    #else
      Future(fileID: fileID, line: line) { promise in
        promise.describe(as: .request, request.title)
        Transfer(promise, CollectedBody(), .sending, for: self).start { $0.uploadTask(with: request, from: body) }
      }
    #endif
  }
}

#if canImport(ObjectiveC)
  extension URLSession {
    /// Starts the task of `makeTask`, and returns a future that its completion resolves, and whose cancellation stops the task.
    ///
    /// The progress reports the bytes `count` of `total`. A cancellation calls `valueIfDone`, which returns the value if it is too
    /// late to stop the transfer.
    private func transfer<Value: Sendable>(
      _ request: URLRequest,
      _ fileID: StaticString,
      _ line: UInt,
      _ count: any KeyPath<URLSessionTask, Int64> & Sendable,
      of total: any KeyPath<URLSessionTask, Int64> & Sendable,
      valueIfDone: @escaping @Sendable () -> Value? = { nil },
      _ makeTask: (TransferCompletion<Value>) -> URLSessionTask
    ) -> Future<Value, any Error> {
      Future(fileID: fileID, line: line) { promise in
        promise.describe(as: .request, request.title)
        let completion = TransferCompletion(promise)
        let task = makeTask(completion)
        completion.observe(task, count, of: total)
        task.resume()
        promise.onCancel { [weak promise] in  // weak: the promise owns the handler
          if let value = valueIfDone() { promise?.succeed(value) } else { task.cancel() }
        }
      }
    }
  }

  /// The completion handler of a task, and the observation of its progress.
  private final class TransferCompletion<Value: Sendable>: Sendable {
    private let promise: Promise<Value, any Error>
    private let observation = Locked<NSKeyValueObservation?>(nil)

    init(_ promise: Promise<Value, any Error>) { self.promise = promise }

    /// Begins to report the bytes of `task`.
    ///
    /// Call it before the task starts: `resolve` ends the observation, and must not come first.
    func observe(
      _ task: URLSessionTask,
      _ count: any KeyPath<URLSessionTask, Int64> & Sendable,
      of total: any KeyPath<URLSessionTask, Int64> & Sendable
    ) {
      let observation = task.observe(count) { [progress = promise.progress] task, _ in
        progress.report(task[keyPath: count], ofExpected: task[keyPath: total])
      }
      self.observation.withLock { $0 = observation }
    }

    /// Ends the observation, and resolves the promise with the arguments of the task's completion handler.
    ///
    /// `value` makes the value of the future from the body and the response.
    func resolve<Body>(
      _ body: Body?,
      _ response: URLResponse?,
      _ error: (any Error)?,
      _ value: (Body, URLResponse) throws -> Value
    ) {
      observation.withLock { $0 = nil }
      do {
        guard let body, let response else { throw error ?? URLError(.badServerResponse) }  // Foundation sets `error`
        promise.succeed(try value(body, response))
      } catch {
        promise.fail(error)
      }
    }
  }
#endif

extension Futures.ProgressReporter {
  /// Reports bytes of a total; Foundation gives a total that is not positive if it knows none.
  func report(_ count: Int64, ofExpected total: Int64) {
    report(completed: count, of: total > 0 ? total : nil)
  }
}

extension URLRequest {
  /// The method and the URL, for the graph of pending futures.
  fileprivate var title: String { "\(httpMethod ?? "GET") \(url?.absoluteString ?? "")" }
}
