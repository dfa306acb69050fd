internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct FutureTaskCancellationTests {
  // MARK: - Future → task

  @Test(
    "R15, R23: cancelling the future cancels the task, and ends the future if its failure type can represent that",
    arguments: TaskStart.allCases
  )
  func cancelledFutureCancelsTask(start: TaskStart) async {
    /// Cancels futures of this failure type, whose late work succeeds or fails.
    func check<Failure: Error>(failing failure: Failure?, endsAtOnce: Bool) async {
      for error in failure.map({ [nil, $0] }) ?? [nil] {
        let comment: Comment = "\(Failure.self), error: \(error as Any)"
        let work = GatedWork()
        let future = start.make { () async throws(Failure) in
          await work.run()
          if let error { throw error }
          return LastUse { work.inbox.send("released") }
        }
        await work.started.pass()
        let waiting = Task.immediate { await future.result }
        future.cancel()
        future.cancel()
        #expect(future.isResolved == endsAtOnce, comment)
        if endsAtOnce { #expect(await waiting.value.isCancellation, comment) }
        work.gate.open()
        #expect(await work.inbox.next() == "cancelled", comment)
        if endsAtOnce, error == nil { #expect(await work.inbox.next() == "released", comment) }
        let result = await waiting.value
        #expect(result.isCancellation == endsAtOnce && result.isSuccess == (!endsAtOnce && error == nil), comment)
        #expect(future.peek()?.isSuccess == result.isSuccess, comment)
      }
    }
    await check(failing: TestError(1) as any Error, endsAtOnce: true)
    await check(failing: Never?.none, endsAtOnce: false)
    guard start != .task else { return }
    await check(failing: Interruption.failed, endsAtOnce: true)
    await check(failing: TestError(1), endsAtOnce: false)
  }

  // MARK: - The last consumer

  private enum Leaving: CaseIterable, Sendable { case derived, await, token }

  /// Attaches one consumer to `future`, and returns a closure that cancels the consumer.
  private func attach(_ leaving: Leaving, to future: Future<Int, any Error>) -> @Sendable () -> Void {
    switch leaving {
    case .derived:
      let derived = future.map { $0 }
      return { derived.cancel() }
    case .await:
      let task = Task.immediate { try await future.map { $0 }.value(onCancel: .cancel) }
      return { task.cancel() }
    case .token:
      let source = CancellationTokenSource()
      _ = future.cancelled(by: source.token)
      return { source.cancel() }
    }
  }

  @Test(
    "R16, R23: only the cancellation of the last consumer cancels the task",
    arguments: TaskStart.allCases,
    Leaving.allCases
  )
  private func lastConsumerCancelsTask(start: TaskStart, leaving: Leaving) async {
    for hasOther in [false, true] {
      let work = GatedWork()
      let future = start.make { () async throws(any Error) -> Int in
        await work.run()
        return 1
      }
      let other = hasOther ? future.map { $0 } : nil
      attach(leaving, to: future)()
      work.gate.open()
      #expect(
        await work.inbox.next() == (hasOther ? "not cancelled" : "cancelled"),
        "\(start), \(leaving), other consumer: \(hasOther)"
      )
      if let other { #expect((try? await other.value) == 1, "\(start), \(leaving), other consumer: \(hasOther)") }
    }
  }

  @Test(
    "R16, R22, R23: removing a callback, abandoning an await and cancelling a shielded view cancel no task",
    arguments: TaskStart.allCases
  )
  private func detachedConsumersCancelNothing(start: TaskStart) async {
    let work = GatedWork()
    let future = start.make { () async throws(any Error) -> Int in
      await work.run()
      return 1
    }
    #expect(future.whenResolved(on: .immediate) { _ in }.remove())
    let task = Task.immediate { try await future.value }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    future.shielded.cancel()
    work.gate.open()
    #expect(await work.inbox.next() == "not cancelled")
  }

  @Test("R23: dropping the future, its derived futures and the promise cancels nothing", arguments: TaskStart.allCases)
  private func droppingCancelsNothing(start: TaskStart) async {
    let work = GatedWork()
    do { _ = start.make { () async throws(any Error) in await work.run() }.map { $0 } }
    work.gate.open()
    #expect(await work.inbox.next() == "not cancelled")
  }

  @MainActor
  @Test("R15: when cancel() returns, the task is cancelled, also one that has not begun")
  func cancelsBeforeItReturns() {
    // Repeated: the second task of `Future(task)` starts on another thread, at varying times.
    for _ in 0..<50 {
      let task = Task<Void, any Error> {}
      Future(task).cancel()
      #expect(task.isCancelled)

      let ofNever = Task {}
      Future(ofNever).cancel()
      #expect(ofNever.isCancelled)
    }
    let promise = Promise<Void, any Error>()
    let task = promise.resolve { try Task.checkCancellation() }
    promise.future.cancel()
    #expect(task.isCancelled)
  }

  @Test(
    "R15: `cancel()` of a future with its own task cancels that task before it returns",
    arguments: TaskStart.allCases
  )
  private func cancelsOwnTask(start: TaskStart) async {
    let (log, hasBegun, gate) = (Recorder<Int>(), Gate(), Gate())
    let future = start.make { () async throws(any Error) in
      await withTaskCancellationHandler {
        hasBegun.open()
        await gate.pass()
      } onCancel: {
        log.record(1)
      }
    }
    await hasBegun.pass()
    future.cancel()
    #expect(log.events == [1])
    gate.open()
  }

  @Test("R6: a chain of tasks, each of which cancels the next one's future, takes no stack")
  func chain() async {
    let gate = Gate()
    onThread {
      var futures: [Future<Void, any Error>] = []
      for _ in 0..<2_000 {
        let next = futures.last
        let work: @Sendable () async throws -> Void = {
          await withTaskCancellationHandler {
            await gate.pass()
          } onCancel: {
            next?.cancel()
          }
        }
        futures.append(.immediate(operation: work))
      }
      futures.last?.cancel()
      #expect(futures.allSatisfy { $0.peek()?.isCancellation == true })
    }
    gate.open()
  }

  // MARK: - flatMap

  @Test("R17, R23: a cancelled `flatMap` cancels the task that runs at that moment", arguments: [false, true])
  func flatMapCancelsRunningTask(isInner: Bool) async {
    let (outer, inner) = (GatedWork(), GatedWork())
    // The transform can still run during the cancellation, so the cancellation itself lets the inner task continue.
    let future = Future<Void, any Error> { await outer.run() }
      .flatMap {
        Future<Void, any Error> {
          await withTaskCancellationHandler {
            await inner.run()
          } onCancel: {
            inner.gate.open()
          }
        }
      }
    if isInner {
      outer.gate.open()
      await inner.started.pass()
    }
    future.cancel()
    #expect(future.peek()?.isCancellation == true)
    outer.gate.open()
    #expect(await outer.inbox.next() == (isInner ? "not cancelled" : "cancelled"))
    if isInner { #expect(await inner.inbox.next() == "cancelled") }
  }

  @Test(
    "R23: a task that cancels itself cancels no future, and cancelling a resolved future changes nothing",
    arguments: TaskStart.allCases
  )
  private func fromWithin(start: TaskStart) async {
    let future = start.make { () async throws(any Error) -> Bool in
      withUnsafeCurrentTask { $0?.cancel() }
      return Task.isCancelled
    }
    #expect((try? await future.value) == true)
    future.cancel()
    #expect((try? future.peek()?.get()) == true)
  }
}
