/// One thread's inline deliveries: the queues of pending ones, and the depth of nested ones.
///
/// Nested deliveries must not grow the stack (R6), although user code runs between them: a callback resolves a promise whose
/// callback resolves a promise, and so on. No parameter can pass through user code, so the depth is per thread. Up to
/// `maximumDepth` deliveries nest, so a promise that is resolved in a callback normally delivers at once. Deeper ones are
/// deferred. The outermost delivery of the thread runs them before it returns (R2).
///
/// The library's own stages (`map`, `flatMap`, followers) never nest: a state that they resolve goes to `ready`.
///
/// Only its own thread uses a trampoline, so it needs no lock, and no other thread makes its queues longer (R28).
///
/// A pointer and not a class: counting references to it took a tenth of a delivery.
@usableFromInline
package struct Trampoline {
  /// How many deliveries can nest.
  ///
  /// A level of small closures takes up to 4.5 KiB of stack in a debug build, and 1 KiB in a release build. So all levels
  /// fit well into a stack of 512 KiB.
  static let maximumDepth = 16

  struct Storage {
    var depth = 0

    /// The states with work for this thread.
    var ready = FIFO<ReadyState>()

    /// Deliveries that began at `maximumDepth`.
    var deferred = FIFO<() -> Void>()

    /// How many cancellations of tokens and futures nest now.
    var cancellationDepth = 0

    /// Cancellations that began at `maximumCancellationDepth`.
    var deferredCancellations = FIFO<() -> Void>()

    /// Runs work that this thread hands on, in place of the global queue; set by the test kit.
    var submitElsewhere: Elsewhere?

    /// How many calls of the handler of misuse nest now.
    var misuseDepth = 0

    /// The innermost delivery that runs on this thread now.
    var delivery: UnsafeMutablePointer<Delivery>?
  }

  /// A running delivery, on the stack of `drain`, which keeps its objects alive.
  struct Delivery {
    let state: Unmanaged<FutureState>
    let outer: UnsafeMutablePointer<Delivery>?

    #if DEBUG
      /// The consumer that runs now.
      var consumer: Unmanaged<Consumer>?
    #endif

    func delivers(_ state: FutureState) -> Bool { self.state.toOpaque() == Unmanaged.passUnretained(state).toOpaque() }
  }

  /// The deliveries that run on this thread now, the innermost first.
  var deliveries: some Sequence<Delivery> {
    sequence(state: storage.pointee.delivery) { next in
      defer { next = next?.pointee.outer }
      return next?.pointee
    }
  }

  /// A state with work for this thread.
  struct ReadyState {
    let state: FutureState
    /// Whether to notify the listeners of a changed progress; otherwise, to run the consumers: a stage has resolved the state.
    let isForProgress: Bool
  }

  let storage: UnsafeMutablePointer<Storage>

  package typealias Elsewhere = (@escaping @Sendable () -> Void) -> Void

  /// Sets, for the test kit, the function that replaces the global queue for work of this thread; `nil` for the queue itself.
  /// - Returns: The previous function, which the caller sets again later.
  package func setElsewhere(_ submit: Elsewhere?) -> Elsewhere? {
    defer { storage.pointee.submitElsewhere = submit }
    return storage.pointee.submitElsewhere
  }

  /// Whether deliveries can nest one level deeper.
  var canDeliver: Bool { storage.pointee.depth < Self.maximumDepth }

  /// Runs the consumers of `state`, which user code has resolved.
  ///
  /// If deliveries nest too deeply, only resumes the waiters, and defers the other consumers.
  /// - Parameters:
  ///   - state: A settled state that no other thread delivers.
  ///   - first: The first consumer, if the resolution took it. A resolution takes none if deliveries nest too deeply.
  ///   - mayHandOn: Whether this thread can hand the delivery on to the global queue; `false` if another thread handed it on.
  func deliver(_ state: FutureState, startingWith first: TakenConsumer? = nil, mayHandOn: Bool = true) {
    guard first != nil || canDeliver else {
      // Resuming takes no stack. Not deferred, because this thread can block until the task of the waiter has continued.
      guard state.resumeWaiters(in: self) else { return }  // no callback is left
      return storage.pointee.deferred.append { state.drain(in: self, mayHandOn: mayHandOn) }
    }
    storage.pointee.depth += 1
    state.drain(in: self, startingWith: first, mayHandOn: mayHandOn)
    leave()
  }

  /// Notifies the progress listeners of `state` and of the states whose progress contains its progress.
  func notifyListeners(of state: FutureState) {
    notifyLater(state)
    // A callback can report to another future, whose callback reports to the next one, so notifications nest as deliveries do.
    guard enter() else { return }  // too deep, or closures are deferred: the running level runs the ready states
    leave()  // notifies: it runs the ready states, of which `state` is one
  }

  /// Makes `state` ready: this thread notifies its progress listeners when the current delivery or notification ends.
  func notifyLater(_ state: FutureState) {
    storage.pointee.ready.append(ReadyState(state: state, isForProgress: true))
  }

  /// Runs `body` now, or at the end of the thread's outermost delivery if `enter()` returns `false`.
  ///
  /// Allocates a closure each time. A hot path calls `enter()`, `defer(_:)` and `leave()` itself, and allocates only to defer.
  func runOrDefer(_ body: @escaping () -> Void) {
    guard enter() else { return `defer`(body) }
    body()
    leave()
  }

  /// Returns whether the caller can run a user's closure inline now.
  ///
  /// If so, the caller calls `leave()` afterwards, and otherwise `defer(_:)`. Returns `false` while older closures are deferred,
  /// so that the closures of one future keep their order.
  @usableFromInline
  func enter() -> Bool {
    guard storage.pointee.depth < Self.maximumDepth, storage.pointee.deferred.isEmpty else { return false }
    storage.pointee.depth += 1
    return true
  }

  /// Runs the ready states, and in the outermost delivery also the deferred deliveries, then ends the delivery.
  @usableFromInline
  func leave() {
    runReady()
    if storage.pointee.depth == 1, !storage.pointee.deferred.isEmpty { runDeferred() }
    storage.pointee.depth -= 1
  }

  /// Enqueues `body` for the end of the thread's outermost delivery.
  ///
  /// Call it only after `enter()` has returned `false`.
  @usableFromInline
  func `defer`(_ body: @escaping () -> Void) {
    storage.pointee.deferred.append(body)
  }

  /// Empties the queues of this thread, which is about to block, because the work in the queues can end the thread's wait.
  func runPending() {
    // Each queue can fill another one: a deferred cancellation resolves a future whose delivery is then deferred too.
    while !storage.pointee.ready.isEmpty || !storage.pointee.deferred.isEmpty
      || !storage.pointee.deferredCancellations.isEmpty
    {
      runReady()
      runDeferred()
      runDeferredCancellations()
    }
  }

  /// Runs the work of the ready states, also of those that become ready meanwhile.
  private func runReady() {
    while let next = storage.pointee.ready.popFirst() {
      let isForProgress = next.isForProgress
      // Moved: a copy would be another counted reference.
      let state = (consume next).state
      if isForProgress { state.notifyListenersOnce(in: self) } else { state.drain(in: self) }
    }
  }

  /// Runs the deferred deliveries, and after each one the states that it made ready.
  private func runDeferred() {
    while let body = storage.pointee.deferred.popFirst() {
      body()
      runReady()
    }
  }
}
