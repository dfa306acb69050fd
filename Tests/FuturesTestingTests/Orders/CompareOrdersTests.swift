import Futures
import FuturesAsync
import FuturesTesting
import Testing

@Suite("compareOrders: two versions of a function")
struct CompareOrdersTests {
  struct Offline: Error {}

  /// The old function: fills the cache on the network's context, and then calls its completion on the screen's context.
  private static func oldLoad(_ orders: Orders, _ completion: @escaping @Sendable (String) -> Void) {
    orders.context("network").run {
      orders.record("filled", in: "cache")
      orders.context("screen").run { completion("news") }
    }
  }

  private static func newLoad(_ orders: Orders) async -> String {
    let news = await Future<String, Never>(on: orders.context("network")) {
      orders.record("filled", in: "cache")
      return "news"
    }.value
    return news
  }

  @Test("A conversion that keeps the order of effects is proven, although it has other moves")
  func rightConversion() async throws {
    let comparison = try await compareOrders { orders in
      Self.oldLoad(orders) { orders.record("shown \($0)", in: "screen") }
      orders.context("user").run { orders.record("tapped", in: "screen") }
      try await orders.runAll()
    } with: { orders in
      orders.context("user").run { orders.record("tapped", in: "screen") }
      let news = await Self.newLoad(orders)
      orders.record("shown \(news)", in: "screen")
      try await orders.runAll()
    }
    #expect(comparison.isExhaustive)
    #expect(comparison.outcomes == 2)
    #expect(comparison.old.isAll(3))
    #expect(comparison.description.hasPrefix("the same 2 outcomes in \(comparison.old) of the old code"))
  }

  @Test("An effect that the new version can have in another order is found, with its shortest order")
  func changedOrder() async throws {
    let difference = try await difference {
      try await compareOrders { orders in
        let screen = orders.context("screen")
        screen.run { orders.record("spinner hidden") }
        screen.run { orders.record("shown") }
        try await orders.runAll()
      } with: { orders in
        Task { orders.record("spinner hidden") }
        Task { orders.record("shown") }
        try await orders.runAll()
      }
    }
    #expect(difference?.isOfOld == false)
    #expect(difference?.outcome == "shown, spinner hidden; returns")
    #expect(difference?.order == ["task 2", "task 1"])
    #expect(difference?.otherOutcomes == ["spinner hidden, shown; returns"])
    #expect(
      difference?.description.hasPrefix("Only the new code has this outcome: shown, spinner hidden; returns\n") == true
    )
  }

  @Test("An outcome that only the old version has is a difference as well: here a failure that gets lost")
  func lostFailure() async throws {
    let difference = try await difference {
      try await compareOrders { orders in
        await orders.step("answer")
        throw Offline()
      } with: { orders in
        await orders.step("answer")
      }
    }
    #expect(difference?.outcome == "throws Offline()" || difference?.outcome == "returns")
    #expect(difference?.order == ["answer"])
  }

  @Test("A cancellation that no longer reaches the work is found")
  func lostCancellation() async throws {
    @Sendable func api(_ orders: Orders) -> Future<Int, any Error> {
      let promise = Promise<Int, any Error>("api")
      promise.onCancel { orders.record("cancelled", in: "api") }
      orders.context("network").run { promise.succeed(1) }
      return promise.future
    }
    let difference = try await difference {
      try await compareOrders { orders in
        let answer = api(orders)
        orders.context("user").run { answer.cancel() }
        try await orders.runAll()
      } with: { orders in
        let answer = api(orders).shielded
        orders.context("user").run { answer.cancel() }
        try await orders.runAll()
      }
    }
    #expect(difference?.isOfOld == true)
    #expect(difference?.outcome == "api: cancelled; returns")
  }

  @Test("An object that the new version keeps is found by its release")
  func lostRelease() async throws {
    let kept = Shared<[any Sendable]>([])
    let difference = try await difference {
      try await compareOrders { orders in
        let screen = orders.releaseRecorder("screen", in: "events")
        orders.context("a").run { withExtendedLifetime(screen) {} }
        try await orders.runAll()
        orders.record("end", in: "other")
      } with: { orders in
        let screen = orders.releaseRecorder("screen", in: "events")
        orders.context("a").run { kept.withLock { $0.append(screen) } }
        try await orders.runAll()
        orders.record("end", in: "other")
      }
    }
    #expect(difference?.isOfOld == true || difference?.outcome == "other: end; returns")
    kept.withLock { $0 = [] }
  }

  @Test("A body that waits for ever in some order has that outcome")
  func waitsForEver() async throws {
    let difference = try await difference {
      try await compareOrders { _ in
      } with: { _ in
        let never = Promise<Int, any Error>("never")
        _ = try await withExtendedLifetime(never) { never.future }.value
        never.succeed(1)
      }
    }
    #expect(difference?.outcome == "returns" || difference?.outcome == "waits for ever")
  }

  @Test("What was not explored completely is said")
  func notExhaustive() async throws {
    let body: @Sendable (Orders) async throws -> Void = { orders in
      for name in ["a", "b", "c"] { orders.context(name).run { orders.record(name) } }
      try await orders.runAll()
    }
    let difference = try await difference {
      try await compareOrders(limit: 4, body) {
        try await body($0); $0.record("d")
      }
    }
    #expect(difference?.description.contains("another order of it can have this outcome too") == true)
    let same = try await compareOrders(limit: 6, body, with: body)
    #expect(same.isExhaustive && same.outcomes == 6)
  }

  private func difference(of compare: () async throws -> OrderComparison) async throws -> OrderDifference? {
    do {
      _ = try await compare()
      return nil
    } catch let difference as OrderDifference {
      return difference
    }
  }
}
