internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// Ends a search whose move does not return, for example because it waits for a lock that a suspended task holds.
///
/// Nothing can end such a move. If it returns later, its thread stops there, because the caller of the search has its answer.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderWatch: TaskExecutor {
  typealias Answer = Result<OrderReport, any Error>

  struct State {
    /// The caller, and the description of a move that does not return; `nil` once the caller has its answer.
    fileprivate var caller: (waiter: UnsafeContinuation<Answer, Never>, describe: @Sendable (String) -> any Error)?

    /// Whether the search ends because of a move that does not return.
    fileprivate var isBlocked = false

    /// Whether the calling task is cancelled.
    var isCancelled = false

    /// For how many seconds the present move has lasted; `nil` between two moves.
    fileprivate var seconds: Int?

    /// How long the runs still wait for work outside, in nanoseconds: work that never ends does not cost each run its time.
    fileprivate var patience: Int64 = 60_000_000_000
  }

  let state = Locked(State())

  var isCancelled: Bool { state.withLock(\.isCancelled) }

  /// Not a global queue: blocked code can hold all of its threads.
  private static let queue = DispatchQueue(label: "exploreOrders.watch")

  /// Runs the search, and stays blocked if a move does not return.
  private let thread = DispatchQueue(label: "exploreOrders")

  private let second = WatchSecond.length.get()

  /// Runs a search in a separate task, off the caller's actor; returns its answer, or the failure of a move that never returns.
  nonisolated(nonsending) func answer(
    of search: @escaping @Sendable () -> Answer,
    describing describe: @escaping @Sendable (_ sentence: String) -> any Error
  ) async -> Answer {
    var task: Task<Void, Never>?
    let answer = await withUnsafeContinuation { continuation in
      state.withLock { $0.caller = (continuation, describe) }
      task = Task(executorPreference: self) { self.resolve(search()) }
      lookAfterSecond()  // watches the moves
    }
    // The end of the task releases the body, as `withoutActuallyEscaping` in a caller requires. A blocked task has no end.
    if !state.withLock(\.isBlocked) { await task?.value }
    return answer
  }

  /// Runs the search apart from the threads of the Swift runtime.
  ///
  /// A move that never returns blocks its thread for ever. The runtime has one thread for each processor. If such moves held
  /// all of these threads, no task of the process could run.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Gives the first answer to the caller; ignores later ones.
  private func resolve(_ answer: Answer) { state.withLock { $0.caller.take() }?.waiter.resume(returning: answer) }

  /// Runs a move, and measures how long it lasts; stops the thread of the search for ever if the search has ended meanwhile.
  func measure(_ move: () -> Void) {
    state.withLock { $0.seconds = 0 }
    move()
    let isBlocked = state.withLock { state in
      state.seconds = nil
      return state.isBlocked
    }
    if isBlocked { DispatchSemaphore(value: 0).wait() }  // for ever: nothing signals it
  }

  /// For how many seconds a move can last.
  private static let maximum = 30

  /// Looks at the present move each second, and ends the search if the move has lasted too long.
  private func lookAfterSecond() {
    Self.queue.asyncAfter(deadline: .now() + second) { [weak self] in
      guard let self else { return }
      let (caller, isBlocked) = state.withLock { state in
        state.seconds = state.seconds.map { $0 + 1 }
        // If `true`, the thread of the search begins nothing new: it stops when the move returns.
        state.isBlocked = state.caller != nil && state.seconds ?? 0 >= Self.maximum
        return (state.caller, state.isBlocked)
      }
      guard let caller else { return }  // the search has ended
      guard isBlocked else { return lookAfterSecond() }
      let failure = caller.describe(Self.sentence)
      // Also written, because a move that blocks the main actor keeps a caller there from reading its answer.
      FuturesDiagnostics.write("\(failure)")
      resolve(.failure(failure))
    }
  }

  private static let sentence = """
    The last move does not return: it has lasted \(maximum) s. It waits for something slow, or for a lock or a semaphore that a \
    suspended task or a later move would release: do not hold a lock across an `await`, and do not block in a move or the main \
    thread. Or it is a loop that awaits only calls of actors: put `await orders.step(…)` into a double that the loop calls.
    """

  // MARK: - Work outside

  /// Whether the runs still wait for work outside: while patience is left, and the search is not cancelled.
  var allowsWait: Bool { state.withLock { $0.patience > 0 && !$0.isCancelled } }

  /// Subtracts the time of a wait from `patience`, the time that all runs together can wait.
  func countWait(_ nanoseconds: UInt64) { state.withLock { $0.patience -= Int64(nanoseconds) } }
}

/// The second of the watch, which the explorer's own tests make shorter.
package enum WatchSecond {
  // Not declared with the macro `@TaskLocal`: the checks for other platforms do not have it.
  package static let length = TaskLocal(wrappedValue: 1.0)
}
