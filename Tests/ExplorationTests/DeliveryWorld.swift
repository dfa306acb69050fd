/// A future to which threads attach callbacks while another thread delivers its result (R2, R28).
///
/// A delivery runs one callback of another thread after the last own one, and hands the rest on.
final class DeliveryWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    case succeed
    case attach
    case attachAndRemove
    case peek
    /// Runs the rest of a delivery, if a thread has handed it on.
    case runRest
  }

  /// The action of the first of two callbacks, both attached before the threads begin.
  enum Shape: CaseIterable, Sendable {
    case plain
    /// Attaches another callback.
    case attaching
    /// Resolves a second future, whose callback attaches another callback to the first one.
    case nested
  }

  private let promise = Promise<Int, any Error>()
  private let future: Future<Int, any Error>
  private var callbacks: [ExploredCallback] = []

  /// How many of the callbacks below the resolution can run: removed ones count, because they were in the list.
  private let maximum: Int

  /// The thread that resolves the future, and the step before.
  private var deliverer: ExploredThread?
  private var resolution: Event?

  /// How many callbacks this thread has run for others since its last own one.
  private var runForOthers = 0
  private var handedOn: [() -> Void] = []
  private var handOns = 0
  private let handedOnLocation = ExploredLocation()
  private var faults: [String] = []

  init(_ shape: Shape, _ threads: [[Operation]]) {
    future = promise.future
    maximum = 1 + threads.joined().count { $0 == .attachAndRemove }
    let inner = Promise<Int, any Error>()
    if shape == .nested { inner.future.whenResolved(on: .immediate) { [unowned self] _ in attachNow() } }
    attach(RemovableCallback(ExploredCallback(attachedAt: nil))) { [unowned self] in
      if shape == .attaching { attachNow() }
      if shape == .nested { inner.succeed(1) }
    }
    attach(RemovableCallback(ExploredCallback(attachedAt: nil)))
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    takingRest {
      switch operation {
      case .succeed:
        (deliverer, resolution) = (thread, thread.now)
        promise.succeed(1)
        deliverer = nil
        if runForOthers > maximum { faults.append("a thread ran \(runForOthers) callbacks of other threads (R28)") }
        if callbacks.contains(where: { $0.isOwn(of: thread) && $0.results.isEmpty }) {
          faults.append("a call returned before its own callback (R2)")
        }
      case .attach: attachNow()
      case .attachAndRemove: attachNow()?.remove()
      case .peek:
        if future.peek() != nil, let resolution, !thread.hasSeen(resolution) {
          faults.append("a thread saw the value, but not what came before it")
        }
      case .runRest:
        thread.step(.write, at: handedOnLocation)
        thread.acquire(handedOnLocation.released)
        runRest()
      }
    }
  }

  private func takingRest(_ body: () -> Void) {
    let previous = Trampoline.current.setElsewhere { [unowned self] work in
      // Like a queue: the thread that runs the rest has seen the steps before.
      if let thread = ExploredThread.current {
        thread.step(.write, at: handedOnLocation)
        thread.release(handedOnLocation)
      }
      handedOn.append(work)
      handOns += 1
    }
    body()
    _ = Trampoline.current.setElsewhere(previous)
  }

  private func runRest() {
    let rest = handedOn
    handedOn = []
    for work in rest { work() }
  }

  @discardableResult
  private func attachNow() -> RemovableCallback? {
    guard let thread = ExploredThread.current else { return nil }
    let removable = RemovableCallback(ExploredCallback(attachedAt: thread.now))
    attach(removable)
    return removable
  }

  private func attach(_ removable: RemovableCallback, then body: @escaping @Sendable () -> Void = {}) {
    let callback = removable.callback
    callbacks.append(callback)
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    callback.closure = closure
    // Before the resolution, other threads' callbacks are among those that the delivery finds.
    let isFound = !future.isResolved
    removable.registration = future.whenResolved(on: .immediate) { [unowned self] result in
      closure.use()
      if callbacks.contains(where: { $0.isDue(before: callback) }) { faults.append("a callback overtook another (R2)") }
      callback.results.append(result)
      if let thread = ExploredThread.current {
        if thread.hasLock { faults.append("user code ran under a lock (R3)") }
        if thread === deliverer { runForOthers = isFound || callback.isOwn(of: thread) ? 0 : runForOthers + 1 }
      }
      body()
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    takingRest {
      runRest()
      promise.succeed(1)
    }
    if handOns > 1 || !handedOn.isEmpty { faults.append("a delivery was handed on twice (R28)") }
    for callback in callbacks { faults += callback.faults("value 1") }
    return faults.first
  }
}

extension ExploredCallback {
  /// Whether `thread` has attached the callback, or found it.
  fileprivate func isOwn(of thread: ExploredThread) -> Bool { attachment.map { $0.thread == thread.number } ?? true }
}
