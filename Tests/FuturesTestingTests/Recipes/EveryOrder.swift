import Foundation
import FuturesTesting
import Testing

/// Runs a test once for each order of its work: `@Test(.everyOrder) func …`, with `EveryOrder.orders` in the test.
///
/// A failed expectation fails the order. Only the last run, of the order that the failure names, records it.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
struct EveryOrder: TestTrait, SuiteTrait, TestScoping {
  var limit = 10_000
  var order: String?
  var isRecursive: Bool { true }

  @TaskLocal private static var current: Orders?

  /// The work of the present run.
  static var orders: Orders {
    guard let current else { fatalError("The test needs the trait .everyOrder.") }
    return current
  }

  func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @Sendable () async throws -> Void
  ) async throws {
    let state = IssueState()
    let issues = IssueHandlingTrait.filterIssues { _ in state.keepsIssue() }
    try await issues.provideScope(for: test, testCase: testCase) {
      try await withoutActuallyEscaping(function) { function in
        try await exploreOrders(
          in: test.sourceLocation.fileID,
          at: UInt(test.sourceLocation.line),
          limit: limit,
          repeating: order,
          hasFailed: { run in state.hasFailed(during: run) }
        ) { orders in
          try await EveryOrder.$current.withValue(orders) { try await function() }
        }
      }
    }
  }

  /// Whether the search runs an order now, and whether an expectation failed in it.
  private final class IssueState: @unchecked Sendable {  // `lock` protects the variables
    private let lock = NSLock()
    private var isSearching = false
    private var failed = false

    func keepsIssue() -> Bool {
      lock.withLock {
        failed = failed || isSearching
        return !isSearching
      }
    }

    func hasFailed(during run: () -> Void) -> Bool {
      lock.withLock { (failed, isSearching) = (false, true) }
      run()
      return lock.withLock {
        isSearching = false
        return failed
      }
    }
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension Trait where Self == EveryOrder {
  /// Runs the test in every order.
  static var everyOrder: Self { EveryOrder() }

  /// Runs the test in every order up to a limit; or in one order, whose string a failure has printed.
  static func everyOrder(limit: Int = 10_000, repeating order: String? = nil) -> Self {
    EveryOrder(limit: limit, order: order)
  }
}
