public import Synchronization

// This module compiles the sources of the core a second time (the folder `Core` is a link to them). What they say of `Atomic`
// and `Lock` finds the types of this file: the one before that of `Synchronization`, the other in the place of the core's own, which
// is left out. So what is explored is the core, line by line.

/// Where an explored atomic or lock keeps its value, and what one learns from it.
@usableFromInline
final class Location<Value>: ExploredLocation, @unchecked Sendable {
  // @unchecked: one explored thread runs at a time.
  var value: Value

  init(_ value: Value) { self.value = value }
}

/// The part of a location that the explorer needs.
@usableFromInline
class ExploredLocation: @unchecked Sendable {
  // @unchecked: one explored thread runs at a time.

  /// What happened before that which a thread reads here, if it acquires.
  var released = VectorClock()

  /// Whether it is a lock that a thread has.
  var isLocked = false
}

/// An atomic of which each operation is a step of the explored thread.
///
/// The steps have one order for all threads. Of weaker orders it is known what they do not promise: who reads without acquiring, or
/// what was stored without releasing, has not seen what happened before the store.
@usableFromInline
struct Atomic<Value>: ~Copyable, @unchecked Sendable {
  // @unchecked: as the location says.
  private let location: Location<Value>

  @usableFromInline
  init(_ value: Value) { location = Location(value) }

  @usableFromInline
  func load(ordering: AtomicLoadOrdering) -> Value {
    guard let thread = ExploredThread.current else { return location.value }
    thread.step(.read, at: location)
    if ordering != .relaxed, thread.explorer.bug != .droppedAcquire { thread.acquire(location) }
    return location.value
  }

  @usableFromInline
  func store(_ value: Value, ordering: AtomicStoreOrdering) {
    guard let thread = ExploredThread.current else { return location.value = value }
    thread.step(.write, at: location)
    // A relaxed store ends what an earlier one has released.
    let isReleasing = ordering != .relaxed && thread.explorer.bug != .droppedRelease
    thread.release(location, isReleasing: isReleasing, isContinuing: false)
    location.value = value
  }

  /// Reads and writes in one step, unless `change` does not want to write.
  private func update(
    _ ordering: AtomicUpdateOrdering,
    _ change: (Value) -> Value?
  ) -> (exchanged: Bool, original: Value) {
    let thread = ExploredThread.current
    thread?.step(.write, at: location)
    if ordering != .relaxed, ordering != .releasing { thread?.acquire(location) }
    let original = location.value
    guard let new = change(original) else { return (false, original) }
    // What an earlier store has released stays so.
    thread?.release(location, isReleasing: ordering != .relaxed && ordering != .acquiring, isContinuing: true)
    location.value = new
    return (true, original)
  }
}

extension Atomic where Value: Equatable {
  @usableFromInline
  func compareExchange(
    expected: Value,
    desired: Value,
    ordering: AtomicUpdateOrdering
  ) -> (exchanged: Bool, original: Value) {
    let isBlind = ExploredThread.current?.explorer.bug == .missedRecheck
    return update(ordering) { $0 == expected || isBlind ? desired : nil }
  }
}

extension Atomic<Int> {
  @usableFromInline
  @discardableResult
  func subtract(_ operand: Int, ordering: AtomicUpdateOrdering) -> (oldValue: Int, newValue: Int) {
    let old = update(ordering) { $0 - operand }.original
    return (old, old - operand)
  }
}

extension Atomic<UInt8> {
  @usableFromInline
  @discardableResult
  func bitwiseOr(_ operand: UInt8, ordering: AtomicUpdateOrdering) -> (oldValue: UInt8, newValue: UInt8) {
    let old = update(ordering) { $0 | operand }.original
    return (old, old | operand)
  }

  @usableFromInline
  @discardableResult
  func bitwiseAnd(_ operand: UInt8, ordering: AtomicUpdateOrdering) -> (oldValue: UInt8, newValue: UInt8) {
    let old = update(ordering) { $0 & operand }.original
    return (old, old & operand)
  }
}

/// The core's lock; each taking of it is a step of the explored thread, which is not chosen to go on before the lock is free.
@usableFromInline
struct Lock: ~Copyable, Sendable {
  private let location = ExploredLocation()

  /// Has the lock stay where it is, as that of the core does, which takes its address.
  private let place = Mutex<Void>(())

  @usableFromInline
  init() {}

  @usableFromInline
  func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
    guard let thread = ExploredThread.current else { return body() }
    // Who does not wait for the lock makes the same step.
    thread.step(thread.explorer.bug == .checkOutsideTheLock ? .write : .lock, at: location)
    thread.lock(location)
    defer { thread.unlock(location) }
    return body()
  }

  func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
    guard let thread = ExploredThread.current else { return body() }
    thread.step(.tryLock, at: location)
    guard !location.isLocked else { return nil }
    thread.lock(location)
    defer { thread.unlock(location) }
    return body()
  }
}

/// A value under such a lock.
final class Locked<Value>: @unchecked Sendable {
  // @unchecked: `value` is used under `lock` only.
  private let lock = Lock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}
