public import Futures

extension Future {
  /// The progress and, at the end, the result, to be read with one `for await`.
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
  /// As `progress`, and then `.resolved` as the last event. A future whose promise was dropped, and whose failure type cannot
  /// say so, ends without one.
  ///
  /// Cancellation, task to future: a loop in a cancelled task ends without a result, and the future hears nothing of it.
  public var events: FutureEvents<Value, Failure> { FutureEvents(future: self) }
}

/// The progress of a future and its result as an asynchronous sequence.
///
/// Any number of loops may read one sequence at the same time, each as described for `ProgressUpdates`.
public struct FutureEvents<Value: Sendable, Failure: Error>: AsyncSequence, Sendable {
  /// What happens to the future.
  public typealias Element = Event

  /// What happens to a future.
  public enum Event: Sendable {
    /// The work has come so far.
    case progress(FutureProgress)
    /// The future has been resolved; the last event.
    case resolved(Result<Value, Failure>)
  }

  let future: Future<Value, Failure>

  /// Begins to read, at the state in which the progress is when the first event is asked for.
  /// - Returns: What reads.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(future: future, progress: future.progress.makeAsyncIterator())
  }

  /// One reader of the events.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let future: Future<Value, Failure>
    private var progress: ProgressUpdates.AsyncIterator
    private var isOver = false

    init(future: Future<Value, Failure>, progress: ProgressUpdates.AsyncIterator) {
      self.future = future
      self.progress = progress
    }

    /// The newest progress that this reader has not seen, or the result; the task is suspended until there is either.
    ///
    /// Cancellation, task to future: `nil`, at once, if the task is cancelled before or meanwhile; the future hears nothing of it.
    /// - Parameter actor: The actor of the caller, who is on it afterwards.
    /// - Returns: The event; `nil` after the last one.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Event? {
      guard !isOver else { return nil }
      if let progress = await progress.next(isolation: actor) { return .progress(progress) }
      isOver = true
      guard !Task.isCancelled, let result = future.peek() else { return nil }
      return .resolved(result)
    }
  }
}
