import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

struct Page: Sendable {
  let items: [String]
  let next: Int?
}
struct NoUser: Error {}
private struct Offline: Error {}

/// The server of the recipes: its context, the requests that it got, and its answer to `ask()`.
private let service = Locked<(context: ExecutionContext, requests: [String], failures: [TooManyRequests])>(
  (.immediate, [], [])
)

private func request<Value: Sendable>(
  _ text: String,
  _ answer: @escaping @Sendable () throws -> Value
) -> Future<Value, any Error> {
  let context = service.withLock { service in
    service.requests.append(text)
    return service.context
  }
  return Future(on: context) { () throws(any Error) in try answer() }
}

private func serve(on context: ExecutionContext, failures: [TooManyRequests] = []) {
  service.withLock { $0 = (context, [], failures) }
}

private var requests: [String] { service.withLock { $0.requests } }

func fetchPage(_ number: Int) -> Future<Page, any Error> {
  request("page \(number)") { Page(items: ["item \(number)"], next: number < 2 ? number + 1 : nil) }
}

func ask() -> Future<String, any Error> {
  request("ask") {
    if let failure = service.withLock({ $0.failures.isEmpty ? nil : $0.failures.removeFirst() }) { throw failure }
    return "answer"
  }
}

func users(_ ids: Set<Int>) -> Future<[Int: String], any Error> {
  request("users \(ids.sorted())") {
    Dictionary(uniqueKeysWithValues: ids.filter { $0 < 9 }.map { id in (id, "user \(id)") })
  }
}

struct Articles: Sendable {
  var kept: String?
  func kept(_ id: Int) -> String? { kept }
  func load(_ id: Int) -> Future<String, any Error> { request("article \(id)") { "fresh" } }
}

@Suite("Recipes of services, in every order", .serialized, .unlessSanitized)
struct ServiceRecipeTests {
  @Test("Pagination: a page is requested when the loop asks for it, and a loop that leaves requests no more")
  func pages() async throws {
    var seen: Set<[String]> = []
    let report = try await exploreOrders { orders in
      serve(on: orders.context("server"))
      let reader = Task { () -> [String] in
        var items: [String] = []
        for try await page in Pages() {
          items += page
          try Unexpected.unless(requests.count == items.count, "\(requests) for \(items)")
          if items.count == 2 { break }
        }
        return items
      }
      await orders.step("the user leaves")
      reader.cancel()
      if case .failure(let error as Unexpected) = await reader.result { throw error }
      seen.insert(requests)
    }
    #expect(report.isExhaustive)
    #expect(seen.contains(["page 0", "page 1"]))
    #expect(seen.allSatisfy { $0.count <= 2 })
  }

  @Test("Pagination: the sequence ends after the last page")
  func lastPage() async throws {
    serve(on: .immediate)
    var items: [String] = []
    for try await page in Pages() { items += page }
    #expect(items == ["item 0", "item 1", "item 2"])
  }

  @Test("Shutdown: it returns when all work has returned, and no work starts after it")
  func shutDown() async throws {
    let report = try await exploreOrders { orders in
      let (jobs, log, timer) = (Jobs(), Recorder<String>(), ManualContext())
      for name in ["a", "b"] {
        await jobs.start {
          await orders.step("work")
          log.record(name)
        }
      }
      try await jobs.shutDown(within: .seconds(5), timer: timer.context)
      try Unexpected.unless(timer.pendingCount == 0, "a timer is left")
      try Unexpected.unless(log.events.sorted() == ["a", "b"], "returned before its work: \(log.events)")
      await jobs.start { log.record("late") }
      try await orders.runAll()
      try Unexpected.unless(log.events.count == 2, "started after the end: \(log.events)")
    }
    #expect(report.isExhaustive)
  }

  @Test("Shutdown: it stops to wait at its limit")
  func shutDownInTime() async {
    let (jobs, timer, end) = (Jobs(), ManualContext(), Promise<Void, Never>())
    await jobs.start { await end.future.value }
    let shutDown = Future { try await jobs.shutDown(within: .seconds(5), timer: timer.context) }
    while timer.pendingCount == 0 { await Task.yield() }
    timer.advance(by: .seconds(5))
    await #expect(throws: TimeoutError.self) { try await shutDown.value }
    end.succeed()
  }

  @Test("Retry-After: the next attempt comes when the server has said, within the budget")
  func retryAfter() async throws {
    let timer = ManualContext()
    serve(on: .immediate, failures: [TooManyRequests(retryAfter: .seconds(7)), TooManyRequests()])
    let later = answer(timer: timer.context)
    var counts: [Int] = []
    for seconds in [6, 1, 1, 1] {
      timer.advance(by: .seconds(seconds))
      counts.append(requests.count)
    }
    #expect(counts == [1, 2, 2, 3])
    #expect(try later.peek()?.get() == "answer")

    serve(on: .immediate, failures: [TooManyRequests(retryAfter: .seconds(31))])
    let refused = answer(timer: timer.context)
    #expect(throws: TooManyRequests.self) { try refused.peek()?.get() }
  }

  @Test("A kept value comes first, and the fresh one after it", arguments: [nil, "kept"])
  func staleThenFresh(kept: String?) async throws {
    let report = try await exploreOrders { orders in
      serve(on: orders.context("server"))
      let texts = article(1, from: Articles(kept: kept))
      let reader = Task { () -> [String] in
        var seen: [String] = []
        for try await text in texts { seen.append(text) }
        return seen
      }
      let seen = try await reader.value
      try Unexpected.unless(seen == [kept, "fresh"].compactMap(\.self), "\(seen)")
    }
    #expect(report.isExhaustive)
  }

  @Test("Batching: in every order, callers get their users, and callers of one moment share a request")
  @MainActor func userLoader() async throws {
    var seen: Set<[String]> = []
    try await exploreOrders { orders in
      serve(on: orders.context("server"))
      let loader = UserLoader()
      let early = [1, 2, 1].map { id in loader.user(id) }
      await orders.step("a later screen")
      let late = [loader.user(3), loader.user(9)]
      try await orders.runAll()
      let names = try early.map { try $0.peek()?.get() }
      try Unexpected.unless(names == ["user 1", "user 2", "user 1"], "\(early)")
      try Unexpected.unless((try? late[0].peek()?.get()) == "user 3", "\(late)")
      guard case .failure(is NoUser)? = late[1].peek() else { throw Unexpected(description: "\(late)") }
      seen.insert(requests)
    }
    #expect(seen == [["users [1, 2]", "users [3, 9]"], ["users [1, 2, 3, 9]"]])
  }

  @Test("Reconnect: pauses double after failures, and a message resets them")
  func reconnect() async throws {
    let report = try await exploreOrders { orders in
      let (timer, log, connections) = (ManualContext(), Recorder<String>(), Locked(0))
      let following = Task {
        try await follow(
          {
            let number = connections.withLock { count in
              count += 1
              return count
            }
            await orders.step("network")
            if number < 3 { throw Offline() }
            return AsyncThrowingStream { stream in
              stream.yield("message of \(number)")
              stream.finish(throwing: number == 3 ? Offline() : nil)
            }
          },
          timer: timer.context,
          receive: { log.record($0) }
        )
      }
      for seconds in [1, 2, 1] {
        try await orders.runAll()
        timer.advance(by: .milliseconds(seconds * 1000 - 1))
        try Unexpected.unless(timer.pendingCount == 1, "it did not wait \(seconds) s")
        timer.advance(by: .milliseconds(1))
      }
      try await following.value
      try Unexpected.unless(log.events == ["message of 3", "message of 4"], "\(log.events)")
    }
    #expect(report.isExhaustive)
  }

  @Test(
    "Circuit breaker: after three failures it refuses calls, then one call tries, and its success closes the circuit"
  )
  func circuitBreaker() async throws {
    let report = try await exploreOrders { orders in
      let (timer, isUp, calls, trials) = (ManualContext(), Locked(false), Locked(0), Locked(0))
      let breaker = CircuitBreaker(clock: timer.clock)
      @Sendable func call() async -> String {
        do {
          return try await breaker.run {
            calls.withLock { $0 += 1 }
            await orders.step("network")
            guard isUp.withLock(\.self) else { throw Offline() }
            let together = trials.withLock { trials in
              trials += 1
              return trials
            }
            await orders.step("answer")
            trials.withLock { $0 -= 1 }
            return together == 1 ? "answer" : "a second trial"
          }
        } catch { return "\(type(of: error))" }
      }
      for _ in 1...3 { _ = await call() }
      let refused = await call()
      try Unexpected.unless(refused == "CircuitOpen" && calls.withLock(\.self) == 3, refused)
      timer.advance(by: .seconds(10))
      isUp.withLock { $0 = true }
      let both = [Task { await call() }, Task { await call() }]
      var results: [String] = []
      for task in both { results.append(await task.value) }
      try Unexpected.unless(results.contains("answer") && !results.contains("a second trial"), "\(results)")
      let closed = await call()
      try Unexpected.unless(closed == "answer", "after the trial: \(closed)")
    }
    #expect(report.isExhaustive)
  }

  @Test("A loop of another library: callbacks run in the loop, and a resolved future removes its timer")
  func eventLoop() async throws {
    var ends: Set<String> = []
    let report = try await exploreOrders { orders in
      let loop = TestLoop(explored: orders.context("loop"))
      let promise = Promise<String, any Error>()
      let (seen, context) = (Recorder<String>(), loop.context)
      promise.future.timeout(after: .seconds(5), on: context).whenResolved(on: context) { result in
        seen.record((try? result.get()) ?? "timeout")
      }
      orders.context("server").submit { promise.succeed("answer") }
      await orders.step("five seconds pass")
      let timers = loop.timers.withLock(\.count)
      try Unexpected.unless(timers == (promise.future.isResolved ? 0 : 1), "\(timers) timers")
      loop.fire()
      try await orders.runAll()
      try Unexpected.unless(seen.events.count == 1, "\(seen.events)")
      ends.formUnion(seen.events)
    }
    #expect(report.isExhaustive)
    #expect(ends == ["answer", "timeout"])
  }
}

/// A loop whose posted work is explored, and whose timers fire when the test says.
private struct TestLoop: EventLoop {
  let explored: ExecutionContext
  let timers = Locked<[Int: @Sendable () -> Void]>([:])

  func post(_ work: @escaping @Sendable () -> Void) { explored.submit(work) }

  func post(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Int {
    timers.withLock { timers in
      timers[timers.count] = work
      return timers.count - 1
    }
  }

  func removeTimer(_ timer: Int) { timers.withLock { $0[timer] = nil } }

  func fire() {
    for (timer, work) in timers.withLock(\.self) {
      removeTimer(timer)
      post(work)
    }
  }
}
