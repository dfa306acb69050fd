internal import Futures
public import FuturesTesting
public import Testing

/// Runs a test of Swift Testing once for each order of its work, as `exploreOrders` runs its body.
///
/// ```
/// @Test(.everyOrder) func reload() async throws {
///   let orders = EveryOrder.orders
///   let screen = Screen(network: orders.context("network"))
///   screen.reload()
///   try await orders.runAll()
///   #expect(screen.title == "News")
/// }
/// ```
///
/// A failed expectation fails its order. The search drops the issues of its runs. Then the order that fails runs once more, and its
/// issues are recorded at their lines, beside the `OrderFailure` that names the order.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public struct EveryOrder: TestTrait, SuiteTrait, TestScoping {
  private let limit: Int
  private let seed: UInt64
  private let order: String?

  init(limit: Int, seed: UInt64, repeating order: String?) {
    (self.limit, self.seed, self.order) = (limit, seed, order)
  }

  /// Whether the trait of a suite applies to each of its tests: `true`.
  public var isRecursive: Bool { true }

  @TaskLocal private static var current: Orders?

  /// The work of the present run: its contexts, queues, clock and steps.
  ///
  /// Traps outside a test with the trait.
  public static var orders: Orders {
    guard let current else {
      fatalError("EveryOrder.orders is for a test with the trait `.everyOrder`, and for its tasks.")
    }
    return current
  }

  /// Runs the test in its orders.
  ///
  /// Swift Testing calls this.
  /// - Parameters:
  ///   - test: The test, whose file and line the failure names.
  ///   - testCase: The arguments of the test.
  ///   - function: Runs the test once.
  /// - Throws: `OrderFailure` with the order that fails.
  public func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let issues = SearchIssues()
    let filter = IssueHandlingTrait.filterIssues { issues.keeps($0) }  // a failure in a run fails that run
    try await filter.provideScope(for: test, testCase: testCase) {
      try await explore(
        test.name,
        in: test.sourceLocation.fileID,
        at: UInt(test.sourceLocation.line),
        hasFailed: { run in issues.hasFailed(during: run) },
        function
      )
    }
  }

  /// As `exploreOrders`, with its `hasFailed`, for a test function; traps if a run of the function stays suspended at the end.
  package func explore(
    _ name: String,
    in fileID: String,
    at line: UInt,
    hasFailed: (@Sendable (_ order: () -> Void) -> Bool)?,
    _ function: @Sendable () async throws -> Void
  ) async throws {
    let runningBodies = Locked(0)
    try await withoutActuallyEscaping(function) { function in
      do {
        try await exploreOrders(
          in: fileID,
          at: line,
          limit: limit,
          seed: seed,
          repeating: order,
          hasFailed: hasFailed
        ) { orders in
          runningBodies.withLock { $0 += 1 }
          defer { runningBodies.withLock { $0 -= 1 } }
          try await EveryOrder.$current.withValue(orders) { try await function() }
        }
      } catch {  // without an error, the body of each run has returned, so none is suspended
        var error = error
        if var failure = error as? OrderFailure {
          failure.caller = ".everyOrder"  // in “Run it alone: .everyOrder(…)”
          error = failure
        }
        // A body that stays suspended keeps the function. `withoutActuallyEscaping` would trap too, but without the order.
        guard runningBodies.withLock(\.self) == 0 else {
          fatalError(
            "\(error)\nThe body of `\(name)` stays suspended, although it was cancelled. It cannot outlive its test."
          )
        }
        throw error
      }
    }
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Trait where Self == EveryOrder {
  /// Runs the test in every order, up to 1,000.
  public static var everyOrder: Self { EveryOrder(limit: 1_000, seed: 0, repeating: nil) }

  /// Runs the test in every order, up to a limit; or in one order.
  /// - Parameters:
  ///   - limit: The greatest number of orders.
  ///   - seed: Selects the random orders.
  ///   - order: The string that a failure has printed.
  /// - Returns: The trait.
  public static func everyOrder(limit: Int = 1_000, seed: UInt64 = 0, repeating order: String? = nil) -> Self {
    EveryOrder(limit: limit, seed: seed, repeating: order)
  }
}

/// Whether the search runs the test now, and whether an expectation failed in this run.
private final class SearchIssues: Sendable {
  private let state = Locked((isSearching: false, hasFailed: false))

  /// Called for each issue; returns `false` during the search: it drops the issue, and a failure fails the run instead.
  func keeps(_ issue: Issue) -> Bool {
    #if compiler(>=6.3)
      let isFailure = issue.isFailure  // `false` for a known issue and a warning
    #else
      let isFailure = true  // Swift 6.2 does not tell a known issue from a failure, so a known issue fails the run
    #endif
    return state.withLock { state in
      if state.isSearching, isFailure { state.hasFailed = true }
      return !state.isSearching
    }
  }

  /// Calls `run`, which runs the test for the search, and returns whether an expectation failed in this run.
  func hasFailed(during run: () -> Void) -> Bool {
    state.withLock { $0 = (isSearching: true, hasFailed: false) }
    run()
    return state.withLock { state in
      state.isSearching = false
      return state.hasFailed
    }
  }
}
