#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

extension DeliveryLoop {
  /// The calling thread's loop, made when the thread first needs one and freed when the thread ends.
  @usableFromInline
  package static var current: DeliveryLoop {
    if let pointer = pthread_getspecific(key) {
      return DeliveryLoop(storage: pointer.assumingMemoryBound(to: Storage.self))
    }
    let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
    storage.initialize(to: Storage())
    pthread_setspecific(key, storage)
    return DeliveryLoop(storage: storage)
  }

  /// The C library is imported for this key alone: neither Dispatch nor Synchronization has thread-local storage.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { (pointer: UnsafeMutableRawPointer?) in
      guard let storage = pointer?.assumingMemoryBound(to: Storage.self) else { return }
      storage.deinitialize(count: 1)
      storage.deallocate()
    }
    precondition(status == 0, "Futures needs one thread-specific key, but the process has used up all of them.")
    return key
  }()
}
