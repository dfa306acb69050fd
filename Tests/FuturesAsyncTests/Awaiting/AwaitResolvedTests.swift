internal import AllocationCounter
internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct AwaitResolvedTests {
  /// The ways in which a future resolves.
  enum Origin: CaseIterable, Sendable {
    case constant, promiseBefore, promiseAfter, task, map

    func make<Failure: Error>(_ result: Result<Int, Failure>) -> Future<Int, Failure> {
      let promise = Promise<Int, Failure>()
      switch self {
      case .constant:
        return .resolved(result)
      case .promiseBefore:
        promise.resolve(result)
        return promise.future
      case .promiseAfter:
        let future = promise.future
        future.whenResolved(on: .immediate) { _ in }
        promise.resolve(result)
        return future
      case .task:
        return Future.immediate { () async throws(Failure) in try result.get() }
      case .map:
        let future = promise.future.map { $0 }
        promise.resolve(result)
        return future
      }
    }
  }

  // MARK: - No suspension

  /// Awaits in every way, and returns the number of correct results.
  static func awaitAll(_ origin: Origin, on actor: isolated any Actor) async -> Int {
    var matches = 0
    let value: Future<Int, any Error> = origin.make(.success(1))
    if (try? await value.value) == 1 { matches += 1 }
    if case .success(1) = await value.result { matches += 1 }
    let error: Future<Int, any Error> = origin.make(.failure(TestError(2)))
    do { _ = try await error.value } catch { if (error as? TestError) == TestError(2) { matches += 1 } }
    if case .failure = await error.result { matches += 1 }
    let typed: Future<Int, TestError> = origin.make(.failure(TestError(3)))
    do throws(TestError) { _ = try await typed.value } catch { if error == TestError(3) { matches += 1 } }
    if await typed.result == .failure(TestError(3)) { matches += 1 }
    let certain: Future<Int, Never> = origin.make(.success(4))
    if await certain.value == 4 { matches += 1 }
    if await certain.result == .success(4) { matches += 1 }
    return matches
  }

  @Test(
    "R21: an await of a resolved future gives its result and enqueues no other job, also in a cancelled task",
    arguments: Origin.allCases,
    [false, true]
  )
  func noJob(origin: Origin, isCancelled: Bool) async {
    let actor = ThreadActor()
    let task = Task {
      await run(on: actor) { _ in
        if isCancelled { cancelCurrentTask() }
        let before = actor.executor.jobCount
        let matches = await Self.awaitAll(origin, on: actor)
        return (matches, actor.executor.jobCount - before)
      }
    }
    let (matches, jobs) = await task.value
    #expect(matches == 8)
    #expect(jobs == 0)
  }

  @Test("R21: the executor of the previous test counts a suspension")
  func jobsAreCounted() async {
    let actor = ThreadActor()
    let gate = Gate()
    await run(on: actor, suspending: { _ in await gate.pass() }, then: { _ in gate.open() })
    // Five jobs: the call of `run`, its two tasks, the resumption of the first task, and the resumption of `run`.
    #expect(actor.executor.jobCount >= 5)
  }

  // MARK: - No allocation

  /// The allocations of the thread while `body` runs a hundred times, after a warm-up; `body` must not suspend.
  private static func allocations(
    _ home: Home,
    _ body: @Sendable (isolated any Actor) async -> Void
  ) async -> Int64 {
    await run(on: home.make()) { actor in
      for _ in 0..<10 { await body(actor) }
      let before = AllocationCounts.ofThread().allocations
      for _ in 0..<100 { await body(actor) }
      return AllocationCounts.ofThread().allocations - before
    }
  }

  private static func checkAllocations<Failure: Error>(_ results: Result<Int, Failure>...) async {
    for (result, home) in results.flatMap({ result in Home.allCases.map { (result, $0) } }) {
      for origin in Origin.allCases {
        let future = origin.make(result)
        let comment: Comment = "\(Failure.self), \(result), \(origin), on \(home)"
        let byValue = await allocations(home) { _ in do throws(Failure) { _ = try await future.value } catch {} }
        #expect(byValue == 0, comment)
        let byResult = await allocations(home) { _ in _ = await future.result }
        #expect(byResult == 0, comment)
      }
    }
  }

  @Test(
    "R21: the await of a resolved future allocates nothing, for each kind of failure type and of actor",
    .enabled(if: AllocationCounts.areSupported)
  )
  func awaitAllocatesNothing() async {
    // Runs in a process of its own, because the hook belongs to the whole process.
    await #expect(processExitsWith: .success) {
      removeErrorHook()
      await Self.checkAllocations(.success(1), Result<Int, any Error>.failure(TestError(1)))
      await Self.checkAllocations(.success(1), .failure(TestError(1)))
      await Self.checkAllocations(Result<Int, Never>.success(1))
      let certain = Future<Int, Never>.succeeded(1)
      #expect(await Self.allocations(.plain) { _ in _ = await certain.value } == 0)
      // The counter sees the allocations of a promise.
      #expect(await Self.allocations(.plain) { _ in _ = Promise<Int, Never>().future } >= 100)
    }
  }
}

/// Removes the hook by which Swift Testing records a backtrace of each thrown error and keeps it for a while.
func removeErrorHook() {
  for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
    dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
  }
}
