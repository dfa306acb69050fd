public import CFutures
public import Synchronization

/// The one lock of the library: four bytes, parks a thread that has to wait.
///
/// Each declaration of a lock names the data that it protects. `withLock` runs no user code, releases no object of the
/// user and resumes no continuation (R3).
///
/// Q: Why does it notify ThreadSanitizer? A: The slow path of `Mutex` for Linux is in the runtime and the kernel.
/// ThreadSanitizer does not instrument these, so it reports a contended `Mutex` as a race. Swift has no compilation
/// condition for an instrumented build, so a weak symbol detects ThreadSanitizer at run time. Without it, the cost is
/// two loads and two branches; on Apple platforms and Windows there is none.
@frozen
@usableFromInline
struct Lock: ~Copyable, Sendable {
  @usableFromInline let mutex = Mutex<Void>(())

  @inlinable
  init() {}

  @inlinable
  func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
    mutex.withLock { _ in
      noteAcquired()
      defer { noteReleasing() }
      return body()
    }
  }

  @inlinable
  @inline(__always)
  func noteAcquired() {
    withUnsafePointer(to: mutex) { cfutures_lock_acquired($0) }
  }

  @inlinable
  @inline(__always)
  func noteReleasing() {
    withUnsafePointer(to: mutex) { cfutures_lock_releasing($0) }
  }
}

extension Lock {
  /// Calls `body` unless another thread has the lock.
  /// - Returns: The result of `body`; `nil` if another thread has the lock.
  func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
    mutex.withLockIfAvailable { _ in
      noteAcquired()
      defer { noteReleasing() }
      return body()
    }
  }
}

/// A value under a lock of its own, for places where no object with a lock contains it.
package final class Locked<Value>: @unchecked Sendable {
  // @unchecked: `value` is used under `lock` only.
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}
