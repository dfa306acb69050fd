// `exploreOrders` in Swift 5, Swift 6 and default main actor modes.
import Futures
import FuturesAsync
import FuturesTesting

final class ExploredScreen { var results: [String] = [] }

func exploreHere() async throws {
  let screen = ExploredScreen()
  var runs = 0
  try await exploreOrders { orders in
    let network = orders.context("network")
    let answer = Future<String, any Error>(on: network) { "a" }
    screen.results.append(try await answer.value)
    await orders.step("next")
    try await orders.runAll()
    runs += 1
  }
  print(runs, screen.results)
}

@MainActor func exploreOnMain() async throws {
  let screen = ExploredScreen()
  let report = try await exploreOrders(limit: 100, hasFailed: orderFails) { orders in
    Future<String, Never>(on: orders.context("network")) { "a" }
      .whenSucceeded(on: .main) { screen.results.append($0) }
    let task = Task { screen.results.append("task") }
    await task.value
    try await orders.runAll()
  }
  print(report, report.isExhaustive)
}

nonisolated func exploreFromNowhere() async throws {
  do {
    try await exploreOrders(repeating: "0") { orders in
      async let child: Void = orders.step("child")
      await withTaskGroup { group in group.addTask { await orders.step("group") } }
      await child
    }
  } catch let failure as OrderFailure {
    print(failure.order, failure.repeating, failure.reason)
  }
}

@Sendable nonisolated func orderFails(_ order: () -> Void) -> Bool {
  order()
  return false
}

actor ExploringActor {
  var count = 0

  func explore() async throws {
    try await exploreOrders { orders in
      count += 1
      await orders.step("step")
    }
  }
}
