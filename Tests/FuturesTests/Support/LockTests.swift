import Futures
import TestSupport
import Testing

@Suite("The lock", .timeLimit(.minutes(5)))
struct LockTests {
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
}
