import Dispatch
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

/// R27: moves that never return.
///
/// Each test runs in a process of its own, whose threads stay blocked, and with a second of 20 ms.
@Suite(.unlessSanitized)
struct OrderWatchTests {
  @Test(
    "R27: moves that never return end their searches, wherever they are, also if there are more of them than processors"
  )
  func blockedMoves() async {
    await #expect(processExitsWith: .success) {
      let isRight = await WatchSecond.length.withValue(0.02) { await allBlockedMovesAreFound() }
      _exit(isRight ? 0 : 1)
    }
  }

  @Test("R27: a lock that a suspended task holds is a failure with the order so far, after which nothing more runs")
  func lockAcrossAwait() async {
    await #expect(processExitsWith: .success) {
      let (lock, later) = (DispatchSemaphore(value: 1), DispatchSemaphore(value: 0))
      let failure = try await WatchSecond.length.withValue(0.02) {
        try await explorationFailure {
          try await exploreOrders { orders in
            for name in ["a", "b"] {
              Task {
                lock.wait()
                await orders.step(name)
                lock.signal()
              }
            }
            try await orders.runAll()
            later.signal()
          }
        }
      }
      lock.signal()  // the blocked move returns
      let hasGoneOn = waits(for: later)
      _exit(failure?.order == ["task 1", "task 2"] && !hasGoneOn ? 0 : 1)
    }
  }
}

private func allBlockedMovesAreFound() async -> Bool {
  let bodies: [@Sendable (Orders) async throws -> Void] = [
    { orders in
      try await orders.runAll()
      waitForever()
    },
    { orders in
      Task { @MainActor in await Task.detached { waitForever() }.value }
      try await orders.runAll()
    },
    { orders in
      Future<Void, any Error>.after(.seconds(1), on: orders.context("a")).whenResolved(on: .immediate) { _ in
        waitForever()
      }
    },
    { orders in
      while orders.now >= .zero { try? await orders.clock.sleep(for: .seconds(1)) }
    },
  ]
  let count = bodies.count * ProcessInfo.processInfo.activeProcessorCount
  let found = await withTaskGroup(of: Bool.self, returning: Int.self) { group in
    for number in 0..<count {
      group.addTask {
        let failure = try? await explorationFailure { try await exploreOrders(bodies[number % bodies.count]) }
        let text = number % bodies.count == 3 ? "a task that ignores its cancellation" : "move does not return"
        return failure?.description.contains(text) == true
      }
    }
    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
  }
  return found == count
}

// Functions, because an async function cannot wait for a semaphore.
private func waitForever() { DispatchSemaphore(value: 0).wait() }

// Waits in real time, because no event shows that nothing runs any more. It can miss a mistake, and reports no false one.
private func waits(for semaphore: DispatchSemaphore) -> Bool {
  semaphore.wait(timeout: .now() + .milliseconds(200)) == .success
}
