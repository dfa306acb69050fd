internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Each test runs in a separate process: it blocks the main thread, and reads what the process writes.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct BlockedMainThreadTests {
  @Test("R10a: wait() on the main thread for work that needs it traps in debug builds, and names the work and the cure")
  func traps() async throws {
    #if DEBUG
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await waitForFetch()
      }
      let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
      #expect(output.contains("a task that is isolated to the main actor"))
      #expect(output.contains("Future.detached { … }"))
    #endif
  }

  @Test(
    "R10a: with a timeout it writes the sentence once, also for work behind other futures",
    arguments: HopelessWait.allCases
  )
  fileprivate func writes(wait: HopelessWait) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [wait] in
      await wait.run()
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    let sentences = output.split(separator: "\n").filter {
      $0.hasPrefix("swift-futures: wait() blocks the main thread")
    }
    #expect(sentences.count == 1, "\(output)")
    #expect(sentences.first?.contains(wait.work) == true, "\(output)")
  }

  @Test("R10a: a wait that another thread can end is no such case")
  func writesNothing() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for wait in HopefulWait.allCases { await wait.run() }
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    #expect(!output.contains("wait() blocks"), "\(output)")
  }
}

extension BlockedMainThreadTests {
  @Test("R10a: wait() on a serial queue for work that this queue has to run traps in debug builds, and names the queue")
  func trapsOnQueue() async throws {
    #if DEBUG
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await run(on: serial) { _ = Future(on: .queue(serial)) { 1 }.wait() }
      }
      let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
      #expect(output.contains("wait() blocks the serial queue \"test.serial\""))
    #endif
  }

  @Test("R10a: on a serial queue it writes the sentence once, and none where another queue or thread can end the wait")
  func writesOnQueue() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      @Sendable func wait(_ future: Future<Int, Never>) {
        #expect(future.wait(timeout: .milliseconds(20)) == nil)
      }
      let promise = Promise<Int, Never>()
      let (queues, pending) = (Queues(), promise.future)
      for future in queues.hopefulOnSerial(pending) { await run(on: serial) { wait(future()) } }
      await run(on: queues.concurrent) { wait(pending.receive(on: .queue(queues.concurrent))) }
      FuturesDiagnostics.write("From here on:")
      for future in queues.hopeless { await run(on: serial) { wait(future()) } }
      promise.succeed(1)
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    let counts = output.split(separator: "From here on:").map { part in
      part.split(separator: "wait() blocks the serial queue").count - 1
    }
    #expect(counts == [0, 1], "\(output)")
  }

  @Test("The graph names the main thread that is blocked, and the task of the main actor")
  func graph() async {
    await #expect(processExitsWith: .success) { await showInGraph() }
  }
}

private let serial = DispatchQueue(label: "test.serial")

/// Runs `body` on a thread of the queue, outside the task.
private func run(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) async {
  await withCheckedContinuation { continuation in
    queue.async {
      body()
      continuation.resume()
    }
  }
}

/// Waits on the thread of `serial`.
private struct Queues {
  let concurrent = DispatchQueue(label: "test.concurrent", attributes: .concurrent)
  private let other = DispatchQueue(label: "test.serial")  // the same label

  /// Without `serial` each of them stays pending.
  var hopeless: [@Sendable () -> Future<Int, Never>] {
    let settled = Future<Int, Never>.succeeded(1)
    return [
      { settled.map(on: .queue(serial)) { $0 } }, { Future(on: .queue(serial)) { 1 }.map { $0 }.shielded },
      { Future.all([settled, settled.receive(on: .queue(serial))]).map { $0[0] } },
    ]
  }

  /// Another queue or thread can resolve each of them.
  func hopefulOnSerial(_ pending: Future<Int, Never>) -> [@Sendable () -> Future<Int, Never>] {
    [
      { pending.receive(on: .queue(other)) }, { pending.receive(on: .queue(concurrent)) },
      { pending.receive(on: .global()) },
      { .race([Future(on: .queue(serial)) { 1 }, pending]) }, { pending },
    ]
  }
}

@MainActor private func showInGraph() {
  FuturesDiagnostics.tracksPendingFutures = true
  let future = Future(name: "fetch") { try await fetch(1) }
  _ = Future(name: "nonthrowing") { await Task.yield() }
  let graph = Locked("")
  startThread {
    while !future.hasConsumers {}
    graph.withLock { $0 = FuturesDiagnostics.graph.description }
    future.cancel()
  }
  _ = future.wait(timeout: .seconds(3_600))
  let text = graph.withLock(\.self)
  for name in ["fetch", "nonthrowing"] { #expect(text.contains("task of the main actor \"\(name)\" at "), "\(text)") }
  #expect(text.contains("main thread, blocked in wait()"), "\(text)")
}

nonisolated private func fetch(_ number: Int) async throws -> Int { number }

/// As a closure of a module whose default isolation is the main actor.
@MainActor private func fetchOnMainActor() async throws -> Int { try await fetch(1) }

/// As `main` of a command-line tool, whose closures inherit the main actor.
@MainActor private func waitForFetch() {
  func local() -> Result<Int, any Error> { Future { try await fetch(1) }.wait() }
  _ = local()
}

/// A wait of the main thread for work that needs it.
private enum HopelessWait: String, CaseIterable, Codable, Sendable {
  case task, localFunction, nonthrowing, named, immediate, detached, namedDetached
  case mapped, flatMapped, followed, shielded, joined, joinedWithSettled, joinedWithSucceeded, settledBesideOther, raced
  case lateJoin, inSeries, concurrent, concurrentSettled, retry, limited, serialQueue, behindSerialQueue, cached
  case insideSync
  case mainQueue, main, received, behindPending

  var work: String {
    switch self {
    case .mainQueue, .main, .received, .behindPending: "work that was submitted to the main queue"
    default: "a task that is isolated to the main actor"
    }
  }

  @MainActor func run() {
    let promise = Promise<Int, any Error>()
    withExtendedLifetime(promise) {
      let future = future(promise)
      for _ in 0..<2 {
        // On a queue, `sync` runs its work on this thread.
        let result = self == .insideSync ? serial.sync { wait(future) } : wait(future)
        #expect(result == nil, "\(self)")
      }
    }
    promise.succeed(1)
  }

  nonisolated private func wait(_ future: Future<Int, any Error>) -> Result<Int, any Error>? {
    future.wait(timeout: .milliseconds(20))
  }

  @MainActor private func future(_ promise: Promise<Int, any Error>) -> Future<Int, any Error> {
    let (items, queue) = ([1, 2], SerialQueue())
    let task = Future { try await fetch(1) }
    func local() -> Future<Int, any Error> { Future { try await fetch(1) } }
    let settled = Future<Int, any Error>.succeeded(1)
    switch self {
    case .task, .insideSync: return task
    case .inSeries: return Future.serial(items) { try await fetch($0) }.map { $0[0] }
    case .concurrent: return Future.concurrent(items, limit: 2) { try await fetch($0) }.map { $0[0] }
    case .concurrentSettled:
      let settled = Future.concurrentSettled(items, limit: 2) { try await fetch($0) }
      return settled.map { $0.count }.setFailureType(to: (any Error).self)
    case .retry: return Future.retry(attempts: 2) { try await fetch(1) }
    case .limited: return ConcurrencyLimit(1).run { try await fetch(1) }
    case .serialQueue: return queue.future { @MainActor in try await fetch(1) }
    case .behindSerialQueue:
      _ = queue.future { @MainActor in try await fetch(1) }
      return queue.future { @concurrent in try await fetch(2) }
    case .cached: return cache.future(for: 1) { @MainActor in try await fetch(1) }
    case .localFunction: return local()
    case .nonthrowing: return Future { await Task.yield() }.map { 1 }.setFailureType(to: (any Error).self)
    case .named: return Future(name: "fetch") { try await fetch(1) }
    case .immediate:
      return Future.immediate {
        await Task.yield()
        return try await fetch(1)
      }
    case .detached: return Future.detached(operation: fetchOnMainActor)
    case .namedDetached: return Future.detached(name: "fetch", operation: fetchOnMainActor)
    case .mapped: return task.map { $0 }.mapError { $0 }
    case .flatMapped: return settled.flatMap { _ in task }
    case .followed:
      promise.follow(task)
      return promise.future
    case .shielded: return task.shielded
    case .joined: return Future.all([task, task]).map { $0[0] }
    case .joinedWithSettled: return Future<(Int, Int), any Error>.zip(task, settled).map { $0.0 }
    case .joinedWithSucceeded:
      defer { promise.succeed(1) }
      return Future.all([promise.future, task]).map { $0[0] }
    case .settledBesideOther:
      return Future.allSettled([promise.future, task]).map { _ in 1 }.setFailureType(to: (any Error).self)
    case .raced: return Future.race([task, local()])
    case .lateJoin: return Future.all([task.map { $0 }, local().shielded]).map { $0[0] }
    case .mainQueue: return Future(on: .mainQueue) { 1 }
    case .main: return settled.map(on: .main) { $0 }
    case .received: return Future<Int, any Error>.all([settled.receive(on: .mainQueue), settled]).map { $0[0] }
    case .behindPending: return promise.future.receive(on: .mainQueue)
    }
  }
}

private let requests = PendingPromises<Int, Int, any Error>()
private let cache = FutureCache<Int, Int, any Error>()

/// A wait of the main thread that another thread ends, although work of the main actor has to do with the future.
private enum HopefulWait: CaseIterable {
  case promise, detached, raced, timeout, failingInput, failureBesideTransform, resolvedPromise
  case sharedRequest, token, tokenOfSettled, tokenOfTransform, insideSync, startingItem
  case slotOfPromise, slotOfTask, slotWithTimeout

  @MainActor func run() {
    let promise = Promise<Int, any Error>()
    let source = CancellationTokenSource()
    let future = future(promise, source.token)
    startThread {
      // Once the wait has begun.
      while !future.hasConsumers, !future.isResolved {}
      switch self {
      case .token, .tokenOfSettled, .tokenOfTransform: source.cancel()
      case .sharedRequest: requests.resolve(1, with: .success(1))
      case .failingInput, .failureBesideTransform: promise.fail(TestError(1))
      default: promise.succeed(1)
      }
    }
    if self == .insideSync { serial.sync { _ = future.wait() } } else { _ = future.wait() }
  }

  @MainActor private func future(
    _ promise: Promise<Int, any Error>,
    _ token: CancellationToken
  ) -> Future<Int, any Error> {
    let task = Future { try await fetch(1) }
    switch self {
    case .promise, .insideSync: return promise.future
    case .startingItem: return itemThatStarts(beside: task, until: promise)
    case .slotOfPromise, .slotOfTask:
      let limit = ConcurrencyLimit(2)
      _ = limit.run { task }
      if self == .slotOfPromise {
        _ = limit.run { promise.future }
      } else {
        Task.detached { try await limit.withSlot { try await promise.future.value } }
        while limit.runningCount < 2 {}
      }
      return limit.run { .succeeded(1) }
    case .slotWithTimeout:
      let limit = ConcurrencyLimit(1)
      limit.run { task }.timeout(after: .milliseconds(20)).whenResolved(on: .global()) { _ in }
      return limit.run { .succeeded(1) }
    case .detached: return Future.detached { try await fetch(1) }
    case .raced: return Future.race([task, promise.future])
    case .timeout: return task.timeout(after: .milliseconds(20), fallback: 7)
    case .failingInput: return Future.all([task, promise.future]).map { $0[0] }
    case .failureBesideTransform: return promise.future.map(on: .main) { $0 }
    case .resolvedPromise:
      promise.resolve { try await fetch(1) }
      return promise.future
    case .sharedRequest: return requests.future(sharing: 1) { @MainActor in try await fetch(1) }
    case .token: return task.cancelled(by: token)
    // The token cannot fail these futures themselves, but it cancels what they wait for.
    case .tokenOfSettled:
      return task.materialize().cancelled(by: token).map { _ in 1 }.setFailureType(to: (any Error).self)
    case .tokenOfTransform:
      let received = Future<Int, Never>.succeeded(1).receive(on: .main)
      return received.cancelled(by: token).setFailureType(to: (any Error).self)
    }
  }

  /// Returns a future with one item that needs the main actor, and one that another thread is about to start.
  private func itemThatStarts(
    beside task: Future<Int, any Error>,
    until promise: Promise<Int, any Error>
  ) -> Future<Int, any Error> {
    let (first, isStarting) = (Promise<Int, any Error>(), DispatchSemaphore(value: 0))
    let all = Future.concurrent([0, 1, 2], limit: 2) { item in
      guard item == 2 else { return item == 0 ? task : first.future }
      isStarting.signal()
      _ = promise.future.wait()
      return .failed(TestError(1))
    }
    startThread { first.succeed(1) }
    isStarting.wait()
    return all.map { $0[0] }
  }
}
