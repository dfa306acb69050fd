internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// When the task is cancelled, or the token.
enum Moment: CaseIterable, Sendable { case before, during }

/// Something that must not leave its isolation.
private final class Box {
  var number: Int
  init(_ number: Int) { self.number = number }
}

/// Waits until the current task is cancelled.
private func waitForCancellation() async {
  _ = await Future<Void, CancellationError>.never.result
}

private func cancelCurrentTask() { withUnsafeCurrentTask { $0?.cancel() } }

// MARK: - Task → token

@Suite("R24: `withCancellationToken`", .timeLimit(.minutes(1)))
struct WithCancellationTokenTests {
  @Test("R24: the token is cancelled when the task was, or is; its handlers run once, in order", arguments: Moment.allCases)
  func cancelled(moment: Moment) async {
    let log = Recorder<String>()
    let task = Task.immediate {
      if moment == .before { cancelCurrentTask() }
      await withCancellationToken { token in
        #expect(token.isCancelled == (moment == .before))
        for name in ["first", "second", "third"] { token.register { log.record(name) } }
        token.register { log.record("removed") }.remove()
        await waitForCancellation()
        #expect(token.isCancelled)
        log.record("body")
      }
      cancelCurrentTask()
    }
    task.cancel()
    task.cancel()
    await task.value
    let removed = moment == .before ? ["removed"] : []
    #expect(log.events.filter { $0 != "body" } == ["first", "second", "third"] + removed)
    #expect(log.events.filter { $0 == "body" }.count == 1)
  }

  @Test("R24: handlers have run when the call that cancels the task returns")
  func synchronous() async {
    let log = Recorder<String>()
    let gate = Gate()
    let task = Task.immediate {
      await withCancellationToken { token in
        token.register { log.record("told") }
        await gate.pass()
      }
    }
    task.cancel()
    #expect(log.events == ["told"])
    gate.open()
    await task.value
  }

  @Test("R24: cancellation of the whole group, or of the parent, reaches the token")
  func structured() async {
    let log = Recorder<Int>()
    let task = Task.immediate {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<3 {
          group.addTask {
            await withCancellationToken { token in
              token.register { log.record(number) }
              await waitForCancellation()
            }
          }
        }
      }
    }
    task.cancel()
    await task.value
    #expect(Set(log.events) == [0, 1, 2] && log.events.count == 3)
  }

  @Test("R24: after it has returned nothing is registered, and later cancellation does not reach the token")
  func after() async {
    let log = Recorder<String>()
    let task = Task.immediate {
      let captured = Dropping(Tracked())
      weak var (registered, late): (Tracked?, Tracked?)
      let token = await withCancellationToken { token in
        let tracked = Tracked()
        registered = tracked
        token.register {
          tracked.use()
          log.record("told")
        }
        return token
      }
      captured.drop()
      #expect(registered == nil)
      cancelCurrentTask()
      #expect(!token.isCancelled)
      do {
        let tracked = Tracked()
        late = tracked
        #expect(!token.register { tracked.use() }.remove())
      }
      #expect(late == nil)
    }
    await task.value
    #expect(log.events == [])
  }

  @Test("R24: what handlers captured is released, whether they ran or not, and also after a throw", arguments: [false, true])
  func release(isCancelled: Bool) async {
    weak var tracked: Tracked?
    let task = Task.immediate {
      try await withCancellationToken { token in
        let captured = Tracked()
        tracked = captured
        token.register { captured.use() }
        if isCancelled { cancelCurrentTask() }
        throw TestError(1)
      }
    }
    await #expect(throws: TestError(1)) { try await task.value }
    #expect(tracked == nil)
  }

  @Test("R24: a token that lives on after its cancellation stays cancelled")
  func staysCancelled() async {
    let token = await Task.immediate {
      await withCancellationToken { token in
        cancelCurrentTask()
        return token
      }
    }.value
    #expect(token.isCancelled)
    let log = Recorder<Int>()
    token.register { log.record(1) }
    #expect(log.events == [1])
  }

  @Test("R24: it throws what its closure throws, by its type, and nothing where that cannot throw")
  func errors() async {
    let error = ReferenceError()
    do throws(ReferenceError) {
      try await withCancellationToken { (_) async throws(ReferenceError) -> Void in throw error }
      Issue.record("Nothing was thrown.")
    } catch {
      let thrown: ReferenceError = error
      #expect(thrown === error)
    }
    let number: Int = await withCancellationToken { _ in 3 }
    #expect(number == 3)
    // Cancellation by itself throws nothing.
    let task = Task.immediate { () async -> Int in
      cancelCurrentTask()
      return await withCancellationToken { token in token.isCancelled ? 4 : 0 }
    }
    #expect(await task.value == 4)
  }

  @MainActor
  @Test("R24: results, and what the closure uses, need not be Sendable")
  func nonSendable() async {
    let box = Box(1)
    let result = await withCancellationToken { _ in
      box.number += 1
      await Task.yield()
      box.number += 1
      return box
    }
    #expect(result === box && box.number == 3)
  }

  @Test("R24: nested calls have tokens of their own, which are all cancelled", arguments: Moment.allCases)
  func nested(moment: Moment) async {
    let log = Recorder<String>()
    let task = Task.immediate {
      if moment == .before { cancelCurrentTask() }
      await withCancellationToken { outer in
        outer.register { log.record("outer") }
        let ended = await withCancellationToken { inner in
          inner.register { log.record("ended") }.remove()
          return inner
        }
        await withCancellationToken { inner in
          #expect(inner != outer && inner != ended)
          inner.register { log.record("inner") }
          await waitForCancellation()
        }
        #expect(ended.isCancelled == (moment == .before))
      }
    }
    task.cancel()
    await task.value
    #expect(log.events.sorted() == (moment == .before ? ["ended"] : []) + ["inner", "outer"])
  }

  @Test("R16, R24: a future that is cancelled by the token tells its producer", arguments: Moment.allCases)
  func cancelledBy(moment: Moment) async {
    let log = Recorder<String>()
    let open = Promise<Int, any Error>()
    open.onCancel { log.record("open") }
    let never = Promise<Int, Never>()
    never.onCancel { [weak never] in
      log.record("never")
      never?.succeed(7)
    }
    let (openFuture, neverFuture) = (open.future, never.future)
    let task = Task.immediate {
      if moment == .before { cancelCurrentTask() }
      return await withCancellationToken { token in
        let (first, second) = (openFuture.cancelled(by: token), neverFuture.cancelled(by: token))
        let number = await second.value
        await #expect(throws: CancellationError.self) { try await first.value }
        return number
      }
    }
    task.cancel()
    #expect(await task.value == 7)
    #expect(log.events == ["open", "never"])
    #expect(open.isResolved)
  }

  @Test("R21, R24: the closure, and the caller afterwards, are on the caller's actor", arguments: Home.allCases)
  func isolation(home: Home) async {
    for isThrowing in [false, true] {
      for isCancelled in [false, true] {
        let promise = Promise<Int, any Error>()
        let future = promise.future
        let isHome = await run(on: home.make()) { actor in
          do {
            return try await withCancellationToken { _ in
              guard isReallyOn(actor) else { return false }
              do { _ = try await future.value } catch { guard isReallyOn(actor) else { return false } }
              guard isReallyOn(actor) else { return false }
              if isThrowing { throw TestError(1) }
              return true
            } && isReallyOn(actor)
          } catch {
            return isReallyOn(actor) && error is TestError
          }
        } then: { task in
          if isCancelled { task.cancel() } else { promise.succeed(1) }
        }
        #expect(isHome, "throws: \(isThrowing), cancelled: \(isCancelled)")
      }
    }
  }
}

// MARK: - Waiting for a token

@Suite("R22a: `CancellationToken.cancelled()`", .timeLimit(.minutes(1)))
struct TokenCancelledTests {
  /// Starts a task that waits, or has ended, when this returns, and notes that it has ended.
  func startWait(for token: CancellationToken, isCancelled: Bool = false, _ log: Recorder<String>) -> Task<Void, Never> {
    Task.immediate {
      if isCancelled { cancelCurrentTask() }
      await token.cancelled()
      log.record(token.isCancelled ? "token" : "task")
    }
  }

  @Test("R22a: it returns when the token is cancelled", arguments: Moment.allCases)
  func token(moment: Moment) async {
    let log = Recorder<String>()
    let source = CancellationTokenSource()
    if moment == .before { source.cancel() }
    let tasks = (0..<3).map { _ in startWait(for: source.token, log) }
    #expect(moment == .before || log.events == [])
    source.cancel()
    for task in tasks { await task.value }
    #expect(log.events == ["token", "token", "token"])
    await CancellationToken.cancelled.cancelled()
    await CancellationToken.any(source.token, .none).cancelled()
  }

  @Test("R22a: it returns when the task is cancelled, and the token is not", arguments: Moment.allCases)
  func task(moment: Moment) async {
    let log = Recorder<String>()
    let source = CancellationTokenSource()
    let task = startWait(for: source.token, isCancelled: moment == .before, log)
    let other = startWait(for: source.token, log)
    task.cancel()
    await task.value
    #expect(log.events == ["task"] && !source.isCancelled)
    source.cancel()
    await other.value
    #expect(log.events == ["task", "token"])
  }

  @Test("R22a: for a token that cannot be cancelled it waits until the task is", arguments: Moment.allCases)
  func never(moment: Moment) async {
    let log = Recorder<String>()
    let gone = CancellationTokenSource().token
    for token in [CancellationToken.none, gone, .any(), .any(.none, .none)] {
      let task = startWait(for: token, isCancelled: moment == .before, log)
      if moment == .during { #expect(log.events == []) }
      task.cancel()
      await task.value
    }
    #expect(log.events.allSatisfy { $0 == "task" })
  }

  @Test("R22a: so it does if the source goes away during the wait")
  func sourceGoes() async {
    let log = Recorder<String>()
    let source = Dropping(CancellationTokenSource())
    let task = source.use { startWait(for: $0.token, log) }
    source.drop()
    await Task.yield()
    #expect(log.events == [])
    task?.cancel()
    await task?.value
    #expect(log.events == ["task"])
  }
}
