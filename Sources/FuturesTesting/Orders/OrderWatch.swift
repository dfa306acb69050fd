internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// Ends a search whose move never returns, for example because it waits for a lock that a suspended task holds.
///
/// The search runs in a task of its own. The thread of that task stays blocked, because nothing can end the move.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderWatch: Sendable {
  typealias Answer = Result<OrderReport, any Error>

  private struct State {
    var continuation: UnsafeContinuation<Answer, Never>?
    var answer: Answer?
    var isBlocked = false
    var isCancelled = false

    /// The run that performs a move, its thread, and how the search describes its failure.
    var move: (run: OrderRun, thread: Int32, failure: @Sendable () -> OrderFailure)?

    /// The number of the moves so far.
    var moves = 0
  }

  private let state = Locked(State())

  /// Not a global queue: blocked code can hold all of its threads.
  private static let queue = DispatchQueue(label: "exploreOrders.watch")

  /// How many seconds a thread waits within one move before the move counts as blocked.
  static let bound = 10

  /// Whether the search ended because of a move that does not return.
  var isBlocked: Bool { state.withLock(\.isBlocked) }

  /// Whether the calling task is cancelled.
  ///
  /// A cancelled search ends before its next order.
  var isCancelled: Bool { state.withLock(\.isCancelled) }

  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Ends the search with an answer.
  ///
  /// The first answer wins.
  func resolve(_ answer: Answer, isBlocked: Bool = false) {
    let continuation = state.withLock { state in
      guard state.answer == nil else { return nil as UnsafeContinuation<Answer, Never>? }
      state.answer = answer
      state.isBlocked = isBlocked
      return state.continuation.take()
    }
    continuation?.resume(returning: answer)
  }

  nonisolated(nonsending) var answer: Answer {
    get async {
      watch(moves: -1, seconds: 0, ticks: -1)
      return await withUnsafeContinuation { continuation in
        let answer = state.withLock { state in
          if state.answer == nil { state.continuation = continuation }
          return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }

  /// Begins a move of user code on this thread.
  func begin(_ run: OrderRun, failure: @escaping @Sendable () -> OrderFailure) {
    let thread = cfuturestesting_thread_number()
    state.withLock { state in
      state.moves += 1
      state.move = (run, thread, failure)
    }
  }

  func end() { state.withLock { $0.move = nil } }

  /// Checks each second whether the thread is still in the same move, and has used no processor time.
  private func watch(moves: Int, seconds: Int, ticks: Int64) {
    Self.queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      guard let self, state.withLock({ $0.answer == nil }) else { return }
      let (now, move) = state.withLock { ($0.moves, $0.move) }
      let used = move.map { cfuturestesting_sleeping($0.thread) } ?? -1
      let isWaiting = used >= 0 && used == ticks && now == moves
      if isWaiting, seconds + 1 >= Self.bound, let move {
        return resolve(.failure(move.failure()), isBlocked: true)
      }
      watch(moves: now, seconds: isWaiting ? seconds + 1 : 0, ticks: used)
    }
  }
}

/// Runs a search apart from the threads of the Swift runtime.
///
/// A move that never returns blocks its thread for ever. The runtime has one thread for each processor. If such moves held all
/// of these threads, no task of the process could run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class SearchExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "exploreOrders")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
