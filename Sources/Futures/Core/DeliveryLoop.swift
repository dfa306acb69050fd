/// What one thread still has to deliver inline, and how deep it already is in callbacks.
///
/// Depth must cost no stack (R6), yet user code stands between one delivery and the next: a callback resolves a promise
/// whose callback resolves a promise … No parameter can be handed through that code, so the count belongs to the thread.
/// Up to `maximumDepth` deliveries nest, as everybody expects who resolves a promise inside a callback; deeper ones are
/// deferred, and the outermost delivery of the thread runs them before it returns (R2).
///
/// The library's own stages (`map`, `flatMap`, followers) never nest: a state that they resolve goes to `ready`.
///
/// Every member is used by its own thread only, so nothing here is locked.
///
/// A pointer and not a class: it is handed through every delivery, and counting references to what a thread owns anyway took
/// a tenth of the time of one.
@usableFromInline
package struct DeliveryLoop {
  /// How many deliveries may nest.
  ///
  /// A level of small closures takes 1 KiB of stack in a debug build and a third of that in a release build, so that a
  /// thread with a stack of 512 KiB has ample room.
  static let maximumDepth = 16

  struct Storage {
    var depth = 0

    /// States that a stage of the library resolved during this thread's deliveries, and whose consumers are due.
    var ready = FIFO<AnySharedState>()

    /// States whose progress has changed, and whose listeners are due.
    var changed = FIFO<AnySharedState>()

    /// What was due at `maximumDepth`.
    var deferred = FIFO<() -> Void>()
  }

  let storage: UnsafeMutablePointer<Storage>

  /// Runs the consumers of `state`, whose resolution by user code put it into the delivering phase.
  @usableFromInline
  package func deliver(_ state: AnySharedState) {
    guard storage.pointee.depth < Self.maximumDepth else {
      // Those who only wait need no stack, and may be what this thread waits for.
      if state.resumeWaiters(in: self) { storage.pointee.deferred.append { state.drain(in: self) } }
      return
    }
    storage.pointee.depth += 1
    state.drain(in: self)
    leave()
  }

  /// Notes that `state`, which a stage of the library resolved during a delivery, has consumers that are due.
  @usableFromInline
  func deliverLater(_ state: AnySharedState) {
    storage.pointee.ready.append(state)
  }

  /// Tells the listeners of `state`, whose progress has changed, and of those whose progress is made of it.
  func tellListeners(of state: AnySharedState) {
    tellLater(state)
    // A callback may report to another future, whose callback may report to another …
    guard enter() else { return `defer` { runChanged() } }
    runChanged()
    leave()
  }

  /// Notes that the progress of `state` has changed, which `tellListeners` attends to.
  func tellLater(_ state: AnySharedState) {
    storage.pointee.changed.append(state)
  }

  /// Whether the caller may run a user's closure inline now; then it must call `leave()` after it.
  ///
  /// Not while older ones are deferred, so that those of one future keep their order.
  @usableFromInline
  func enter() -> Bool {
    guard storage.pointee.depth < Self.maximumDepth, storage.pointee.deferred.isEmpty else { return false }
    storage.pointee.depth += 1
    return true
  }

  /// Ends a delivery.
  ///
  /// The outermost one first runs all that is still due on this thread.
  @usableFromInline
  func leave() {
    runReady()
    if storage.pointee.depth == 1, !storage.pointee.deferred.isEmpty { runDeferred() }
    storage.pointee.depth -= 1
  }

  /// Queues `body` for the end of the thread's outermost delivery.
  ///
  /// Only after `enter()` answered `false`.
  @usableFromInline
  func `defer`(_ body: @escaping () -> Void) {
    storage.pointee.deferred.append(body)
  }

  /// Runs everything that is queued on this thread, since the thread is about to block and could not run it later.
  func runPending() {
    runChanged()
    runReady()
    runDeferred()
  }

  private func runReady() {
    while let state = storage.pointee.ready.popFirst() { state.drain(in: self) }
  }

  private func runChanged() {
    while let state = storage.pointee.changed.popFirst() { state.tellListenersOnce(in: self) }
  }

  private func runDeferred() {
    while let body = storage.pointee.deferred.popFirst() {
      body()
      runReady()
    }
  }
}
