public import Synchronization

#if TSAN
  // ThreadSanitizer cannot see the slow path of `Mutex` (it is in the uninstrumented runtime) and reports a contended
  // lock as a race. These two calls tell it what the lock guarantees; they exist in instrumented builds only.
  @_silgen_name("__tsan_acquire") @usableFromInline func tsanAcquire(_ address: UnsafeRawPointer)
  @_silgen_name("__tsan_release") @usableFromInline func tsanRelease(_ address: UnsafeRawPointer)
#endif

/// The one lock of the library: four bytes, parks a thread that has to wait.
///
/// What it protects is named where it is declared. No user code, no release of a user's object and no resumption of a
/// continuation happens inside `withLock` (R3).
@frozen
@usableFromInline
struct Lock: ~Copyable, Sendable {
  @usableFromInline let mutex = Mutex<Void>(())

  @inlinable
  init() {}

  @inlinable
  func withLock<Result: ~Copyable>(_ body: () -> Result) -> Result {
    #if TSAN
      let address = withUnsafePointer(to: mutex) { UnsafeRawPointer($0) }
    #endif
    return mutex.withLock { _ in
      #if TSAN
        tsanAcquire(address)
        defer { tsanRelease(address) }
      #endif
      return body()
    }
  }
}

extension Lock {
  /// Calls `body` unless another thread has the lock.
  /// - Returns: What `body` returned; `nil` if it was not called.
  func withLockIfAvailable<Result>(_ body: () -> Result) -> Result? {
    #if TSAN
      let address = withUnsafePointer(to: mutex) { UnsafeRawPointer($0) }
    #endif
    return mutex.withLockIfAvailable { _ in
      #if TSAN
        tsanAcquire(address)
        defer { tsanRelease(address) }
      #endif
      return body()
    }
  }
}

/// A value that threads take turns with, for the rare places where it is not part of an object that has a lock.
package final class Locked<Value>: @unchecked Sendable {
  // @unchecked: `value` is used under `lock` only.
  private let lock = Lock()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    lock.withLock { body(&value) }
  }
}
