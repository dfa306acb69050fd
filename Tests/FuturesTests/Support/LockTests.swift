// Debug builds only: an optimised build does not compile the module for testing.
#if DEBUG
  import CFutures
  import Dispatch
  import TestSupport
  import Testing

  @testable import Futures

  @Suite(.timeLimit(.minutes(20)))
  struct LockTests {
    /// Holds a lock, which a closure cannot capture.
    private final class Owner: Sendable {
      let lock = Lock()
    }

    @Test("The lock takes four bytes")
    func layout() {
      #expect(MemoryLayout<Lock>.size == 4)
      #expect(MemoryLayout<Lock>.alignment == 4)
    }

    @Test("Contending threads take turns, and each parked thread wakes up")
    func exclusion() {
      let pair = Locked((0, 0))
      race(
        (0..<4).map { _ in
          {
            for _ in 0..<20_000 {
              pair.withLock { pair in
                pair.0 += 1
                pair.1 += 1
              }
            }
          }
        }
      )
      #expect(pair.withLock { $0 } == (80_000, 80_000))
    }

    @Test("An attempt runs its body exactly while no thread has the lock")
    func attempts() {
      let owner = Owner()
      #expect(owner.lock.withLockIfAvailable { 1 } == 1)
      owner.lock.withLock {
        race([{ #expect(owner.lock.withLockIfAvailable { 1 } == nil) }])
      }
      let duringAttempt = owner.lock.withLockIfAvailable { owner.lock.withLockIfAvailable { 1 } == nil }
      #expect(duringAttempt == true)
      #expect(owner.lock.withLockIfAvailable { 1 } == 1)
    }

    #if os(Linux) || os(Android)
      @Test("The owner wakes a thread that has parked, which wakes the next")
      func wakeUps() {
        let owner = Owner()
        let isLocked = DispatchSemaphore(value: 0)
        let turns = Locked(0)
        let attempt: @Sendable () -> Void = {
          isLocked.wait()
          owner.lock.withLock { turns.withLock { $0 += 1 } }
        }
        let ownership: @Sendable () -> Void = {
          owner.lock.withLock {
            for _ in 0..<3 { isLocked.signal() }
            // 2: a thread has stopped spinning, and parks.
            while cfutures_load_byte(owner.lock.place, AtomicLoadOrdering.relaxed.rawValue) != 2 {}
            #expect(turns.withLock { $0 } == 0)
          }
        }
        race([ownership, attempt, attempt, attempt])
        #expect(turns.withLock { $0 } == 3)
      }
    #endif
  }
#endif
