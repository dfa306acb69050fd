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
        // The task is cancelled before `cancel()` returns, and once.
        #expect(work.cancellations.events.count == 1, comment)
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
    if TaskStart.plain.contains(start) { await check(failing: Never?.none, endsAtOnce: false) }
    guard TaskStart.typed.contains(start) else { return }
    await check(failing: Interruption.failed, endsAtOnce: true)
    await check(failing: TestError(1), endsAtOnce: false)
  }

  // MARK: - The last consumer

  /// An event of a future that has no other consumer.
  private enum Event: CaseIterable, Sendable {
    case cancelledDerived, cancelledAwait, cancelledToken
    case cancelledOneOfTwo, removedCallback, abandonedAwait, cancelledShieldedView, dropped

    var cancelsTask: Bool { [.cancelledDerived, .cancelledAwait, .cancelledToken].contains(self) }

    func happen(to future: Future<Int, any Error>) async {
      switch self {
      case .cancelledDerived: future.map { $0 }.cancel()
      case .cancelledAwait, .abandonedAwait:
        let choice: AwaitCancellation = cancelsTask ? .cancel : .abandon
        let task = Task.immediate { try await future.value(onCancel: choice) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      case .cancelledToken:
        let source = CancellationTokenSource()
        _ = future.cancelled(by: source.token)
        source.cancel()
      case .cancelledOneOfTwo:
        let other = future.map { $0 }
        future.map { $0 }.cancel()
        #expect(!other.isResolved)
      case .removedCallback: #expect(future.whenResolved(on: .immediate) { _ in }.remove())
      case .cancelledShieldedView: future.shielded.cancel()
      case .dropped: _ = future.map { $0 }
      }
    }
  }

  @Test(
    "R16, R22, R23: only the cancellation of the last consumer cancels the task; dropping all futures does not",
    arguments: TaskStart.allCases,
    Event.allCases
  )
  private func lastConsumerCancelsTask(start: TaskStart, event: Event) async {
    let work = GatedWork()
    await event.happen(
      to: start.make { () async throws(any Error) in
        await work.run()
        return 1
      }
    )
    work.gate.open()
    #expect(await work.inbox.next() == (event.cancelsTask ? "cancelled" : "not cancelled"))
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
