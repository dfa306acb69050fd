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
    let thread: Int32
    let isOnMain: Bool

    /// Describes the failure, with a sentence that says what the move does.
    let failure: @Sendable (String) -> OrderFailure
  }

  /// How often the watch has seen the same move.
  private struct Look {
    var number = -1
    var ticks: Int64 = -1
    var asleep = 0, seconds = 0
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

  private let second = WatchSecond.length.get()

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
      lookAgain(after: Look())
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
  /// Does not return if the search has ended because of the move: its thread stops for ever. The main thread goes on.
  /// - Returns: The move that was watched before.
  func exchange(_ move: Move?) -> Move? {
    let (previous, isBlocked) = state.withLock { state in
      state.moves += 1
      defer { state.move = move }
      return (state.move, state.isBlocked)
    }
    while isBlocked, !MainContext.isMainQueueCurrent { DispatchSemaphore(value: 0).wait() }
    return previous
  }

  /// Looks at the present move each second.
  private func lookAgain(after last: Look) {
    Self.queue.asyncAfter(deadline: .now() + second) { [weak self] in
      guard let self, state.withLock({ $0.answer == nil }) else { return }
      let (number, move) = state.withLock { ($0.moves, $0.move) }
      let ticks = move.map { cfuturestesting_sleeping($0.thread) } ?? -1
      let isSame = move != nil && number == last.number
      let isAsleep = isSame && ticks >= 0 && ticks == last.ticks
      let asleep = isAsleep ? last.asleep + 1 : 0
      let look = Look(number: number, ticks: ticks, asleep: asleep, seconds: isSame ? last.seconds + 1 : 0)
      guard let move, let sentence = Self.stall(look), claim(number) else { return lookAgain(after: look) }
      let failure = move.failure(sentence)
      // A caller on the main actor cannot go on.
      if move.isOnMain { FuturesDiagnostics.write(failure.description) }
      resolve(.failure(failure))
    }
  }

  /// The sentence of a move that lasts too long; `nil` if it does not.
  private static func stall(_ look: Look) -> String? {
    if look.asleep >= 10 {
      return """
        The last move has waited for 10 s and does not return. It waits for something slow, or for a lock or a \
        semaphore that a suspended task or a later move would release. Do not hold a lock across an `await`, and do not block in a \
        move.
        """
    }
    guard look.seconds >= 60 else { return nil }
    return """
      The last move has run for 60 s and does not return. A loop that awaits only calls of actors is one move: put \
      `await orders.step(…)` into a double that the loop calls.
      """
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

/// The second of the watch, which the explorer's own tests make shorter.
package enum WatchSecond {
  // Without the macro, which the checks for other platforms do not have.
  package static let length = TaskLocal(wrappedValue: 1.0)
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
