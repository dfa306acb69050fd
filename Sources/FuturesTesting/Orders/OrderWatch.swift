internal import CFuturesTesting
internal import Dispatch
internal import Futures

/// Ends a search whose move does not return, for example because it waits for a lock that a suspended task holds.
///
/// Nothing can end such a move. If it returns later, its thread stops there, because the caller of the search has its answer.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OrderWatch: Sendable {
  typealias Answer = Result<OrderReport, any Error>

  /// A move of user code.
  struct Move: Sendable {
    let run: OrderRun
    let thread: Int32
    let isOnMain: Bool

    /// How the search describes its failure.
    let failure: @Sendable (MoveSeconds.Stall) -> OrderFailure
  }

  private struct State {
    var continuation: UnsafeContinuation<Answer, Never>?
    var answer: Answer?
    var isBlocked = false
    var isCancelled = false
    var hasLateWork = false

    var move: Move?

    /// The number of the changes of `move` so far.
    var moves = 0
  }

  private let state = Locked(State())

  /// Not a global queue: blocked code can hold all of its threads.
  private static let queue = DispatchQueue(label: "exploreOrders.watch")

  /// Whether the search ends because of a move that does not return.
  var isBlocked: Bool { state.withLock(\.isBlocked) }

  /// Whether the calling task is cancelled.
  ///
  /// A cancelled search ends before its next order.
  var isCancelled: Bool { state.withLock(\.isCancelled) }

  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Whether another thread has submitted work to a run that was over.
  var hasLateWork: Bool {
    get { state.withLock(\.hasLateWork) }
    set { state.withLock { $0.hasLateWork = newValue } }
  }

  /// Ends the search with an answer.
  ///
  /// The first answer wins.
  func resolve(_ answer: Answer) {
    let continuation = state.withLock { state in
      guard state.answer == nil else { return nil as UnsafeContinuation<Answer, Never>? }
      state.answer = answer
      return state.continuation.take()
    }
    continuation?.resume(returning: answer)
  }

  nonisolated(nonsending) var answer: Answer {
    get async {
      watch(MoveSeconds())
      return await withUnsafeContinuation { continuation in
        let answer = state.withLock { state in
          if state.answer == nil { state.continuation = continuation }
          return state.answer
        }
        if let answer { continuation.resume(returning: answer) }
      }
    }
  }

  /// Begins a move of user code, or ends it by `nil`.
  ///
  /// Does not return if the search has ended because of the move.
  /// - Returns: The move that was watched before.
  func exchange(_ move: Move?) -> Move? {
    let previous = state.withLock { state in
      state.moves += 1
      defer { state.move = move }
      return state.move
    }
    stopIfBlocked()
    return previous
  }

  /// Stops this thread for ever if the search has ended because of a move; the main thread goes on.
  func stopIfBlocked() {
    guard isBlocked, !MainContext.isMainQueueCurrent else { return }
    while true { DispatchSemaphore(value: 0).wait() }
  }

  /// Looks at the present move each second.
  private func watch(_ seconds: MoveSeconds) {
    Self.queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
      guard let self, state.withLock({ $0.answer == nil }) else { return }
      let (number, move) = state.withLock { ($0.moves, $0.move) }
      var seconds = seconds
      let ticks = move.map { cfuturestesting_sleeping($0.thread) } ?? -1
      let stall = seconds.count(move == nil ? nil : number, ticks: ticks)
      guard let stall, let move, claim(number) else { return watch(seconds) }
      let failure = move.failure(stall)
      // A caller on the main actor cannot go on.
      if move.isOnMain { FuturesDiagnostics.write(failure.description) }
      resolve(.failure(failure))
    }
  }

  /// Ends the search because of a move, unless it has returned.
  ///
  /// From now on the thread of the search begins nothing new: it stops when the move returns.
  private func claim(_ number: Int) -> Bool {
    state.withLock { state in
      guard state.answer == nil, state.moves == number else { return false }
      state.isBlocked = true
      return true
    }
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// Begins the watch of a move on this thread.
  /// - Returns: The move that it interrupts, if any.
  func watchMove() -> OrderWatch.Move? {
    let thread = cfuturestesting_thread_number()
    return watch?.watch.exchange(
      watch.map {
        OrderWatch.Move(run: self, thread: thread, isOnMain: MainContext.isMainQueueCurrent, failure: $0.failure)
      }
    )
  }
}

/// Counts the seconds of a move, and says when they are too many.
struct MoveSeconds {
  enum Stall: Equatable {
    /// The thread of the move waits for something.
    case waits
    /// The move goes on.
    case runs

    var sentence: String {
      switch self {
      case .waits:
        """
        The last move has waited for \(maximumAsleep) s and does not return. It waits for something slow, or for a lock or a \
        semaphore that a suspended task or a later move would release. Do not hold a lock across an `await`, and do not block in a \
        move.
        """
      case .runs:
        """
        The last move has run for \(maximum) s and does not return. A loop that awaits only calls of actors is one move: put \
        `await orders.step(…)` into a double that the loop calls.
        """
      }
    }
  }

  /// How many seconds a move can wait, and how many it can last.
  static let maximumAsleep = 10, maximum = 60

  private var number: Int?
  private var ticks: Int64 = -1
  private var asleep = 0, seconds = 0

  /// Counts one second.
  /// - Parameters:
  ///   - number: The number of the present move; `nil` between two moves.
  ///   - ticks: The processor time of the move's thread if the thread waits for something, else -1.
  /// - Returns: Why the move counts as one that does not return; `nil` if it does not.
  mutating func count(_ number: Int?, ticks: Int64) -> Stall? {
    let isSame = number != nil && number == self.number
    let isAsleep = isSame && ticks >= 0 && ticks == self.ticks
    (asleep, seconds) = (isAsleep ? asleep + 1 : 0, isSame ? seconds + 1 : 0)
    (self.number, self.ticks) = (number, ticks)
    if asleep >= Self.maximumAsleep { return .waits }
    return seconds >= Self.maximum ? .runs : nil
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
