import Futures
import FuturesAsync
import Legacy
import Testing

/// Calls each function by each of its counterparts, and checks how the calls end.
@Suite struct BehaviourTests {
  @Test(arguments: Row.all) func asyncGives(_ row: Row) async {
    for mood in [Backend.Mood.answers, .answersAtOnce] {
      #expect(await text { try await row.async(Backend(mood)) } == row.value)
    }
  }

  @Test(arguments: Row.all) func asyncFails(_ row: Row) async {
    #expect(await text { try await row.async(Backend(.fails)) } == row.failure ?? row.value)
  }

  @Test(arguments: Row.all) func asyncBreaks(_ row: Row) async {
    #expect(await text { try await row.async(Backend(.drops)) } == "broken")
  }

  @Test(arguments: Row.all) func asyncIsCancelled(_ row: Row) async {
    let backend = Backend(.waits)
    let task = Task { await text { try await row.async(backend) } }
    await backend.untilAsked()
    // The handle is known when the function has returned. An isolated counterpart might not have called it yet.
    task.cancel()
    #expect(await task.value == "cancelled")
    await backend.untilCancelled(row.hasHandle ? 1 : 0)
    #expect(backend.cancelCount == (row.hasHandle ? 1 : 0))
    backend.finish()
  }

  @Test(arguments: Row.all) func asyncIsCancelledBefore(_ row: Row) async {
    let backend = Backend(.answers)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await text { try await row.async(backend) }
    }
    #expect(await task.value == "cancelled")
    #expect(!backend.isAsked)
  }

  @Test(arguments: Row.all) func futureGives(_ row: Row) async {
    for mood in [Backend.Mood.answers, .answersAtOnce] {
      guard let future = row.future?(Backend(mood)) else { return }
      #expect(await text(of: future) == row.value)
    }
  }

  @Test(arguments: Row.all) func futureFails(_ row: Row) async {
    guard let future = row.future?(Backend(.fails)) else { return }
    #expect(await text(of: future) == row.failure ?? row.value)
  }

  @Test(arguments: Row.all) func futureBreaks(_ row: Row) async {
    guard let future = row.future?(Backend(.drops)) else { return }
    #expect(await text(of: future) == "broken")
  }

  @Test(arguments: Row.all) func futureIsCancelled(_ row: Row) async {
    let backend = Backend(.waits)
    guard let future = row.future?(backend) else { return }
    future.cancel()
    // An isolated handle is cancelled on its actor, by a task.
    await backend.untilCancelled(row.hasHandle ? 1 : 0)
    #expect(backend.cancelCount == (row.hasHandle ? 1 : 0))
    #expect(await text(of: future) == "cancelled")
    backend.finish()
  }

  @Test func brokenRule() async {
    await #expect(throws: CallbackContractViolation.self) { try await Users(Backend(.answers)).nothingAtAll() }
    let future = Users(Backend(.answers)).nothingAtAllFuture()
    await #expect(throws: CallbackContractViolation.self) { try await future.value }
  }

  @Test func successWithoutValue() async throws {
    #expect(try await Users(Backend(.answers)).avatar() == nil)
    #expect(try await Users(Backend(.answers)).avatarFuture().value == nil)
    await #expect(throws: Offline.self) { try await Users(Backend(.fails)).avatar() }
  }

  @Test func throwingBeforeItStarts() async {
    let names = Names(Backend(.answers))
    await #expect(throws: SignInError.wrongPassword) { try await names.validate(typed: -1) }
    await #expect(throws: SignInError.wrongPassword) { try await names.validateFuture(typed: -1).value }
    await #expect(throws: Offline.self) { try await names.tryCheck({ throw Offline() }()) }
    await #expect(throws: Offline.self) { try await names.tryCheckFuture({ throw Offline() }()).value }
    await #expect(throws: Offline.self) { try await names.collide(progress: -1) { _ in } }
  }

  @Test func defaultsTellTheCaller() async throws {
    let line = try await Names(Backend(.answers)).log()
    #expect(line == #line - 1)
    #expect(try await Names(Backend(.answers)).logFuture().value == #line)
    #expect(try await Migrating(Backend(.answers)).match() == #"a "b", c) \(d"# + #"x, 2 y, "z""#)
  }

  @Test func compiledInDebugBuildsAlone() async throws {
    #if DEBUG
      #expect(try await Migrating(Backend(.answers)).inspect() == 1)
    #endif
  }

  @Test func package() async throws { #expect(try await Depot(Backend(.answers)).fetch() == 1) }

  @Test func twoThatDifferInTheirExtension() async throws {
    try await Cache(Backend(.answers), ["a": 1]).reset()
    try await Cache(Backend(.answers), [1: 1]).reset()
  }
}

/// Tests of the progress that functions report.
@Suite struct ProgressTests {
  private let backend = Backend(.waits)

  private func expect<Value>(_ future: Future<Value, any Error>, at fraction: Double) async throws {
    #expect(future.currentProgress.fractionCompleted == fraction)
    backend.finish()
    _ = try await future.value
    #expect(future.currentProgress.fractionCompleted == 1)
  }

  @Test func fraction() async throws { try await expect(Downloads(backend).fileFuture(at: "a"), at: 0.5) }

  @Test func counts() async throws {
    let future = Downloads(backend).bytesFuture()
    #expect(future.currentProgress.completedUnitCount == 30)
    #expect(future.currentProgress.totalUnitCount == 40)
    try await expect(future, at: 0.75)
  }

  @Test func optionalTotal() async throws { try await expect(Downloads(backend).itemsFuture(), at: 0.75) }

  @Test func alias() async throws { try await expect(Aliases(backend).qualifiedFuture(), at: 0.5) }

  @Test func collidingName() async throws { try await expect(Names(backend).collideFuture(progress: 1), at: 0.5) }

  @Test @MainActor func onTheMainActor() async throws {
    let future = Screen(backend).renderFuture()
    try await future.value
    #expect(future.currentProgress.isFinished)
  }

  @Test func passedOn() async throws {
    let backend = Backend(.answersAtOnce)
    var fractions: [Double] = []
    try await withoutActuallyEscaping({ fractions.append($0) }) {
      _ = try await Downloads(backend).file(at: "a", progress: $0)
    }
    #expect(fractions == [0.5])
  }
}
