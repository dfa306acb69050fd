import Futures
import FuturesAsync
import FuturesTesting
import Testing

/// Ten small programs with a bug that only some orders show, and the same programs without it.
@Suite("exploreOrders finds planted bugs")
struct PlantedBugTests {
  /// A program, and the findings of the explorer in it.
  struct Program: Sendable, CustomTestStringConvertible {
    let name: String
    /// The number of failing orders, and the number of all orders.
    let failing: Int
    let orders: Int
    /// The shortest failing order.
    let order: String
    /// How many orders the mended program has.
    let mendedOrders: Int
    let body: @Sendable (_ orders: Orders, _ isMended: Bool) async throws -> Void

    var testDescription: String { name }
  }

  @Test("The bug is found, its string repeats it, and the mended program passes in all orders", arguments: programs)
  func plantedBug(_ program: Program) async throws {
    let found = try await explorationFailure { try await exploreOrders { try await program.body($0, false) } }
    let failure = try #require(found, "no order fails")
    #expect(failure.failedOrders == program.failing)
    #expect(failure.report.isAll(program.orders))
    #expect(failure.order.joined(separator: " ▸ ") == program.order)

    let repeated = try await self.failure(program, repeating: failure.repeating)
    #expect(repeated.order == failure.order)
    #expect("\(repeated.reason)" == "\(failure.reason)")

    let report = try await exploreOrders { try await program.body($0, true) }
    #expect(report.isExhaustive)
    #expect(report.orders == program.mendedOrders)
  }

  private func failure(_ program: Program, repeating order: String) async throws -> OrderFailure {
    let failure = try await explorationFailure {
      try await exploreOrders(repeating: order) { try await program.body($0, false) }
    }
    return try #require(failure, "the repeated order passes")
  }

  static let programs = [
    Program(
      name: "late response wins",
      failing: 2,
      orders: 4,
      order: "request ab ▸ request a ▸ screen(1) ▸ screen(2)",
      mendedOrders: 4,
      body: lateResponse
    ),
    Program(
      name: "double submit",
      failing: 1,
      orders: 2,
      order: "tap(1) ▸ tap(2) ▸ network(1) ▸ network(2)",
      mendedOrders: 2,
      body: doubleSubmit
    ),
    Program(
      name: "cancel after success",
      failing: 2,
      orders: 3,
      order: "network ▸ cancel ▸ screen",
      mendedOrders: 3,
      body: cancelAfterSuccess
    ),
    Program(
      name: "lost wake-up",
      failing: 1,
      orders: 2,
      order: "network ▸ look",
      mendedOrders: 2,
      body: lostWakeUp
    ),
    Program(
      name: "timeout against value",
      failing: 1,
      orders: 2,
      order: "timer 10 s ▸ network",
      mendedOrders: 2,
      body: timeoutAgainstValue
    ),
    Program(
      name: "retry after cancel",
      failing: 2,
      orders: 3,
      order: "network ▸ cancel ▸ timer 1 s",
      mendedOrders: 3,
      body: retryAfterCancel
    ),
    Program(
      name: "progress after completion",
      failing: 2,
      orders: 3,
      order: "completion ▸ progress(1) ▸ progress(2)",
      mendedOrders: 1,
      body: progressAfterCompletion
    ),
    Program(
      name: "re-entrancy of a delegate",
      failing: 1,
      orders: 2,
      order: "screen ▸ user",
      mendedOrders: 2,
      body: reentrantDelegate
    ),
    Program(
      name: "two awaits of one flight",
      failing: 102,
      orders: 108,
      order: """
        task 1 ▸ task 2 ▸ hop of task 1 ▸ network(1) ▸ network(2) ▸ task 1 ▸ task 2 ▸ hop of task 1 ▸ body ▸ \
        hop of the body ▸ body
        """,
      mendedOrders: 88,
      body: twoAwaits
    ),
    Program(
      name: "order of notifications",
      failing: 1,
      orders: 3,
      order: "model(1) ▸ model(2) ▸ task 2 ▸ task 1",
      mendedOrders: 2,
      body: orderOfNotifications
    ),
  ]
}
