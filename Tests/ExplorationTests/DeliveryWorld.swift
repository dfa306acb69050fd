/// A future to which threads attach callbacks while another thread delivers its result (R2, R28).
///
/// A thread hands the rest of a delivery on after one callback for other threads.
final class DeliveryWorld: ExploredWorld, @unchecked Sendable {
  // @unchecked: only the running explored thread, or the explorer's caller between runs, uses the variables.

  enum Operation: String, CaseIterable, Sendable {
    case succeed
    case attach
    /// Removes the last of the callbacks that were attached before the threads began.
    case removeLast
    /// Runs the rest of a delivery, if a thread has handed it on.
    case runRest
  }

  /// The callbacks that were attached before the threads began.
  enum Shape: CaseIterable, Sendable {
    /// Three callbacks, more than one delivery runs without a look at the last one.
    case plain
    /// Three callbacks, the first of which attaches another one.
    case attaching
  }

  private let promise = Promise<Int, any Error>()
  private let future: Future<Int, any Error>
  private var callbacks: [ExploredCallback] = []
  private var last: RemovableCallback

  /// How many of these callbacks the resolution can run.
  private let maximum: Int

  /// The thread that resolves the future.
  private var deliverer: ExploredThread?

  /// The callbacks that other threads have attached after the resolution.
  private var late: Set<ObjectIdentifier> = []
  private var runForOthers = 0
  private var handedOn: [() -> Void] = []
  private let handedOnLocation = ExploredLocation()
  private var faults: [String] = []

  init(_ shape: Shape, _ threads: [[Operation]]) {
    future = promise.future
    last = RemovableCallback(ExploredCallback(attachedAt: nil))
    // Those between two callbacks of the thread do not count.
    maximum = shape == .attaching ? .max : 1
    attach(RemovableCallback(ExploredCallback(attachedAt: nil))) { [unowned self] in
      guard shape == .attaching, let thread = ExploredThread.current else { return }
      attach(RemovableCallback(ExploredCallback(attachedAt: thread.now)))
    }
    attach(RemovableCallback(ExploredCallback(attachedAt: nil)))
    attach(last)
  }

  func run(_ operation: Operation) {
    let thread = ExploredThread.current.unsafelyUnwrapped
    takingRest {
      switch operation {
      case .succeed:
        deliverer = thread
        promise.succeed(1)
        deliverer = nil
        if runForOthers > maximum { faults.append("a thread ran \(runForOthers) callbacks of other threads (R28)") }
        if callbacks.contains(where: { $0.isOwn(of: thread) && $0.results.isEmpty && !$0.removals.contains(true) }) {
          faults.append("a call returned before its own callback (R2)")
        }
      case .attach:
        let removable = RemovableCallback(ExploredCallback(attachedAt: thread.now))
        if future.isResolved { late.insert(ObjectIdentifier(removable.callback)) }
        attach(removable)
      case .removeLast: last.remove()
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
    }
    body()
    _ = Trampoline.current.setElsewhere(previous)
  }

  private func runRest() {
    let rest = handedOn
    handedOn = []
    for work in rest { work() }
  }

  private func attach(_ removable: RemovableCallback, then body: @escaping @Sendable () -> Void = {}) {
    let callback = removable.callback
    callbacks.append(callback)
    let closure = CapturedObject { [unowned self] fault in faults.append(fault) }
    callback.closure = closure
    removable.registration = future.whenResolved(on: .immediate) { [unowned self] result in
      closure.use()
      if callbacks.contains(where: { $0.isDue(before: callback) }) { faults.append("a callback overtook another (R2)") }
      callback.results.append(result)
      if let thread = ExploredThread.current {
        if thread.hasLock { faults.append("user code ran under a lock (R3)") }
        if thread === deliverer, late.contains(ObjectIdentifier(callback)) { runForOthers += 1 }
      }
      body()
    }
  }

  /// Returns the first fault after all threads have ended.
  func check() -> String? {
    takingRest {
      while !handedOn.isEmpty { runRest() }
      promise.succeed(1)
    }
    for callback in callbacks { faults += callback.faults("value 1") }
    return faults.first
  }
}

extension ExploredCallback {
  /// Whether `thread` has attached the callback, or found it.
  fileprivate func isOwn(of thread: ExploredThread) -> Bool { attachment.map { $0.thread == thread.number } ?? true }
}
