// How the explorer works.
//
// | type | what it is | lives |
// |---|---|---|
// | `OrderSearch` | which orders run, the failure, the report | one call |
// | `OrderPath` | the decisions of a depth-first search | one call |
// | `OrderWatch` | ends the search if a move does not return | one call |
// | `OrderRun` | the moves of one order, and its end | one run |
// | `OrderAgenda` | the pending work: contexts, timers, jobs and steps | one run |
// | `Orders` | the run, as the body sees it | one run |
//
// Choices. The moves of a run are items: the first item of each context, the jobs of tasks, steps, and the earliest
// timer. If several moves are possible, the search decides which one comes next. Only such a decision is a choice.
//
// One at a time. A run performs its moves in a loop on one thread, inside the task that calls `exploreOrders`. A test
// library that finds its test by a task-local value therefore finds it in callbacks, too.
//
// Outside work. A submission from another thread ends the run with a failure, because its order is not a choice. On Linux the
// functions of Dispatch and pthread_create are replaced: work that a move submits to another queue or thread is
// counted, and the run waits for it after the move. So the work enters the run in every repetition, or in none; in the
// second case the report names it. If the body waits and nothing is left, the run waits 200 ms for unknown threads.
// That time only decides whether the failure is called a deadlock. A move that blocks its thread for ten seconds, or
// lasts for a minute, ends the search.

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
/// Work runs one item at a time. Before each item, the run decides which comes next: the first item of a context, a
/// timer, a step, or the next part of a task. The search begins with the order of submission. Then come random orders, and if
/// there are at most `limit` orders, all of them. It ends with the first order that fails.
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
/// A trait of a test library, or a helper with a table of tests, passes the file and the line of the test. The failure
/// names them.
/// - Parameters:
///   - fileID: The file of the test.
///   - line: The line of the test.
///   - limit: The greatest number of orders.
///   - maximumDuration: The time after which the search begins no further order; at least one order runs.
///   - seed: Selects the random orders.
///   - order: The string of an `OrderFailure`, to run that order alone.
///   - hasFailed: Runs its argument, which is one run of the body, and returns whether an expectation failed meanwhile.
///   - isolation: The caller's actor.
///   - body: The test. It runs on its actor, or in a task of its own.
/// - Returns: How many orders ran, and whether these were all.
/// - Throws: `OrderFailure` with the order that fails.
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
  // Safe: until this function returns, only the task of the search uses `search`.
  nonisolated(unsafe) let search = OrderSearch(body, options)
  // `run` returns a `Result`: in Swift 6.3 a call that rethrows after an actor hop resumes off the caller's actor.
  let result = await search.run(repeating: order)
  return try result.get()
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderSearch {
  /// Runs the search in a task of its own, off the caller's actor.
  ///
  /// The body can need that actor. If a move never returns, its task goes no further, and this function still returns.
  @concurrent
  func run(repeating order: String?) async -> Result<OrderReport, any Error> {
    // Safe: only the task uses the search. The watch reads the search only while the task is in a move.
    nonisolated(unsafe) let search = self
    let watch = watch
    return await withTaskCancellationHandler {
      let task = Task(executorPreference: SearchExecutor()) {
        if let order { watch.resolve(search.repeatOrder(order)) } else { watch.resolve(search.explore()) }
      }
      let answer = await watch.answer
      // The task releases the body when it ends. A caller can rely on that, for example by `withoutActuallyEscaping`.
      if !watch.isBlocked { await task.value }
      return answer
    } onCancel: {
      watch.cancel()
    }
  }
}
