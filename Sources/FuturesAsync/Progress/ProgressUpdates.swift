public import Futures

extension Future {
  /// The progress, for any number of `for await` loops.
  ///
  /// ```swift
  /// for await progress in download.progress { bar.fraction = progress.fractionCompleted }
  /// ```
  ///
  /// Each loop begins with the current progress. Each step then delivers the newest progress. A slow loop skips the
  /// states in between, slows nothing else, and takes no memory. Each loop gets the last state and then ends (R25).
  /// Reading starts a lazy future. As with `whenProgressed`, a reader does not count as a consumer (R16).
  ///
  /// Cancellation, task to future: a loop in a cancelled task ends. The future is unaffected.
  public var progress: ProgressUpdates { ProgressUpdates(state: progressState) }
}

/// The progress of a future as an asynchronous sequence.
///
/// Any number of loops can read one sequence at the same time. A busy reader is not registered, so an update costs
/// nothing for it. A suspended reader takes one allocation. It is resumed outside every lock.
public struct ProgressUpdates: AsyncSequence, Sendable {
  /// The progress of the work.
  public typealias Element = FutureProgress

  /// Reading never throws.
  public typealias Failure = Never

  let state: FutureState

  /// Returns a reader, which begins with the progress at its first call of `next`.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(state: state) }

  /// One reader of the progress.
  public struct AsyncIterator: AsyncIteratorProtocol {
    /// The state to read; `nil` after the last update.
    private var state: FutureState?

    /// The version of the progress that was read last; `nil` before the first update.
    private var version: UInt64?

    init(state: FutureState) { self.state = state }

    /// Returns the newest unread progress; suspends the task until there is one.
    ///
    /// Cancellation, task to future: returns `nil` at once if the task is cancelled before or during the call. The
    /// future is unaffected.
    /// - Parameter actor: The caller's actor, to which this returns.
    /// - Returns: The progress; `nil` when the future has been resolved and its last state has been read.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> FutureProgress? {
      while !Task.isCancelled {
        guard let state else { return nil }
        switch state.progressNews(since: version) {
        case .unread(let progress, let newest):
          version = newest
          return progress
        case .ended: self.state = nil  // so that the next turn of the loop returns `nil`
        // `version` is not `nil`, because the first read always returns progress.
        case .none: await Self.waitForNews(of: state, since: version ?? 0, isolation: actor)
        }
      }
      state = nil  // later calls return `nil` too
      return nil
    }

    /// Calls `next(isolation:)` without an actor, for loops that are compiled for systems before macOS 15 and iOS 18.
    /// - Returns: The progress; `nil` after the last one.
    public mutating func next() async -> FutureProgress? { await next(isolation: nil) }

    /// Suspends the task until there is progress newer than `version`, the future ends, or the task is cancelled.
    private static func waitForNews(
      of state: FutureState,
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
        onCancel: { state.abandon(reader) },  // if this comes before `attach`, `attach` resumes the task at once
        isolation: isolation
      )
    }
  }
}
