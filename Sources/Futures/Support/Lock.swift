public import CFutures

/// The one lock of the library: four bytes, parks a thread that has to wait.
///
/// Each declaration of a lock names the data that it protects. `withLock` runs no user code, releases no object of the
/// user and resumes no continuation (R3).
///
/// Not recursive: a thread that locks it twice traps on Apple platforms, and waits for ever elsewhere.
///
/// Q: Why not `Mutex` of the standard library? A: It needs macOS 15 and iOS 18. On Linux it also lends the priority of a
/// waiting thread to the owner. For that it asks for the number of the thread at each operation, and its slow path is a false
/// race for ThreadSanitizer. An owner of this lock runs a few dozen instructions.
@_rawLayout(like: UInt32)
@frozen
@usableFromInline
struct Lock: ~Copyable, @unchecked Sendable {
  // @unchecked: after the initializer, each access is atomic.
  @inlinable
  @inline(__always)
  init() { place.initializeMemory(as: UInt32.self, to: 0) }

  /// The address of the lock, which does not change while the lock is borrowed.
  @inlinable
  @inline(__always)
  var place: UnsafeMutableRawPointer { withUnsafePointer(to: self) { UnsafeMutableRawPointer(mutating: $0) } }

  @inlinable
  func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
    cfutures_lock(place)
    defer { cfutures_unlock(place) }
    return body()
  }
}

extension Lock {
  /// Calls `body`; returns `nil` without calling it if another thread has the lock.
  func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
    guard cfutures_try_lock(place) else { return nil }
    defer { cfutures_unlock(place) }
    return body()
  }
}

/// A value under a lock of its own, for places where no object with a lock contains it.
package final class Locked<Value>: @unchecked Sendable {
  // @unchecked: `value` is used under `lock` only.
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    cfutures_lock(lock.place)  // not `lock.withLock`, whose closure around `body` would be one more call
    defer { cfutures_unlock(lock.place) }
    return body(&value)
  }

  /// As `withLock`; returns `nil` without calling `body` if another thread has the lock.
  package func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    lock.withLockIfAvailable { body(&value) }
  }
}
