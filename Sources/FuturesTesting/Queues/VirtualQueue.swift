public import Dispatch
internal import Futures

/// A stand-in for a Dispatch queue, whose work runs when the test decides: a queue of a `ManualContext`, or of `Orders`.
///
/// A virtual queue has the methods of `DispatchQueue` that code uses most, with the same parameters:
///
/// ```swift
/// let manual = ManualContext()
/// let queue = manual.queue("saving")
/// queue.asyncAfter(deadline: .now() + 2) { print("saved") }
/// manual.advance(by: .seconds(2))  // saved
/// ```
///
/// So code can take this type or `DispatchQueue` through a protocol or a type alias. <doc:TestingCodeWithQueues> shows
/// both.
///
/// Work runs on one thread, one piece at a time. A serial queue runs its work in the order of submission. A concurrent one keeps no
/// order, except at barriers. Quality of service, and flags other than `.barrier`, have no effect.
public final class VirtualQueue: Sendable {
  typealias Work = @Sendable () -> Void

  /// The place that keeps the work until it runs: a manual context, or a run of `exploreOrders`.
  struct Backend: Sendable {
    /// Keeps work that is ready.
    ///
    /// Returns a closure that removes the work and returns it; `nil` once the work has started.
    let submit: @Sendable (_ work: @escaping Work) -> @Sendable () -> Work?

    /// Keeps work that is ready after a delay, which is more than zero.
    let submitAfter: @Sendable (_ nanoseconds: Int64, _ work: @escaping Work) -> Void

    /// Called before a queue runs work in `sync` or `wait()`, outside the backend's order.
    let willRunAtOnce: @Sendable () -> Void
  }

  private struct Item {
    let number: Int

    /// Whether this work waits for all earlier work, and later work waits for it; in a serial queue always `true`.
    let isBarrier: Bool

    /// Takes the work out of the backend, if it has not started; there is no such closure before the backend gets the work.
    var take: (@Sendable () -> Work?)?

    /// The work until the backend gets it: while it waits for a barrier, or is a barrier that waits for other work.
    var held: Work?
  }

  private struct State {
    /// The work that has not started, in the order of submission; work with a delay is not here before its delay has passed.
    var items: [Item] = []
    var lastNumber = 0

    /// How many pieces of work run now: more than one in nested calls of `sync`.
    var running = 0
    var isBarrierRunning = false

    /// Whether work that runs now keeps a caller from running the items up to a number: it, or one of them, is a barrier.
    func isBlocked(upTo number: Int) -> Bool {
      if isBarrierRunning { return true }
      return running > 0 && items.contains { $0.number <= number && $0.isBarrier }
    }

    /// Whether a barrier runs or waits.
    var hasBarrier: Bool { isBarrierRunning || items.contains(where: \.isBarrier) }

    /// Takes the work of the first item that can go to the backend now; the item stays in `items` until it starts.
    /// - Returns: The item's number, whether it is a barrier, and its work; `nil` if no item can go to the backend.
    mutating func takeUnblocked(isConcurrent: Bool) -> (number: Int, isBarrier: Bool, work: Work)? {
      for index in items.indices {
        let item = items[index]
        // In a serial queue no item waits here, because the backend keeps the order.
        if isConcurrent {
          let isFirst = index == 0 && running == 0  // no earlier work runs or waits
          let hasToWait = item.isBarrier ? !isFirst : isBarrierRunning
          if hasToWait { return nil }
        }
        if let work = items[index].held.take() { return (item.number, item.isBarrier, work) }  // not in the backend yet
        if isConcurrent, item.isBarrier { return nil }  // the backend has this barrier, and later work waits for it
      }
      return nil
    }
  }

  /// The label.
  public let label: String

  private let isConcurrent: Bool
  private let backend: Backend
  private let state = Locked(State())

  init(label: String, isConcurrent: Bool, backend: Backend) {
    (self.label, self.isConcurrent, self.backend) = (label, isConcurrent, backend)
  }

  // MARK: - Submitting

  /// Submits work; `.barrier` has an effect in a concurrent queue.
  public func async(
    group: DispatchGroup? = nil,
    qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    group?.enter()
    add(isBarrier: flags.contains(.barrier)) {
      work()
      group?.leave()
    }
  }

  /// Submits a work item of Dispatch.
  ///
  /// The item runs unless it is cancelled. The queue cannot read the item's flags. Do not call the item's `wait()`, which blocks the
  /// thread that would run the item. Its `notify` submits to a queue of Dispatch in real time; in `exploreOrders`, only the main
  /// queue is part of the run. A `VirtualWorkItem` has none of these limits.
  public func async(execute workItem: DispatchWorkItem) {
    nonisolated(unsafe) let item = workItem  // Safe: Dispatch also runs an item on any thread.
    add(isBarrier: false) { item.perform() }
  }

  /// Submits a work item.
  public func async(execute workItem: VirtualWorkItem) {
    let number = add(isBarrier: workItem.isBarrier) { workItem.perform() }
    workItem.didSubmit(number, to: self)  // for the item's `wait()`, which runs the work up to this number
  }

  /// Submits work that runs at `deadline`, such as `.now() + 2`; `.barrier` has an effect in a concurrent queue.
  ///
  /// The distance from now counts in virtual time, rounded up to milliseconds.
  public func asyncAfter(
    deadline: DispatchTime,
    qos: DispatchQoS = .unspecified,
    flags: DispatchWorkItemFlags = [],
    execute work: @escaping @Sendable @convention(block) () -> Void
  ) {
    add(at: deadline, isBarrier: flags.contains(.barrier)) { work() }
  }

  /// Submits a work item of Dispatch that runs at `deadline`.
  ///
  /// A cancelled item keeps its place, and does nothing. See `async(execute:)` for the limits of such items.
  public func asyncAfter(deadline: DispatchTime, execute workItem: DispatchWorkItem) {
    nonisolated(unsafe) let item = workItem  // Safe: Dispatch also runs an item on any thread.
    add(at: deadline, isBarrier: false) { item.perform() }
  }

  /// Submits a work item that runs at `deadline`.
  public func asyncAfter(deadline: DispatchTime, execute workItem: VirtualWorkItem) {
    let number = add(at: deadline, isBarrier: workItem.isBarrier) { workItem.perform() }
    if let number { workItem.didSubmit(number, to: self) }  // `nil`: a timer, which the item's `wait()` never runs
  }

  // MARK: - Running at once

  /// Runs the work that was submitted before, and then `work`, on the calling thread.
  ///
  /// In a concurrent queue it runs earlier work only up to the last barrier. Call it on the thread of the test.
  ///
  /// Traps if running work of this queue calls it, and `work` would wait for that work: Dispatch would never return, or trap.
  public func sync<Result>(execute work: () throws -> Result) rethrows -> Result {
    try runAtOnce(isBarrier: false, work)
  }

  /// Runs the work that was submitted before, and then `work` with flags, on the calling thread.
  ///
  /// With `.barrier` it runs all earlier work of a concurrent queue.
  public func sync<Result>(flags: DispatchWorkItemFlags, execute work: () throws -> Result) rethrows -> Result {
    try runAtOnce(isBarrier: flags.contains(.barrier), work)
  }

  /// Runs the work that was submitted before, and then a work item, on the calling thread.
  public func sync(execute workItem: DispatchWorkItem) { runAtOnce(isBarrier: false) { workItem.perform() } }

  /// Runs the work that was submitted before, and then a work item, on the calling thread.
  public func sync(execute workItem: VirtualWorkItem) {
    runAtOnce(isBarrier: workItem.isBarrier) { workItem.perform() }
  }

  /// Runs earlier work and then `work`, for `sync`.
  ///
  /// Traps at a deadlock: running work has called `sync`, and `work` would have to wait for the running work.
  private func runAtOnce<Result>(isBarrier: Bool, _ work: () throws -> Result) rethrows -> Result {
    let isBarrier = isBarrier || !isConcurrent  // in a serial queue, each piece of work
    backend.willRunAtOnce()  // a run of `exploreOrders` reports the call
    let (isDeadlock, last) = state.withLock { state in
      // A barrier waits for all work that runs; other work only for barriers.
      let isDeadlock = isBarrier ? state.running > 0 : state.isBlocked(upTo: state.lastNumber)
      return (isDeadlock, state.lastNumber)
    }
    precondition(
      !isDeadlock,
      "`sync` on the queue “\(label)” is called from work of that queue, and waits for it: a deadlock."
    )
    runWork(upTo: last, all: isBarrier)  // other work waits only up to the last barrier
    return try run(isBarrier: isBarrier, work)
  }

  /// Runs the first pieces of work, for a caller that waits for them and has checked that no running work blocks them.
  /// - Parameters:
  ///   - last: The number of the last piece to run.
  ///   - runsAll: Whether to run all pieces up to `last`; if not, only those up to the last barrier among them.
  private func runWork(upTo last: Int, all runsAll: Bool) {
    func nextItem(_ state: State) -> Item? {
      let hasBarrier = state.items.contains { $0.number <= last && $0.isBarrier }
      return runsAll || hasBarrier ? state.items.first { $0.number <= last } : nil
    }
    while let item = state.withLock({ nextItem($0) }) {
      // No work if the test has ended: the backend has dropped it, or never got it because a dropped barrier held it back.
      guard let work = item.take?() else { remove(item.number); continue }
      work()  // removes its item
    }
  }

  /// Runs all work up to a number on the calling thread, for `wait()` of the work item with this number.
  /// - Returns: Whether the item was in the queue, ready and not started. If not, nothing runs.
  func runIfReady(upTo number: Int) -> Bool {
    backend.willRunAtOnce()  // a run of `exploreOrders` reports the call
    let isReady = state.withLock { state in state.items.contains { $0.number == number } }
    guard isReady else { return false }
    precondition(
      state.withLock { !$0.isBlocked(upTo: number) },
      "`wait()` for a work item of the queue “\(label)” is called from work of that queue: a deadlock."
    )
    runWork(upTo: number, all: true)  // `all` also on a concurrent queue: Dispatch starts all earlier work first
    return true
  }

  // MARK: - The order

  /// Adds work that is ready, and returns its number.
  @discardableResult
  private func add(isBarrier: Bool, _ work: @escaping Work) -> Int {
    let isBarrier = isBarrier || !isConcurrent  // in a serial queue, each piece of work
    let number = state.withLock { state in
      state.lastNumber += 1
      state.items.append(Item(number: state.lastNumber, isBarrier: isBarrier, held: work))
      return state.lastNumber
    }
    submitUnblocked()
    return number
  }

  /// Adds work that is ready at `deadline`, and returns its number if it is ready now; otherwise it is a timer, without a number.
  @discardableResult
  private func add(at deadline: DispatchTime, isBarrier: Bool, _ work: @escaping Work) -> Int? {
    let delay = deadline.nanosecondsFromNow
    guard delay > 0 else { return add(isBarrier: isBarrier, work) }
    let isBarrier = isBarrier || !isConcurrent  // in a serial queue, each piece of work
    backend.submitAfter(delay) { [self] in
      // A barrier waits for all work, and other work for a barrier. A serial queue needs no check: its backend keeps the order.
      let isBlocked = state.withLock { isBarrier ? $0.running > 0 || !$0.items.isEmpty : $0.hasBarrier }
      if isConcurrent, isBlocked {
        add(isBarrier: isBarrier, work)  // to wait as ready work
      } else {
        run(isBarrier: isBarrier, work)
      }
    }
    return nil
  }

  /// Called when work was added or has ended: gives the backend the work that barriers no longer hold back.
  private func submitUnblocked() {
    while let (number, isBarrier, work) = state.withLock({ $0.takeUnblocked(isConcurrent: isConcurrent) }) {
      let take = backend.submit { [self] in
        remove(number)
        run(isBarrier: isBarrier, work)
      }
      state.withLock { state in
        // Another thread can have started the work already, which removed the item.
        guard let index = state.items.firstIndex(where: { $0.number == number }) else { return }
        state.items[index].take = take  // lets `sync` run the work itself
      }
    }
  }

  private func remove(_ number: Int) {  // because the work of the item starts, or the backend has dropped it
    let removed = state.withLock { state in
      state.items.firstIndex { $0.number == number }.map { state.items.remove(at: $0) }
    }
    _ = removed  // released here, outside the lock
  }

  /// Runs a piece of work, which counts as running meanwhile, and then submits the work that waited for its end.
  private func run<Result>(isBarrier: Bool, _ work: () throws -> Result) rethrows -> Result {
    state.withLock { state in
      state.running += 1
      if isBarrier { state.isBarrierRunning = true }
    }
    defer {
      state.withLock { state in
        state.running -= 1
        if isBarrier { state.isBarrierRunning = false }
      }
      submitUnblocked()
    }
    return try work()
  }
}

extension DispatchTime {
  /// The distance from now, rounded up to milliseconds: some time has passed since the caller computed the deadline.
  fileprivate var nanosecondsFromNow: Int64 {
    guard self != .distantFuture else { return .max }
    let (deadline, now) = (uptimeNanoseconds, DispatchTime.now().uptimeNanoseconds)
    guard deadline > now else { return 0 }
    let millisecond: UInt64 = 1_000_000
    return Int64(clamping: (deadline - now + millisecond - 1) / millisecond * millisecond)
  }
}
