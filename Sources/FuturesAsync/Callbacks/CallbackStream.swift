public import Futures

/// Turns a callback that is called many times into an asynchronous sequence: a delegate, an observer, a listener.
///
/// `start` runs at once. It gets the handle that yields elements and ends the sequence. The elements keep their order.
/// If the last reference to the handle goes away before the end, the sequence throws `BrokenPromise`.
///
/// ```swift
/// let readings = callbackStream(of: Reading.self, bufferingPolicy: .bufferingNewest(1)) { stream in
///   let listener = sensor.listen { reading in stream.yield(reading) }
///   stream.onCancel { listener.stop() }
/// }
/// ```
///
/// Cancellation, task to callback: the `onCancel` handlers run once, when the reading task is cancelled or releases the
/// sequence. A cancelled reader reaches the end of the sequence without an error, as in every `AsyncThrowingStream`.
/// Callback to task: `finish(throwing:)` ends the sequence, with or without an error.
/// - Parameters:
///   - label: The name of the API in errors.
///   - type: The type of the elements, if it cannot be inferred.
///   - bufferingPolicy: The treatment of unread elements; by default all are kept.
///   - fileID: The file that errors name.
///   - line: The line that errors name.
///   - start: Starts the callbacks.
/// - Returns: The sequence, for one reader. `SharedCallbackStream` has several.
public func callbackStream<Element: Sendable>(
  _ label: String? = nil,
  of type: Element.Type = Element.self,
  bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy = .unbounded,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ start: (CallbackStream<Element>) -> Void
) -> AsyncThrowingStream<Element, any Error> {
  let (stream, continuation) = AsyncThrowingStream.makeStream(of: type, bufferingPolicy: bufferingPolicy)
  let cancellation = CancellationState()
  // If the reader has left, runs the handlers; after `finish`, releases them. Captures no handle, because the sequence would
  // then keep the handle alive, and would not end when the API drops the handle.
  continuation.onTermination = { reason in
    if case .cancelled = reason { cancellation.trigger() } else { cancellation.end() }
  }
  start(CallbackStream(.reader(continuation), cancellation, CallbackSite(label: label, place: fileID, line: line)))
  return stream
}

/// Turns a callback of the main actor that is called many times into an asynchronous sequence: a delegate, an observer, a listener.
///
/// As `callbackStream(_:of:bufferingPolicy:fileID:line:_:)`, but `start` runs on the main actor, whichever thread calls this. So `start`
/// can make and keep objects of the main actor, with neither a task nor an optional property. `.main` runs `start` later, through
/// the main queue. With `.mainImmediate`, `start` runs at once if the caller is on the main actor.
///
/// ```swift
/// let places = callbackStream(of: Place.self, on: .main) { stream in
///   let tracker = Tracker()  // isolated to the main actor
///   tracker.onPlace = { place in stream.yield(place) }
///   tracker.start()
///   stream.onCancel(on: .main) { tracker.stop() }
/// }
/// ```
///
/// Cancellation, task to callback: the `onCancel` handlers run once, when the reading task is cancelled or releases the
/// sequence. If that happens before `start` has run, `start` never runs. A cancelled reader reaches the end of the sequence without
/// an error. Callback to task: `finish(throwing:)` ends the sequence, with or without an error.
public func callbackStream<Element: Sendable>(
  _ label: String? = nil,
  of type: Element.Type = Element.self,
  on context: MainContext,
  bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy = .unbounded,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ start: @escaping @MainActor (CallbackStream<Element>) -> Void
) -> AsyncThrowingStream<Element, any Error> {
  callbackStream(label, of: type, bufferingPolicy: bufferingPolicy, fileID: fileID, line: line) { stream in
    let submitStart = context.submitting { if !stream.isCancelled { start(stream) } }  // the reader can leave first
    submitStart()
  }
}

/// The handle through which a callback feeds the sequence of `callbackStream`, or the readers of a `SharedCallbackStream`.
///
/// Any thread can use it. The elements are in the order of the calls of `yield`.
public final class CallbackStream<Element: Sendable>: Sendable {
  /// The destination of the elements.
  enum Output: Sendable {
    case reader(AsyncThrowingStream<Element, any Error>.Continuation)
    /// A run is one start of the source. Its number shows whether the handle is of an earlier run.
    case readers(SharedOutput, run: Int)
  }

  /// The readers of a shared stream.
  ///
  /// Weak, because `start` of the stream can keep the API, and the API keeps the handle: a strong reference would close a cycle.
  /// The readers keep the stream alive.
  struct SharedOutput: @unchecked Sendable {  // the reference never changes, and reading a weak reference is atomic
    weak var stream: SharedCallbackStream<Element>?
  }

  private let output: Output
  private let site: CallbackSite

  /// Holds the `onCancel` handlers.
  private let cancellation: CancellationState

  init(_ output: Output, _ cancellation: CancellationState, _ site: CallbackSite) {
    self.output = output
    self.cancellation = cancellation
    self.site = site
    site.track(self, as: .callbackStream)
  }

  /// Whether the reader has left; `yield` and `finish` then do nothing, also while the `onCancel` handlers still run.
  fileprivate var isCancelled: Bool { cancellation.isTriggered }

  deinit {
    // The API has dropped the handle, so no element can come. Has no effect if the sequence has ended.
    finish(throwing: site.brokenPromise)
  }

  /// Adds an element to the sequence; has no effect after its end.
  public func yield(_ element: Element) {
    guard !isCancelled else { return }
    switch output {
    case .reader(let continuation): continuation.yield(element)
    // Boxed once for all readers, because `SharedStreamState` does not depend on the type of the elements.
    case .readers(let shared, let run): shared.stream?.deliver(.element(SharedElement(element)), run: run)
    }
  }

  /// Ends the sequence after its unread elements; only the first call has an effect.
  /// - Parameter error: The error that the sequence throws at its end, or `nil`.
  public func finish(throwing error: (any Error)? = nil) {
    guard !isCancelled else { return }
    switch output {
    case .reader(let continuation): continuation.finish(throwing: error)
    case .readers(let shared, let run): shared.stream?.deliver(.end(error), run: run)
    }
  }

  /// Runs `handler` if the reader leaves before the end: its task is cancelled, or it releases the sequence.
  ///
  /// With several readers, `handler` runs when the last one leaves. If the reader has already left, `handler` runs at once.
  ///
  /// Cancellation, task to callback: handlers run once, in order, on the thread that cancels or releases. Calls of
  /// `yield` and `finish` in a handler are late and have no effect. The handlers are released when the sequence has
  /// ended. A handler must not capture the handle, because it would keep the handle alive.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    CancellationToken(state: cancellation).register(handler)
  }

  /// Runs `handler` on the main actor if the reader leaves before the end.
  ///
  /// For an API of the main actor: the closure uses the API's state without an annotation, as in the example of
  /// `callbackStream(_:of:on:bufferingPolicy:fileID:line:_:)`.
  ///
  /// Cancellation, task to callback: the cancellation submits `handler` to the main queue, and does not wait for it. With
  /// `.mainImmediate`, a cancellation on the main actor runs it at once. Otherwise this is as `onCancel(_:)`.
  public func onCancel(on context: MainContext, _ handler: @escaping @MainActor () -> Void) {
    onCancel(context.submitting(handler))
  }
}

extension CallbackStream: PendingSite {
  package var pendingStatus: PendingSiteStatus {
    // `cancellation` is pending until the reader leaves or the sequence ends.
    cancellation.isPending ? .pending(isCancelled: false, task: nil) : .ended
  }
}
