public import Futures

extension Future {
  /// The progress, to be read with `for await`, by as many as like.
  ///
  /// ```swift
  /// for await progress in download.progress { bar.fraction = progress.fractionCompleted }
  /// ```
  ///
  /// Each loop begins with the progress as it is then, and gets the newest one each time it asks: who reads slowly misses what
  /// is between, slows nobody, and takes no memory. The last state always comes, and then the loop ends (R25). Reading starts a
  /// lazy future, and does not count as needing it, as with `whenProgressed`.
  ///
  /// Cancellation, task to future: a loop in a cancelled task ends, and the future hears nothing of it.
  public var progress: ProgressUpdates { ProgressUpdates(origin: progressOrigin) }
}

/// The progress of a future as an asynchronous sequence.
///
/// Any number of loops may read one sequence at the same time. Nothing is registered anywhere while a reader is busy, so an
/// update costs nothing for it; a suspended one takes one allocation, and is resumed without a lock being held.
public struct ProgressUpdates: AsyncSequence, Sendable {
  /// How far the work has come.
  public typealias Element = FutureProgress

  /// Reading never throws.
  public typealias Failure = Never

  let origin: ProgressOrigin

  /// Begins to read, at the state in which the progress is when the first element is asked for.
  /// - Returns: What reads.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(origin: origin) }

  /// One reader of a progress.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private var reading: Reading

    private enum Reading {
      /// Next is `read` or `over`.
      case unread(ProgressOrigin)
      /// All up to a version has been read. Next is `over`.
      case read(AnySharedState, version: UInt64)
      /// Nothing more comes. Final.
      case over
    }

    init(origin: ProgressOrigin) { reading = .unread(origin) }

    /// The newest progress that this reader has not seen; the task is suspended until there is one.
    ///
    /// Cancellation, task to future: `nil`, at once, if the task is cancelled before or meanwhile; the future hears nothing of it.
    /// - Parameter actor: The actor of the caller, who is on it afterwards.
    /// - Returns: The progress; `nil` when the future has been resolved and its last state has been read.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> FutureProgress? {
      while !Task.isCancelled {
        let (state, version): (AnySharedState, UInt64?)
        switch reading {
        case .over: return nil
        case .unread(.last(let progress)):
          reading = .over
          return progress
        case .unread(.state(let origin)):
          origin.beginReadingProgress()
          (state, version) = (origin, nil)
        case .read(let origin, let seen): (state, version) = (origin, seen)
        }
        switch state.progressNews(since: version) {
        case .unread(let progress, let version):
          reading = .read(state, version: version)
          return progress
        case .ended:
          reading = .over
          return nil
        case .none: await Self.waitForNews(of: state, since: version ?? 0, isolation: actor)
        }
      }
      reading = .over
      return nil
    }

    /// Suspends the task until there is news, or it is cancelled.
    private static func waitForNews(
      of state: AnySharedState,
      since version: UInt64,
      isolation: isolated (any Actor)?
    ) async {
      let reader = ProgressReader()
      await withTaskCancellationHandler(
        operation: {
          await withUnsafeContinuation(isolation: isolation) { continuation in
            state.attach(reader, since: version, resuming: continuation)
          }
        },
        onCancel: { state.abandon(reader) },
        isolation: isolation
      )
    }
  }
}
