// How the explorer works.
//
// Choices. The moves of a run are items: the first item of each context, the jobs of tasks, steps, and the earliest timer. If
// several are possible, the search decides which comes next. That decision is a choice; a single possible move is none.
//
// One at a time. A run performs its moves in a loop on one thread, inside the task that calls `exploreOrders`. So callbacks
// belong to the test, for a test library that finds it by a task-local value. The body is a task with the run as its preferred
// executor. Its child tasks and default actors inherit that. `Task { }` does not (SE-0417): its jobs come through a hook
// of the Swift runtime, and only jobs that the thread of a run enqueues. Without the hook they count as outside work.
//
// Outside work. A submission from another thread ends the run with a failure, because its order is not a choice. On Linux the
// functions of Dispatch and pthread_create are replaced: work that a move submits to another queue or thread is counted, and the
// run waits for it after the move. So it always enters the run, or never; then the report names it. If the body waits and nothing
// is left, the run waits a second for threads that it does not know. That time only decides whether the failure is called a
// deadlock. A move that blocks its thread for ten seconds ends the search.
//
// Ownership.
//   OrderSearch   the tree of orders, the shortest failure; one for each call
//   OrderTree     the decisions of all runs: it takes no order twice, and notices a body that is not deterministic
//   OrderRun      one run: the loop, the executor, the thread
//   OrderAgenda   the pending work: contexts, timers, jobs and steps
//   Orders        the run, as the body sees it

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
/// Work runs one item at a time. Before each item, the run decides which comes next: the first item of a context, a timer, a
/// step, or the next part of a task. The search takes each order once: every second order is the next one depth first, and the others,
/// with all in the second half of `limit`, are random, in turns with uniform decisions and with priorities.
///
/// The body fails if it throws, if it waits and nothing is left to run, or if `hasFailed` returns `true`. A failed expectation
/// that does not throw, as `#expect` and `XCTAssert`, is known to `hasFailed` only.
///
/// The body must behave the same in each run. Cancelling the calling task ends the search between two runs.
/// - Parameters:
///   - limit: The greatest number of orders.
///   - maximumDuration: The time after which the search begins no further order; at least one runs. Without a limit of its own, a long
///     search can use it: how many orders run then depends on the machine, so leave it out where a verdict must not.
///   - seed: Selects the random orders, if `limit` is less than the number of orders.
///   - stopsAtFirstFailure: Whether the search ends with the first order that fails. Otherwise it goes on to find the shortest, and
///     other failures.
///   - order: The string of an `OrderFailure`, to run that order alone.
///   - hasFailed: Runs its argument, which is one run of the body, and returns whether an expectation failed meanwhile.
///   - isolation: The caller's actor.
///   - fileID: The file that the failure names.
///   - line: The line that the failure names.
///   - body: The test. It runs on its actor, or in a task of its own.
/// - Returns: How many orders ran, and whether these were all.
/// - Throws: `OrderFailure` with the shortest order found that fails.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@discardableResult
public func exploreOrders(
  limit: Int = 10_000,
  maximumDuration: Duration? = nil,
  seed: UInt64 = 0,
  stopsAtFirstFailure: Bool = false,
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
    stopsAtFirstFailure: stopsAtFirstFailure,
    repeating: order,
    hasFailed: hasFailed,
    isolation: isolation,
    body
  )
}

/// Runs `body` once for each order, as `exploreOrders` without a place, for a test whose place is known at run time.
///
/// A trait of a test library, or a helper with a table of tests, passes the place of the test. The failure names it, and the order of the
/// last failure is kept under it.
/// - Parameters:
///   - fileID: The file of the test.
///   - line: The line of the test.
///   - limit: The greatest number of orders.
///   - maximumDuration: The time after which the search begins no further order; at least one runs.
///   - seed: Selects the random orders, if `limit` is less than the number of orders.
///   - stopsAtFirstFailure: Whether the search ends with the first order that fails.
///   - order: The string of an `OrderFailure`, to run that order alone.
///   - hasFailed: Runs its argument, which is one run of the body, and returns whether an expectation failed meanwhile.
///   - isolation: The caller's actor.
///   - body: The test. It runs on its actor, or in a task of its own.
/// - Returns: How many orders ran, and whether these were all.
/// - Throws: `OrderFailure` with the shortest order found that fails.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
@discardableResult
public func exploreOrders(
  in fileID: String,
  at line: UInt,
  limit: Int = 10_000,
  maximumDuration: Duration? = nil,
  seed: UInt64 = 0,
  stopsAtFirstFailure: Bool = false,
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
    stopsAtFirstFailure: stopsAtFirstFailure,
    hasFailed: hasFailed,
    fileID: fileID,
    line: line
  )
  // Only the search uses it until this function returns.
  nonisolated(unsafe) let search = OrderSearch(body, options)
  // A `Result`: in Swift 6.3 a rethrow across a hop returns off the caller's actor.
  let result = await search.run(repeating: order)
  return try result.get()
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch {
  /// Runs off the caller's actor, because the body can need that actor, and in a task of its own, which a blocked move leaves behind.
  @concurrent
  func run(repeating order: String?) async -> Result<OrderReport, any Error> {
    // Only the task uses the search, and then the watch, while the task is blocked.
    nonisolated(unsafe) let search = self
    let watch = watch
    let task = Task {
      if let order { watch.resolve(search.repeatOrder(order)) } else { watch.resolve(await search.explore()) }
    }
    return await withTaskCancellationHandler {
      await watch.answer
    } onCancel: {
      task.cancel()
    }
  }
}
