/// A lazy future whose failure type cannot represent cancellation: it is cancelled while a thread derives a future from it (R2b).
final class DormantWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    /// Cancels the lazy future.
    case cancel
    /// Derives a future, which starts the lazy future unless that was cancelled before.
    case derive
  }

  enum Shape: CaseIterable, Sendable {
    /// The failure type cannot represent cancellation.
    case typed
  }

  private var future: Future<Int, Failed>?
  private var derived: [Future<Int, Failed>] = []
  private var promise: Promise<Int, Failed>?
  private var states: [() -> AnyObject?] = []

  init(_: Shape, _ threads: [[Operation]]) {
    let future = Future<Int, Failed>.lazy { [unowned self] promise in self.promise = promise }
    self.future = future
    track(future)
  }

  private func track(_ future: Future<Int, Failed>) {
    if case .sharedState(let state) = future.storage { states.append { [weak state] in state } }
  }

  func run(_ operation: Operation) {
    switch operation {
    case .cancel: future?.cancel()
    case .derive: if let future = future?.map({ $0 }) { derived.append(future) }
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    derived.forEach(track)
    let isStarted = promise != nil
    future = nil
    for future in derived { future.cancel() }  // a source that became an orphan has gone, and must not be used
    promise?.succeed(1)
    promise = nil
    if isStarted, derived.contains(where: { !$0.isResolved }) { return "a future is still pending" }
    derived = []
    return states.contains { $0() != nil } ? "a future is never released (R5)" : nil
  }
}
