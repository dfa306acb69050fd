/// An optional reference under a double-checked lock: reading `nil` needs no lock.
///
/// For process-wide settings that are usually `nil`.
/// Cost: one relaxed load while it is `nil`, an uncontended lock otherwise. A static constant is initialised at its first use,
/// so each use also looks whether that has happened.
package struct LockedReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
  // @unchecked: `lock` protects `reference`. Only the comparison with `nil` needs no lock.
  private let lock = Lock()

  // Relaxed: a load without the lock is compared with `nil` and never followed, so no store publishes anything. The lock
  // orders all other uses. A load without the lock that happens after a change sees that change or a later one. At the
  // same time as a change, it can return either value.
  private let reference = AtomicWord<Unmanaged<Object>?>(nil)

  package init() {}

  deinit { reference.load(ordering: .relaxed)?.release() }

  /// Whether the reference is not `nil`; without the lock.
  package var isSet: Bool { reference.load(ordering: .relaxed) != nil }

  /// The object; without the lock while it is `nil`.
  package var object: Object? { isSet ? update { $0 } : nil }

  /// Uses or changes the object.
  ///
  /// `body` runs under the lock. It returns old objects to the caller, for release after unlocking.
  package func update<Result>(_ body: (inout Object?) -> Result) -> Result {
    lock.withLock { updateUnderLock(body) }
  }

  private func updateUnderLock<Result>(_ body: (inout Object?) -> Result) -> Result {
    var object = reference.load(ordering: .relaxed)?.takeRetainedValue()  // `object` owns the reference until the store
    defer { reference.store(object.map(Unmanaged.passRetained), ordering: .relaxed) }
    return body(&object)
  }

  /// As `update`, for diagnostics that must not block; returns `nil` if another thread keeps the lock during all attempts.
  package func updateIfAvailable<Result>(_ body: (inout Object?) -> Result) -> Result? {
    for _ in 0..<Self.attempts {
      if let result = lock.withLockIfAvailable({ updateUnderLock(body) }) { return result }
    }
    return nil
  }

  /// The attempts to take the lock, about a second: `PendingFutures` sweeps a million entries under its lock in less.
  private static var attempts: Int { 10_000_000 }

  /// Replaces the object, and returns the old one, for the caller to release after unlocking.
  package func exchange(_ new: Object?) -> Object? {
    update { object in
      defer { object = new }
      return object
    }
  }
}
