internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R21: awaiting a resolved future", .timeLimit(.minutes(20)))
struct AwaitResolvedTests {
  /// The ways in which a future resolves.
  enum Origin: CaseIterable, Sendable {
    case constant, promiseBefore, promiseAfter, task, map

    func make<Failure: Error>(_ result: Result<Int, Failure>) -> Future<Int, Failure> {
      switch self {
      case .constant:
        return .resolved(result)
      case .promiseBefore:
        let promise = Promise<Int, Failure>()
        promise.resolve(result)
        return promise.future
      case .promiseAfter:
        let promise = Promise<Int, Failure>()
        let future = promise.future
        future.whenResolved(on: .immediate) { _ in }
        promise.resolve(result)
        return future
      case .task:
        return Future.immediate { () async throws(Failure) in try result.get() }
      case .map:
        let promise = Promise<Int, Failure>()
        let future = promise.future.map { $0 }
        promise.resolve(result)
        return future
      }
    }
  }

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

  @Test("R21: awaiting a resolved future enqueues no other job", arguments: Origin.allCases)
  func noJob(origin: Origin) async {
    let actor = ThreadActor()
    let (matches, jobs) = await run(on: actor) { actor in
      let before = (actor as? ThreadActor)?.executor.jobCount ?? 0
      let matches = await Self.awaitAll(origin, on: actor)
      return (matches, ((actor as? ThreadActor)?.executor.jobCount ?? 0) - before)
    }
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

  @Test("R21: awaiting a resolved future in a cancelled task gives the future's result", arguments: Origin.allCases)
  func inCancelledTask(origin: Origin) async {
    let matches = await Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      return await run(on: PlainActor()) { actor in await Self.awaitAll(origin, on: actor) }
    }.value
    #expect(matches == 8)
  }
}
