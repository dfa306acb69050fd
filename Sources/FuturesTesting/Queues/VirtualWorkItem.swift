public import Dispatch
internal import Futures

/// A stand-in for `DispatchWorkItem`, for a `VirtualQueue`.
///
/// A virtual work item has the same methods, also those that need a queue: `wait()` and `notify`.
public final class VirtualWorkItem: Sendable {
  private struct State {
    var isCancelled = false
    var hasEnded = false

    /// The place in a queue; `nil` before the submission, for an item with a delay, and once the item has ended.
    var place: (queue: VirtualQueue, number: Int)?
    var notifications: [@Sendable () -> Void] = []
  }

  let isBarrier: Bool
  private let block: @Sendable () -> Void
  private let state = Locked(State())

  /// Makes a work item; `.barrier` has an effect in a concurrent queue, and `qos` and the other flags have none.
  public init(
    qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [],
    block: @escaping @Sendable @convention(block) () -> Void
  ) {
    isBarrier = flags.contains(.barrier)
    self.block = block
  }

  /// Runs the work on the calling thread, unless the item is cancelled, and then submits the notifications.
  public func perform() {
    if !isCancelled { block() }
    let notifications = state.withLock { state in
      defer { (state.hasEnded, state.place, state.notifications) = (true, nil, []) }
      return state.notifications
    }
    for notify in notifications { notify() }
  }

  /// Keeps the work from running, if it has not started.
  ///
  /// The item keeps its place in the queue. When its turn comes, it skips the work, and submits the notifications.
  public func cancel() { state.withLock { $0.isCancelled = true } }

  /// Whether `cancel()` was called.
  public var isCancelled: Bool { state.withLock(\.isCancelled) }

  /// Runs the earlier work of the item's queue, and then this item, unless the item has ended.
  ///
  /// Traps if the item is in no queue, runs now, or has a delay: nothing else would run, so the wait would not end.
  public func wait() {
    let hasEnded = runAtOnce()
    precondition(
      hasEnded,
      "`wait()` for a work item that is in no queue, that runs now, or that has a delay: it would wait for ever."
    )
  }

  /// Runs the earlier work of the item's queue, and then this item, if it was submitted without a delay.
  /// - Parameter timeout: Has no effect: no time passes.
  /// - Returns: `.timedOut` if the item has not ended, and is in no queue, runs now, or has a delay.
  public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { runAtOnce() ? .success : .timedOut }

  /// Submits work when the item has run, or when a cancelled item has had its turn; at once if the item has ended.
  ///
  /// `.barrier` has an effect in a concurrent queue.
  public func notify(
    qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [],
    queue: VirtualQueue,
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    let isBarrier = flags.contains(.barrier)  // a `Bool`, because the flags are not `Sendable`
    let submit = { @Sendable in queue.async(flags: isBarrier ? .barrier : [], execute: work) }
    let hasEnded = state.withLock { state in
      if !state.hasEnded { state.notifications.append(submit) }
      return state.hasEnded
    }
    if hasEnded { submit() }
  }

  /// Notes the place of this item in a queue, for `wait()`, unless another thread has already run the item.
  func didSubmit(_ number: Int, to queue: VirtualQueue) {
    state.withLock { if !$0.hasEnded { $0.place = (queue, number) } }
  }

  /// Runs the earlier work of the queue and this item; `false` if it has not ended, and is in no queue, has a delay, or runs.
  private func runAtOnce() -> Bool {
    let (hasEnded, place) = state.withLock { ($0.hasEnded, $0.place) }
    if hasEnded { return true }
    guard let place else { return false }
    return place.queue.runIfReady(upTo: place.number)
  }
}
