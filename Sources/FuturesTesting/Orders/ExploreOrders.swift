internal import Futures

/// Runs `body` once for each order in which the work on its contexts, its timers and its tasks can run.
///
/// ```swift
/// try await exploreOrders { orders in
///   let (network, screen) = (orders.context("network"), orders.context("screen"))
///   let shown = Checkpoints()
///   Future(on: network) { "news" }
///     .whenSucceeded(on: screen) { news in shown.pass(news) }
///   try await orders.runAll()
///   try #require(shown.passed == ["news"])
/// }
/// ```
///
/// Work runs one item at a time. Before each item, the run decides which comes next: the first item of a context, a timer,
/// an `Orders.step(_:)`, or the next part of a task. The search begins with the order of submission. Then come random orders,
/// and if there are at most `limit` orders, all of them. It ends with the first order that fails.
///
/// The body fails if it throws, if it waits and nothing is left to run, or if `hasFailed` returns `true`. `#expect` and
/// `XCTAssert` do not throw, so only `hasFailed` sees that they failed. `@Test(.everyOrder)` of `FuturesTestingTraits` does that.
///
/// The body must behave the same in each run. Cancelling the calling task ends the search between two runs.
/// - Parameters:
///   - limit: The greatest number of orders.
///   - maximumDuration: The time after which the search begins no further order; at least one order runs. The number of
///     orders then depends on the machine. Leave it `nil` where the result must be the same on every machine.
///   - seed: Selects the random orders.
///   - order: The string of an `OrderFailure`, to run that order alone.
///   - hasFailed: Runs its argument, which is one run of the body, and returns whether an expectation failed meanwhile.
///   - isolation: The caller's actor.
///   - fileID: The file that the failure names.
///   - line: The line that the failure names.
///   - body: The test. It runs on its actor, or in a task of its own.
/// - Returns: How many orders ran, and whether these were all.
/// - Throws: `OrderFailure` with the order that fails.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@discardableResult
public func exploreOrders(
  limit: Int = 1_000,
  maximumDuration: Duration? = nil,
  seed: UInt64 = 0,
  repeating order: String? = nil,
  hasFailed: (@Sendable (_ order: () -> Void) -> Bool)? = nil,
  isolation: isolated (any Actor)? = #isolation,
  fileID: StaticString = #fileID,
  line: UInt = #line,
  @_implicitSelfCapture _ body: @escaping @isolated(any) (Orders) async throws -> Void
) async throws -> OrderReport {
  try await exploreOrders(
    in: fileID.description,
    at: line,
    limit: limit,
    maximumDuration: maximumDuration,
    seed: seed,
    repeating: order,
    hasFailed: hasFailed,
    isolation: isolation,
    body
  )
}

/// Runs `body` once for each order, for a test whose file and line are known at run time.
///
/// A trait of a test library, or a helper with a table of tests, passes `fileID` and `line` of the test, which the failure names.
/// The other parameters are those of ``exploreOrders(limit:maximumDuration:seed:repeating:hasFailed:isolation:fileID:line:_:)``.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@discardableResult
public func exploreOrders(
  in fileID: String,
  at line: UInt,
  limit: Int = 1_000,
  maximumDuration: Duration? = nil,
  seed: UInt64 = 0,
  repeating order: String? = nil,
  hasFailed: (@Sendable (_ order: () -> Void) -> Bool)? = nil,
  isolation: isolated (any Actor)? = #isolation,
  @_implicitSelfCapture _ body: @escaping @isolated(any) (Orders) async throws -> Void
) async throws -> OrderReport {
  precondition(limit > 0, "exploreOrders(limit: \(limit)) runs no order. Pass a limit of 1 or more.")
  let options = OrderSearch.Options(
    limit: limit,
    seed: seed,
    maximumDuration: maximumDuration,
    hasFailed: hasFailed,
    fileID: fileID,
    line: line
  )
  // Safe: only the task of the search changes it. The watch reads it if a move, a step of an order, hangs: then that task is stuck.
  nonisolated(unsafe) let search = OrderSearch(body, options)
  // A `Result`: in Swift 6.3 a call that rethrows after an actor hop resumes off the caller's actor.
  let result = await withTaskCancellationHandler {
    await search.watch.answer {
      order.map(search.repeatOrder) ?? search.explore()
    } describing: {
      search.failureOfMove($0)
    }
  } onCancel: {
    search.watch.state.withLock { $0.isCancelled = true }
  }
  return try result.get()
}
