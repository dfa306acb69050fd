#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

// Replaces the core's `Trampoline+Current.swift`, which the target leaves out. CFutures has one pointer for each
// thread, and the library itself uses that pointer in this process. So this copy keeps its trampolines under a pthread
// key.
extension Trampoline {
  /// One, where a test takes the rest of a delivery: its threads attach only a few callbacks.
  var maximumForOthers: Int { storage.pointee.submitElsewhere == nil ? 1_000 : 1 }

  /// The calling thread's trampoline; made on first use, freed when the thread ends.
  @usableFromInline
  package static var current: Trampoline {
    if let pointer = pthread_getspecific(key) {
      return Trampoline(storage: pointer.assumingMemoryBound(to: Storage.self))
    }
    let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
    storage.initialize(to: Storage())
    pthread_setspecific(key, storage)
    return Trampoline(storage: storage)
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { (pointer: UnsafeMutableRawPointer?) in
      guard let storage = pointer?.assumingMemoryBound(to: Storage.self) else { return }
      storage.deinitialize(count: 1)
      storage.deallocate()
    }
    precondition(status == 0, "There is no thread-specific key left.")
    return key
  }()
}
