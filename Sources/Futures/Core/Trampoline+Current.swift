internal import CFutures

extension Trampoline {
  /// How many consumers of other threads a delivery runs before it can go to the global queue (R28); fewer in the explorer.
  var maximumForOthers: Int { 1_000 }

  /// The calling thread's trampoline; made on first use, freed when the thread ends.
  @usableFromInline
  package static var current: Trampoline {
    guard let pointer = cfutures_thread_pointer() else { return makeCurrent() }
    return Trampoline(storage: pointer.assumingMemoryBound(to: Storage.self))
  }

  /// Makes the trampoline of a thread; not inlined, because each thread needs it only once.
  @inline(never)
  private static func makeCurrent() -> Trampoline {
    let storage = UnsafeMutablePointer<Storage>.allocate(capacity: 1)
    storage.initialize(to: Storage())
    let isSet = cfutures_set_thread_pointer(storage) { pointer in
      let storage = pointer.assumingMemoryBound(to: Storage.self)
      storage.deinitialize(count: 1)
      storage.deallocate()
    }
    require(isSet, "Futures found no free thread-specific key: the process uses all of them. Free one of them.")
    return Trampoline(storage: storage)
  }
}
