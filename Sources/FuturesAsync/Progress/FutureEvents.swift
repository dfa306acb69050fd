public import Futures

extension Future {
  /// The progress and then the result, for one `for await` loop.
  ///
  /// ```swift
  /// for await event in download.events {
  ///   switch event {
  ///   case .progress(let progress): bar.fraction = progress.fractionCompleted
  ///   case .resolved(let result): finish(with: result)
  ///   }
  /// }
  /// ```
  ///
  /// It delivers the elements of `progress`, and `.resolved` as the last event. If a dropped promise leaves its future
  /// pending (R4), the sequence ends without `.resolved`.
  ///
  /// Cancellation, task to future: a loop in a cancelled task ends without a result. The future is unaffected.
  public var events: FutureEvents<Value, Failure> { FutureEvents(future: self) }
}

/// The progress of a future and its result, as an asynchronous sequence.
///
/// Any number of loops can read one sequence at the same time, each as described for `ProgressUpdates`.
public struct FutureEvents<Value: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// The progress, or the result.
  public typealias Element = Event

  /// An event of a future.
  public enum Event: Sendable {
    /// The progress has changed.
    case progress(FutureProgress)
    /// The future has been resolved; the last event.
    case resolved(Result<Value, Failure>)
  }

  let future: Future<Value, Failure>

  /// Returns a reader, which begins with the progress at its first call of `next`.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(future: future, progress: future.progress.makeAsyncIterator())
  }

  /// One reader of the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let future: Future<Value, Failure>
    private var progress: ProgressUpdates.AsyncIterator
    private var isFinished = false

    init(future: Future<Value, Failure>, progress: ProgressUpdates.AsyncIterator) {
      self.future = future
      self.progress = progress
    }

    /// Returns the newest unread progress, or the result; suspends the task until there is one.
    ///
    /// Cancellation, task to future: returns `nil` at once if the task is cancelled before or during the call. The
    /// future is unaffected.
    /// - Parameter actor: The caller's actor, to which this returns.
    /// - Returns: The event; `nil` after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      guard !isFinished else { return nil }
      if let progress = await progress.next(isolation: actor) { return .progress(progress) }
      isFinished = true
      guard !Task.isCancelled, let result = future.peek() else { return nil }  // no result: a dropped promise (R4)
      return .resolved(result)
    }

    /// Calls `next(isolation:)` without an actor, for loops that are compiled for systems before macOS 15 and iOS 18.
    /// - Returns: The event; `nil` after the last one.
    public mutating func next() async -> Event? { await next(isolation: nil) }
  }
}
