internal import Futures

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
/// Cancellation, task to callback: a reader leaves when its task is cancelled, or when it releases its sequence. When the last one
/// leaves, the `onCancel` handlers of the source run once. Callback to task: `finish(throwing:)` ends all sequences.
///
/// Readers and the handle keep this object alive.
public final class SharedCallbackStream<Element: Sendable>: Sendable {
  typealias Continuation = AsyncThrowingStream<Element, any Error>.Continuation

  private let site: CallbackSite
  private let start: @Sendable (CallbackStream<Element>) -> Void
  private let state = Locked(SharedStreamState<Element, Continuation>())

  /// Makes a stream without readers, whose source does not run.
  /// - Parameters:
  ///   - label: The name of the API in errors.
  ///   - type: The type of the elements, if it cannot be inferred.
  ///   - fileID: The file that errors name.
  ///   - line: The line that errors name.
  ///   - start: Starts the callbacks. It runs outside every lock, on the thread that asks for the first reader. If that thread
  ///     asks while another one stops the source, `start` runs on the other one, after the `onCancel` handlers. So two runs
  ///     never overlap.
  public init(
    _ label: String? = nil,
    of type: Element.Type = Element.self,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ start: @escaping @Sendable (CallbackStream<Element>) -> Void
  ) {
    site = CallbackSite(label: label, place: fileID, line: line)
    self.start = start
  }

  /// Adds a reader, and starts the source if it is the first.
  ///
  /// It gets the elements that are yielded from now on.
  /// - Parameters:
  ///   - bufferingPolicy: The treatment of unread elements of this reader.
  ///   - startsWithLast: Whether the sequence begins with the last element that the running source has yielded, if there is one.
  /// - Returns: The sequence, for one reader.
  public func reader(
    bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy,
    startingWithLast startsWithLast: Bool = false
  ) -> AsyncThrowingStream<Element, any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: Element.self, bufferingPolicy: bufferingPolicy)
    let number = state.withLock { state in
      // Under the lock, so that no element is lost or comes twice. This resumes no task, because no task reads the stream yet.
      if startsWithLast, let last = state.last { continuation.yield(last) }
      return state.add(continuation)
    }
    // A cycle until the reader leaves, or the source ends.
    continuation.onTermination = { reason in
      if case .cancelled = reason { self.leave(number) }
    }
    controlSource()
    return stream
  }

  /// The number of readers.
  public var readerCount: Int { state.withLock { $0.readers.count } }

  private func leave(_ number: Int) {
    let reader = state.withLock { $0.remove(number) }
    _ = reader  // released here, outside the lock
    controlSource()
  }

  /// Starts or stops the source until that fits the readers, unless another thread does.
  private func controlSource() {
    guard state.withLock({ $0.beginControl() }) else { return }
    while let action = state.withLock({ $0.nextAction() }) {
      switch action {
      case .start(let run, let cancellation):
        let output = CallbackStream<Element>.SharedOutput(stream: self)
        start(CallbackStream(.readers(output, run: run), cancellation, site))
      case .stop(let cancellation, unread: _): cancellation.trigger()
      }
    }
  }

  /// Passes an event of a run to all readers, after the earlier events.
  ///
  /// If another thread passes events on, that thread does it.
  func deliver(_ event: SharedStreamEvent<Element>, run: Int) {
    guard state.withLock({ $0.append(event, run: run) }) else { return }
    while let delivery = state.withLock({ $0.nextDelivery() }) {
      delivery.ended?.end()
      for reader in delivery.readers {
        switch delivery.event {
        case .element(let element): reader.yield(element)
        case .end(let error): reader.finish(throwing: error)
        }
      }
    }
    controlSource()
  }
}
