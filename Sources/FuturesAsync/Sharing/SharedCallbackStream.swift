public import Futures

/// A callback that is called many times, for several readers: a location, a socket, notifications.
///
/// The source starts with the first reader, and stops with the last. A later reader starts it again, also after its end.
/// Each reader has a buffer of its own, so a slow reader delays no other.
///
/// ```swift
/// let readings = SharedCallbackStream("sensor", of: Reading.self) { stream in
///   let listener = sensor.listen { reading in stream.yield(reading) }
///   stream.onCancel { listener.stop() }
/// }
///
/// for try await reading in readings.reader(bufferingPolicy: .bufferingNewest(1), startingWithLast: true) {
///   print(reading)
/// }
/// ```
///
/// All readers get the elements in the same order. If the source ends, fails or drops its handle, all its readers get
/// their unread elements first, and then that end.
///
/// Cancellation, task to callback: a reader leaves when its task is cancelled, or when it releases its sequence. Its unread elements
/// are dropped. When the last reader leaves, the `onCancel` handlers of the source run once. Callback to task:
/// `finish(throwing:)` ends all sequences.
///
/// Cost: `yield` takes O(number of readers), and never does the work of another `yield`. The readers' buffers are all the memory.
///
/// Readers keep this object alive.
public final class SharedCallbackStream<Element: Sendable>: Sendable {
  private let site: CallbackSite
  private let start: @Sendable (CallbackStream<Element>) -> Void

  /// The context of `start`; `nil` for the thread that starts the source.
  private let context: ExecutionContext?
  private let state = Locked(SharedStreamState())

  /// Makes a stream without readers, whose source does not run; `label` names the API in errors.
  ///
  /// `start` starts the callbacks. It runs outside every lock, on the thread that asks for the first reader. If another thread
  /// is starting the source, or runs its `onCancel` handlers, `start` runs after that, on that thread or on the global queue. So
  /// two runs never overlap.
  public init(
    _ label: String? = nil,
    of type: Element.Type = Element.self,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: @escaping @Sendable (CallbackStream<Element>) -> Void
  ) {
    site = CallbackSite(label: label, place: fileID, line: line)
    context = nil
    self.start = start
  }

  /// Makes a stream without readers, whose source starts on the main actor: a delegate of the system, a `CLLocationManager`.
  ///
  /// With `.main`, `reader` returns before `start` runs. Two runs never overlap.
  public init(
    _ label: String? = nil,
    of type: Element.Type = Element.self,
    on context: MainContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: @escaping @MainActor (CallbackStream<Element>) -> Void
  ) {
    site = CallbackSite(label: label, place: fileID, line: line)
    self.context = context.context
    self.start = { handle in MainActor.assumeIsolated { start(handle) } }  // `context` runs it on the main actor
  }

  /// Adds a reader, and starts the source if it is the first.
  ///
  /// The reader gets the elements that are yielded from now on.
  /// - Parameters:
  ///   - bufferingPolicy: The treatment of unread elements of this reader.
  ///   - startsWithLast: Whether the sequence begins with the last element that the running source has yielded, if there is one.
  /// - Returns: The sequence, for one reader.
  public func reader(
    bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy,
    startingWithLast startsWithLast: Bool = false
  ) -> AsyncThrowingStream<Element, any Error> {
    let reader = SharedReader(Self.policy(bufferingPolicy))
    state.withLock { $0.add(reader, startingWithLast: startsWithLast) }
    let membership = Membership(self, reader)
    controlSource()
    return AsyncThrowingStream { try await membership.next() }
  }

  /// Converts the policy of a caller to that of `SharedReader`, whose type does not depend on the elements.
  private static func policy(_ policy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy)
    -> SharedReader.Policy
  {
    switch policy {
    case .unbounded: SharedReader.Policy()
    case .bufferingOldest(let limit): SharedReader.Policy(limit: limit)
    case .bufferingNewest(let limit): SharedReader.Policy(limit: limit, keepsNewest: true)
    @unknown default: SharedReader.Policy()  // keeps all
    }
  }

  /// The number of readers.
  public var readerCount: Int { state.withLock { $0.readers.count } }

  /// Owned by the sequence of one reader: when the sequence is released, `deinit` removes the reader.
  private final class Membership: Sendable {
    let stream: SharedCallbackStream
    let reader: SharedReader

    init(_ stream: SharedCallbackStream, _ reader: SharedReader) {
      self.stream = stream
      self.reader = reader
    }

    deinit { stream.leave(reader) }

    /// Returns the next element, or throws or returns the end; suspends the task until there is one.
    func next() async throws -> Element? {
      // First without a waiter: a task with an unread element does not suspend.
      let event =
        if let event = stream.next(of: reader, nil) { event } else { await wait() }
      switch event {
      case .element(let box): return unsafeDowncast(box, to: SharedElement<Element>.self).element  // boxed by `yield`
      case .end(let error?): throw error
      case .end(nil): return nil
      }
    }

    /// Suspends the task until the reader has an event; if the task is cancelled, removes the reader, whose next event is the end.
    private func wait() async -> SharedStreamEvent {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { waiter in
          if let event = stream.next(of: reader, waiter) { waiter.resume(returning: event) }  // it came just now
        }
      } onCancel: {
        stream.leave(reader)
      }
    }
  }

  /// Returns the next element or the end of a reader; without either, enqueues `waiter`, if one is given, and returns `nil`.
  private func next(of reader: SharedReader, _ waiter: SharedReader.Waiter?) -> SharedStreamEvent? {
    state.withLock { _ in reader.next(waiter) }  // this lock protects the readers, too
  }

  /// Removes a reader whose task was cancelled or whose sequence was released; does nothing the second time.
  ///
  /// If no reader is left, stops the source. Then resumes the tasks that wait for the next element of the removed reader.
  private func leave(_ reader: SharedReader) {
    let (waiters, unread) = state.withLock { state in
      state.remove(reader)
      return reader.leave()
    }
    _ = unread  // released here, because an element's `deinit` must not run under the lock
    controlSource()  // before the tasks resume, so that they find the source stopped if this call stops it
    for waiter in waiters { waiter.resume(returning: .end(nil)) }
  }

  /// Gives an event to all readers, and resumes the tasks that wait for it.
  ///
  /// `run` is the number of the start of the source that made the event. The event of a run that has ended is dropped.
  func deliver(_ event: SharedStreamEvent, run: Int) {
    guard let delivery = state.withLock({ $0.accept(event, run: run) }) else { return }
    delivery.ended?.end()  // releases the `onCancel` handlers
    for waiter in delivery.waiters { waiter.resume(returning: event) }
    // The replaced and dropped elements (`delivery.released`) go away here, outside the lock.
  }
}

// MARK: - The source

extension SharedCallbackStream {
  /// The maximum number of starts and stops that a thread makes in one call (R28).
  ///
  /// The call itself causes at most one. Closures of the user that it runs can cause a few more, so the number is above one.
  private static var maximumActions: Int { 4 }

  /// Called when a reader comes or leaves: starts or stops the source if needed, unless another thread already does.
  private func controlSource() {
    if state.withLock({ $0.beginControl() }) { continueControl() }
  }

  /// Starts and stops the source, at most `limit` times on this thread, until it runs if and only if it has readers.
  ///
  /// After that, a thread of the global queue continues. Otherwise this call might never return, because other threads can add
  /// and release readers all the time.
  private func continueControl(limit: Int = maximumActions) {
    for number in 0..<limit {
      guard let action = state.withLock({ $0.nextAction() }) else { return }
      switch action {
      case .stop(let cancellation, last: _): cancellation.trigger()  // runs `onCancel`, and releases the last element
      case .start(let run, let cancellation):
        let output = CallbackStream<Element>.SharedOutput(stream: self)
        let handle = CallbackStream(.readers(output, run: run), cancellation, site)
        guard let context else {
          start(handle)
          continue
        }
        // The rest of the loop also waits for the context, so that a stop never comes before `start`.
        return context.execute {
          self.start(handle)
          self.continueControl(limit: limit - number - 1)  // not a new limit: `.mainImmediate` can run this at once
        }
      }
    }
    handOn { self.continueControl() }
  }
}
