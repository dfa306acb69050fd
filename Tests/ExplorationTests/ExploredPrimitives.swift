internal import struct Synchronization.Mutex

// This module compiles the sources of the core a second time, through the link `Core`. There the atomics and `Lock` are the
// types of this file, in place of the core's own, which the target leaves out. So the explorer runs the core line by line.

@usableFromInline typealias AtomicByte = Atomic
@usableFromInline typealias AtomicWord = Atomic

/// The orderings of the core, and sequential consistency, which only the litmus tests use.
@usableFromInline
enum AtomicLoadOrdering: Sendable { case relaxed, acquiring, sequentiallyConsistent }

@usableFromInline
enum AtomicStoreOrdering: Sendable { case relaxed, releasing, sequentiallyConsistent }

@usableFromInline
enum AtomicUpdateOrdering: Sendable {
  case relaxed, acquiring, releasing, acquiringAndReleasing, sequentiallyConsistent
}

/// The place of an operation in the sources.
@usableFromInline
struct CallSite {
  let file: StaticString
  let line: UInt
  let function: StaticString

  @usableFromInline
  init(_ file: StaticString, _ line: UInt, _ function: StaticString) {
    self.file = file
    self.line = line
    self.function = function
  }

  /// Whether the operation is in a deinitializer.
  ///
  /// Reference counting orders a deinitializer after all uses of the object. The explorer does not see the counts.
  var isDeinitializer: Bool { function.utf8CodeUnitCount == 6 && function.description == "deinit" }

  /// Whether the operation only checks an invariant, and is no step.
  var isCheck: Bool {
    function.utf8CodeUnitCount >= 13 && ["phaseForCheck", "statusForCheck"].contains(function.description)
  }
}

/// An atomic of which each operation is a step of the explored thread.
@usableFromInline
struct Atomic<Value>: ~Copyable, @unchecked Sendable {
  // @unchecked: for the same reason as `ModificationHistory`.
  private let history: ModificationHistory<Value>

  @usableFromInline
  init(_ value: Value) { history = ModificationHistory(value) }

  @usableFromInline
  func load(
    ordering: AtomicLoadOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) -> Value {
    guard let thread = ExploredThread.current else { return history.newest }
    let site = CallSite(file, line, function)
    guard !site.isCheck else { return history.newest }
    let isSequential = ordering == .sequentiallyConsistent
    let isAcquiring = ordering != .relaxed && !thread.explorer.weakens(.acquire, at: site)
    let countBefore = history.count
    thread.step(.read, at: history)
    guard !site.isDeinitializer else { return history.newest }
    history.checkCreation(seenBy: thread)
    let stale = thread.explorer.useful(history.staleIndices(for: thread, isSequential: isSequential), countBefore)
    let choice = stale.isEmpty ? 0 : thread.explorer.chooseValue(among: stale.count + 1)
    let index = choice == 0 ? nil : stale.upperBound - choice
    return history.load(index, by: thread, isAcquiring: isAcquiring, isSequential: isSequential)
  }

  @usableFromInline
  func store(
    _ value: Value,
    ordering: AtomicStoreOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) {
    guard let thread = ExploredThread.current else { return history.reset(value) }
    let isReleasing = ordering != .relaxed && !thread.explorer.weakens(.release, at: CallSite(file, line, function))
    thread.step(.write, at: history)
    history.checkCreation(seenBy: thread)
    let isSequential = ordering == .sequentiallyConsistent
    history.store(value, by: thread, isReleasing: isReleasing, isSequential: isSequential, isUpdate: false)
  }

  /// Reads and writes in one step.
  /// - Parameters:
  ///   - ordering: The ordering of a read-modify-write. A read without a write only acquires.
  ///   - site: The place of the operation.
  ///   - change: Returns the new value; `nil` if the operation does not write.
  /// - Returns: Whether it has written, and the value that it has read.
  private func update(
    _ ordering: AtomicUpdateOrdering,
    _ site: CallSite,
    _ change: (Value) -> Value?
  ) -> (exchanged: Bool, original: Value) {
    guard let thread = ExploredThread.current else {
      let original = history.newest
      guard let new = change(original) else { return (false, original) }
      history.reset(new)
      return (true, original)
    }
    let (canAcquire, canRelease) =
      switch ordering {
      case .acquiring: (true, false)
      case .releasing: (false, true)
      case .acquiringAndReleasing, .sequentiallyConsistent: (true, true)
      case .relaxed: (false, false)
      }
    let isSequential = ordering == .sequentiallyConsistent
    let isAcquiring = canAcquire && !thread.explorer.weakens(.acquire, at: site)
    let isReleasing = canRelease && !thread.explorer.weakens(.release, at: site)
    let countBefore = history.count
    thread.step(.write, at: history)
    history.checkCreation(seenBy: thread)
    // An exchange that fails is a load, which can return an older value.
    let stale = thread.explorer.useful(history.staleIndices(for: thread, isSequential: isSequential), countBefore)
    let failing = stale.reversed().filter { change(history.value(at: $0)) == nil }
    let choice = failing.isEmpty ? 0 : thread.explorer.chooseValue(among: failing.count + 1)
    let index = choice == 0 ? nil : failing[choice - 1]
    let original = history.load(index, by: thread, isAcquiring: isAcquiring, isSequential: isSequential)
    guard let new = change(original) else { return (false, original) }
    history.store(new, by: thread, isReleasing: isReleasing, isSequential: isSequential, isUpdate: true)
    return (true, original)
  }
}

extension Atomic where Value: Equatable {
  @usableFromInline
  func compareExchange(
    expected: Value,
    desired: Value,
    ordering: AtomicUpdateOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) -> (exchanged: Bool, original: Value) {
    let isBlind = ExploredThread.current?.explorer.bug == .missedRecheck
    return update(ordering, CallSite(file, line, function)) { $0 == expected || isBlind ? desired : nil }
  }
}

extension Atomic<Int> {
  @usableFromInline
  @discardableResult
  func subtract(
    _ operand: Int,
    ordering: AtomicUpdateOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) -> (oldValue: Int, newValue: Int) {
    let old = update(ordering, CallSite(file, line, function)) { $0 - operand }.original
    return (old, old - operand)
  }
}

extension Atomic<UInt8> {
  @usableFromInline
  @discardableResult
  func bitwiseOr(
    _ operand: UInt8,
    ordering: AtomicUpdateOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) -> (oldValue: UInt8, newValue: UInt8) {
    let old = update(ordering, CallSite(file, line, function)) { $0 | operand }.original
    return (old, old | operand)
  }

  @usableFromInline
  @discardableResult
  func bitwiseAnd(
    _ operand: UInt8,
    ordering: AtomicUpdateOrdering,
    _ file: StaticString = #fileID,
    _ line: UInt = #line,
    _ function: StaticString = #function
  ) -> (oldValue: UInt8, newValue: UInt8) {
    let old = update(ordering, CallSite(file, line, function)) { $0 & operand }.original
    return (old, old & operand)
  }
}

/// The core's lock, whose locking is a step of the explored thread.
///
/// The explorer does not choose a thread that waits for a lock.
@usableFromInline
struct Lock: ~Copyable, Sendable {
  private let location = ExploredLocation()

  /// Keeps the lock at one address, like the core's lock, which uses its address.
  private let place = Mutex<Void>(())

  @usableFromInline
  init() {}

  @usableFromInline
  func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
    guard let thread = ExploredThread.current else { return body() }
    // With `checkOutsideTheLock`, the thread makes the same step without waiting for the lock.
    thread.step(thread.explorer.bug == .checkOutsideTheLock ? .write : .lock, at: location)
    location.checkCreation(seenBy: thread)
    thread.lock(location)
    defer { thread.unlock(location) }
    return body()
  }

  func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
    guard let thread = ExploredThread.current else { return body() }
    thread.step(.tryLock, at: location)
    location.checkCreation(seenBy: thread)
    guard !location.isLocked else { return nil }
    thread.lock(location)
    defer { thread.unlock(location) }
    return body()
  }
}

/// A value that a `Lock` of this file protects.
final class Locked<Value>: @unchecked Sendable {
  // @unchecked: `value` is used under `lock` only.
  private let lock = Lock()
  private var value: Value

  init(_ value: Value) { self.value = value }

  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }

  func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    lock.withLockIfAvailable { body(&value) }
  }
}
