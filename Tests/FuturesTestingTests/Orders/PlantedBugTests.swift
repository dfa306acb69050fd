import Futures
import FuturesAsync
import FuturesTesting
import Testing

/// Small programs with a bug that only some orders show, and the same programs without it.
struct PlantedBugTests {
  /// A program.
  struct Program: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: @Sendable (_ orders: Orders, _ isMended: Bool) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Orders, Bool) async throws -> Void) {
      (testDescription, self.body) = (name, body)
    }
  }

  static let programs = [
    Program("late response wins", lateResponse), Program("double submit", doubleSubmit),
    Program("cancel after success", cancelAfterSuccess), Program("lost wake-up", lostWakeUp),
    Program("timeout against value", timeoutAgainstValue), Program("retry after cancel", retryAfterCancel),
    Program("progress after completion", progressAfterCompletion),
    Program("re-entrancy of a delegate", reentrantDelegate), Program("two awaits of one flight", twoAwaits),
    Program("order of notifications", orderOfNotifications),
    Program("a lost waiter, by continuations", lostWaiter), Program("a debounce that saves twice", savesTwice),
  ]

  @Test("Each of twenty seeds finds the bug within twenty orders, and its string repeats it", arguments: programs)
  func found(_ program: Program) async throws {
    for seed in 1...20 {
      let found = try await explorationFailure {
        try await exploreOrders(seed: UInt64(seed)) { try await program.body($0, false) }
      }
      let failure = try #require(found, "no order fails")
      #expect(failure.report.orders <= 20, "seed \(seed): \(failure)")
      guard seed == 1 else { continue }
      let repeated = try await explorationFailure {
        try await exploreOrders(repeating: failure.repeating) { try await program.body($0, false) }
      }
      #expect(repeated?.order == failure.order)
    }
  }

  @Test("The mended program passes in all orders", arguments: programs)
  func mended(_ program: Program) async throws {
    let report = try await exploreOrders { try await program.body($0, true) }
    #expect(report.isExhaustive, "\(report)")
  }
}
