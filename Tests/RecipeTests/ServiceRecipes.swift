import Futures
import FuturesAsync

// The code below the line is in Recipes.md. `ScreenRecipeTests` compares both.

// ----

struct Pages: AsyncSequence, AsyncIteratorProtocol {
  private var next: Int? = 0

  mutating func next() async throws -> [String]? {
    guard let number = next else { return nil }
    let page = try await fetchPage(number).value(onCancel: .cancel)
    next = page.next
    return page.items
  }

  func makeAsyncIterator() -> Self { self }
}

actor Jobs {
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var lastID = 0
  private var isClosed = false

  func start(_ work: @escaping @Sendable () async -> Void) {
    guard !isClosed else { return }
    lastID += 1
    tasks[lastID] = Task { [id = lastID] in
      await work()
      tasks[id] = nil
    }
  }

  /// Cancels all work, waits until it has returned, and throws `TimeoutError` if that takes too long.
  func shutDown(within limit: Duration, timer: ExecutionContext = .global()) async throws {
    isClosed = true
    let running = tasks.sorted { $0.key < $1.key }.map(\.value)
    for task in running { task.cancel() }
    let end = Future<Void, any Error> { for task in running { await task.value } }
    try await end.timeout(after: limit, on: timer).value
  }
}

struct TooManyRequests: Error { var retryAfter: Duration? }

func answer(timer: ExecutionContext = .global()) -> Future<String, any Error> {
  Future.retry(
    attempts: 5,
    within: .seconds(30),
    on: timer,
    while: { error in error is TooManyRequests },
    delay: { attempt, error in (error as? TooManyRequests)?.retryAfter ?? .seconds(attempt) }
  ) {
    ask()
  }
}

func article(_ id: Int, from articles: Articles) -> AsyncThrowingStream<String, any Error> {
  callbackStream("article") { stream in
    if let kept = articles.kept(id) { stream.yield(kept) }
    let fresh = articles.load(id)
    fresh.whenResolved(on: .immediate) { result in
      do {
        stream.yield(try result.get())
        stream.finish()
      } catch {
        stream.finish(throwing: error)
      }
    }
    stream.onCancel { fresh.cancel() }
  }
}

@MainActor final class UserLoader {
  private let pending = PendingPromises<Int, String, any Error>("user")
  private var batch: Set<Int> = []

  func user(_ id: Int) -> Future<String, any Error> {
    pending.future(for: id) {
      if batch.isEmpty { Future.after(.milliseconds(2), on: .main).whenSucceeded(on: .main) { self.send() } }
      batch.insert(id)
    }
  }

  private func send() {
    let ids = batch
    batch = []
    users(ids).whenResolved(on: .immediate) { [pending] result in
      for id in ids {
        pending.resolve(id, with: result.flatMap { users in users[id].map(Result.success) ?? .failure(NoUser()) })
      }
    }
  }
}

func follow(
  _ connect: @Sendable () async throws -> AsyncThrowingStream<String, any Error>,
  timer: ExecutionContext = .global(),
  receive: @Sendable (String) -> Void
) async throws {
  var pause = 1
  while true {
    do {
      for try await message in try await connect() {
        pause = 1
        receive(message)
      }
      return  // the server has closed the connection, or this task is cancelled
    } catch {
      try await Future<Void, any Error>.after(.seconds(pause), on: timer).value(onCancel: .cancel)
      pause = min(pause * 2, 60)
    }
  }
}

struct CircuitOpen: Error {}

actor CircuitBreaker<C: Clock> where C.Duration == Duration {
  private let clock: C
  private var failures = 0
  private var nextTrial: C.Instant?

  init(clock: C) { self.clock = clock }

  func run<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
    if let nextTrial {
      guard clock.now >= nextTrial else { throw CircuitOpen() }
      self.nextTrial = clock.now.advanced(by: .seconds(10))  // only this call tries
    }
    do {
      let value = try await work()
      (failures, nextTrial) = (0, nil)
      return value
    } catch {
      failures += 1
      if failures >= 3 { nextTrial = clock.now.advanced(by: .seconds(10)) }
      throw error
    }
  }
}

protocol EventLoop: Sendable {
  func post(_ work: @escaping @Sendable () -> Void)
  func post(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> Int
  func removeTimer(_ timer: Int)  // can come after the timer has fired
}

extension EventLoop {
  var context: ExecutionContext {
    ExecutionContext(
      execute: { work in post(work) },
      after: { delay, work in
        let timer = post(after: delay, work)
        return { removeTimer(timer) }
      }
    )
  }
}
