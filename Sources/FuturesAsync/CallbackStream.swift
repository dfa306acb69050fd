internal import Futures

/// Makes an asynchronous sequence of a callback that is called many times: a delegate, an observer, a listener.
///
/// `start` is called at once, and gets the handle with which the callback yields elements and ends the sequence. The elements
/// keep their order. Where everything that holds the handle goes away before it has ended the sequence, that throws
/// `BrokenPromise`, so a reader does not wait for ever.
///
/// ```swift
/// let readings = callbackStream(of: Reading.self, bufferingPolicy: .bufferingNewest(1)) { stream in
///   let listener = sensor.listen { reading in stream.yield(reading) }
///   stream.onCancel { listener.stop() }
/// }
/// ```
///
/// Cancellation, task to callback: when the reading task is cancelled, or lets go of the sequence, the handlers of `onCancel` run, once; a
/// reader that is cancelled comes to the end of the sequence without an error, as with every `AsyncThrowingStream`.
/// Callback to task: `finish(throwing:)` ends the sequence, with an error if there is one.
/// - Parameters:
///   - label: Names the API in errors.
///   - type: The type of the elements, where it cannot be inferred.
///   - bufferingPolicy: What happens to elements that nobody has read yet; all are kept unless told otherwise.
///   - fileID: The file that errors name.
///   - line: The line that errors name.
///   - start: Starts the callbacks.
/// - Returns: The sequence, for one reader.
public func callbackStream<Element: Sendable>(
  _ label: String? = nil,
  of type: Element.Type = Element.self,
  bufferingPolicy: AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy = .unbounded,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  _ start: (CallbackStream<Element>) -> Void
) -> AsyncThrowingStream<Element, any Error> {
  let (stream, continuation) = AsyncThrowingStream.makeStream(of: type, bufferingPolicy: bufferingPolicy)
  start(CallbackStream(continuation, CallbackSite(label: label, fileID: "\(fileID)", line: line)))
  return stream
}

/// The handle of a callback that is called many times, which `callbackStream` makes a sequence of.
///
/// It may be used from any thread. The order of the elements is that of the calls of `yield`.
public final class CallbackStream<Element: Sendable>: Sendable {
  private let continuation: AsyncThrowingStream<Element, any Error>.Continuation
  private let site: CallbackSite

  /// Has the handlers of `onCancel`.
  private let cancellation = CancellationState()

  init(_ continuation: AsyncThrowingStream<Element, any Error>.Continuation, _ site: CallbackSite) {
    self.continuation = continuation
    self.site = site
    // It must not keep the handle, which would never be dropped then.
    continuation.onTermination = { [cancellation] reason in
      if case .cancelled = reason { cancellation.trigger() } else { cancellation.end() }
    }
  }

  /// Whether the reader has left; while the handlers run, the sequence itself has not ended, and what they cause comes too late.
  private var isCancelled: Bool { cancellation.isTriggered }

  deinit {
    // Without effect where the sequence has ended.
    finish(throwing: site.brokenPromise)
  }

  /// Adds an element to the sequence; nothing happens if that has ended.
  /// - Parameter element: The next element.
  public func yield(_ element: Element) {
    if !isCancelled { continuation.yield(element) }
  }

  /// Ends the sequence when its elements have been read; only the first call counts.
  /// - Parameter error: What the sequence throws at its end; `nil` for none.
  public func finish(throwing error: (any Error)? = nil) {
    if !isCancelled { continuation.finish(throwing: error) }
  }

  /// Has `handler` run when the reader leaves before the sequence has ended: its task is cancelled, or it lets go of it.
  ///
  /// Cancellation, task to callback: handlers run once, in order, on the thread that cancels or lets go; at once, if that has
  /// happened. What they yield, or end the sequence with, comes too late. They are released when the sequence has ended. Keep the
  /// handle itself out of what they capture.
  /// - Parameter handler: Stops the callbacks.
  public func onCancel(_ handler: @escaping @Sendable () -> Void) {
    CancellationToken(state: cancellation).register(handler)
  }
}
