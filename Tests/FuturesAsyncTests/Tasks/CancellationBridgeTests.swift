internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// The time at which the test cancels the task or the token: before or during the call.
enum Moment: CaseIterable, Sendable { case before, during }

/// Waits until the current task is cancelled.
private func waitForCancellation() async {
  _ = await Future<Void, CancellationError>.never.result
}

// MARK: - Task → token

@Suite(.timeLimit(.minutes(20)))
struct CancellationBridgeTests {
  @Test(
    "R24: cancelling the task cancels the token for ever; handlers run once, in order, before the cancelling call returns",
    arguments: Moment.allCases
  )
  func cancelledTaskCancelsToken(moment: Moment) async {
    let log = Recorder<String>()
    let gate = Gate()
    let task = Task.immediate {
      if moment == .before { cancelCurrentTask() }
      return await withCancellationToken { token in
        #expect(token.isCancelled == (moment == .before))
        for name in ["first", "second", "third"] { token.register { log.record(name) } }
        token.register { log.record("removed") }.remove()
        await gate.pass()
        #expect(token.isCancelled)
        return token
      }
    }
    task.cancel()
    task.cancel()
    let handled = ["first", "second", "third"] + (moment == .before ? ["removed"] : [])
    #expect(log.events == handled)
    gate.open()
    let token = await task.value
    #expect(token.isCancelled)
    token.register { log.record("late") }
    #expect(log.events == handled + ["late"])
  }

  @Test("R24: the return releases the token's handlers, and a later cancellation does not reach the token")
  func tokenIsDetachedAfterReturn() async {
    await Task.immediate {
      let released = Recorder<Void>()
      let token = await withCancellationToken { token in
        token.register { [held = LastUse { released.record(()) }] in Issue.record("\(held) was called.") }
        return token
      }
      #expect(released.events.count == 1)
      cancelCurrentTask()
      #expect(!token.isCancelled)
    }.value
  }

  // MARK: - Waiting for a token

  /// The cause of a cancellation.
  enum Canceller: CaseIterable, Sendable { case token, task }

  @Test(
    "R22a: `cancelled()` returns when its token or its task is cancelled, also for a token that nothing can cancel",
    arguments: Canceller.allCases,
    Moment.allCases
  )
  func cancellationEndsWait(canceller: Canceller, moment: Moment) async {
    let log = Recorder<Canceller>()
    let source = CancellationTokenSource()
    var dying: CancellationTokenSource? = CancellationTokenSource()
    var tokens = [source.token]
    if canceller == .task, let dying {
      let gone = CancellationTokenSource().token
      tokens += [dying.token, .none, gone, .any(), .any(.none, gone)]
    }
    if canceller == .token, moment == .before { source.cancel() }
    let tasks = tokens.map { token in
      Task.immediate {
        if canceller == .task, moment == .before { cancelCurrentTask() }
        await token.cancelled()
        log.record(token.isCancelled ? .token : .task)
      }
    }
    dying = nil
    #expect(log.events.count == (moment == .before ? tasks.count : 0))
    if canceller == .token { source.cancel() }
    for (number, task) in tasks.enumerated() {
      if canceller == .task { task.cancel() }
      await task.value
      if moment == .during { #expect(log.events.count == number + 1) }
    }
    #expect(log.events == tasks.map { _ in canceller })
    #expect(source.isCancelled == (canceller == .token))
  }

  // MARK: - Token → task

  /// Runs `work` under a token, and cancels the token or the task: before the call of `cancelling`, or during `work`.
  func run<R: Sendable>(
    _ canceller: Canceller,
    _ moment: Moment,
    _ work: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let source = CancellationTokenSource()
    let started = Gate()
    if canceller == .token, moment == .before { source.cancel() }
    let task = Task.immediate {
      if canceller == .task, moment == .before { cancelCurrentTask() }
      return try await source.token.cancelling {
        started.open()
        return try await work()
      }
    }
    await started.pass()
    if canceller == .token { source.cancel() } else { task.cancel() }
    let result = await task.result
    #expect(source.isCancelled == (canceller == .token))
    return try result.get()
  }

  @Test(
    "R22a: the token and the task cancel the work of `cancelling`, which decides the outcome",
    arguments: Canceller.allCases,
    Moment.allCases
  )
  func tokenAndTaskCancelWork(canceller: Canceller, moment: Moment) async throws {
    await #expect(throws: CancellationError.self) {
      try await run(canceller, moment) { try await Future<Int, any Error>.never.value }
    }
    let value = try await run(canceller, moment) {
      await waitForCancellation()
      return Task.isCancelled ? 5 : 0
    }
    #expect(value == 5)
    let error = ReferenceError()
    let thrown = await #expect(throws: ReferenceError.self) {
      try await run(canceller, moment) { () async throws -> Int in
        await waitForCancellation()
        throw error
      }
    }
    #expect(thrown === error)
  }
}
