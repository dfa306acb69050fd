public import Foundation

/// The outcome that a store delivers.
public enum Outcome: String, CaseIterable, Sendable {
  case success
  case failure
}

/// The failure of a store.
public enum StoreError: Error, Sendable {
  case missing(Int)
}

/// Records side effects, and keeps callbacks until the runner delivers them.
public final class World: Sendable {
  private struct State {
    var events: [String] = []
    var pending: [@Sendable () -> Void] = []
    var jobs: [@Sendable () -> Void] = []
  }

  private let condition = NSCondition()
  // Protected by `condition`.
  private nonisolated(unsafe) var state = State()

  /// The outcome of each call.
  public let outcome: Outcome

  /// Makes a world with one outcome.
  public init(_ outcome: Outcome) { self.outcome = outcome }

  /// Marks the main queue, so that `note` sees it.
  public static let mainKey = DispatchSpecificKey<Bool>()

  /// Records a side effect, and whether it is on the main queue.
  public func note(_ text: String) {
    let isMain = DispatchQueue.getSpecific(key: Self.mainKey) == true
    withState { $0.events.append(text + (isMain ? " (main)" : "")) }
  }

  /// Keeps work until the runner delivers it.
  public func later(_ work: @escaping @Sendable () -> Void) { withState { $0.pending.append(work) } }

  /// The recorded side effects.
  public var events: [String] { withState { $0.events } }

  /// Wakes the runner.
  public func wake() { withState { _ in } }

  /// Keeps a job of the task that runs a shape.
  public func enqueue(_ job: @escaping @Sendable () -> Void) { withState { $0.jobs.append(job) } }

  /// Removes the next job of the task, or the oldest callback where the task has none.
  ///
  /// Waits for one until `isDone`, which gets the number of side effects, returns `true`.
  public func next(after first: Int, until isDone: (Int) -> Bool) -> (@Sendable () -> Void)? {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if !state.jobs.isEmpty { return state.jobs.removeFirst() }
      if !state.pending.isEmpty, state.events.count >= first { return state.pending.removeFirst() }
      if state.pending.isEmpty, isDone(state.events.count) { return nil }
      condition.wait()
    }
  }

  private func withState<Value>(_ body: (inout State) -> Value) -> Value {
    condition.lock()
    defer {
      condition.broadcast()
      condition.unlock()
    }
    return body(&state)
  }
}
