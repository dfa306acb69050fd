internal import AllocationCounter
internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R22: `value(onCancel:)`", .timeLimit(.minutes(20)))
struct AwaitChoiceTests {
  typealias Step = AwaitCancellationTests.Step

  static let choices: [AwaitCancellation] = [.abandon, .cancel, .ignore]

  /// Who else is attached to the future.
  enum Other: CaseIterable, Sendable {
    case none, callback, await, derived, shielded

    /// Attaches, and gives what tells what came.
    func attach<Failure: Error>(to future: Future<Int, Failure>) -> @Sendable () async -> Int? {
      switch self {
      case .none: return { 1 }
      case .callback:
        let inbox = Inbox<Int?>()
        future.whenResolved(on: .immediate) { inbox.send(try? $0.get()) }
        return { await inbox.next() ?? nil }
      case .await:
        let task = Task.immediate { try? await future.result.get() }
        return { await task.value }
      case .derived:
        let derived = future.map { $0 }
        return { try? await derived.result.get() }
      case .shielded:
        let view = future.shielded
        return { try? await view.result.get() }
      }
    }
  }

  struct Row: Sendable {
    let choice: AwaitCancellation
    let other: Other
    let steps: [Step]

    /// Whether the task is cancelled while the await waits, or before it does.
    var endsEarly: Bool { choice != .ignore && steps.last == .resolve }

    /// Whether that cancels the future.
    var cancelsFuture: Bool { endsEarly && choice == .cancel && other == .none }
  }

  /// Starts a task that has attached to `future`, or got its result, when this returns; it notes in `log` that it has ended.
  func startAwait<Failure: Error>(
    of future: Future<Int, Failure>,
    _ choice: AwaitCancellation,
    isCancelled: Bool = false,
    log: Recorder<String> = Recorder()
  ) -> Task<Result<Int, any Error>, Never> {
    Task.immediate {
      defer { log.record("ended") }
      if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
      do { return .success(try await future.value(onCancel: choice)) } catch { return .failure(error) }
    }
  }

  /// A promise that notes in `log` that its future is cancelled.
  func promise<Failure: Error>(_: Failure.Type, _ log: Recorder<String>) -> Promise<Int, Failure> {
    let promise = Promise<Int, Failure>()
    promise.onCancel { log.record("told") }
    return promise
  }

  /// Does the steps of `row`; an await that has to end early is waited for before the future is resolved.
  func check<Failure: Error>(_ row: Row, _ type: Failure.Type, canSayCancelled: Bool) async {
    let log = Recorder<String>()
    let promise = promise(type, log)
    let future = promise.future
    let other = row.other.attach(to: future)
    var task: Task<Result<Int, any Error>, Never>?
    var isCancelled = false
    for step in row.steps {
      switch step {
      case .attach: task = startAwait(of: future, row.choice, isCancelled: isCancelled, log: log)
      case .cancel:
        isCancelled = true
        task?.cancel()
      case .resolve:
        if row.endsEarly {
          await #expect(throws: CancellationError.self, "\(row)") { try await task?.value.get() }
          #expect(future.isResolved == (row.cancelsFuture && canSayCancelled), "\(row)")
        }
        #expect(promise.succeed(1) == !(row.cancelsFuture && canSayCancelled), "\(row)")
      }
    }
    if !row.endsEarly { #expect((try? await task?.value.get()) == 1, "\(row)") }
    // The producer hears first.
    #expect(log.events == (row.cancelsFuture ? ["told", "ended"] : ["ended"]), "\(row)")
    #expect(await other() == 1, "\(row)")
    switch future.peek() {
    case .success(let value): #expect(value == 1 && !(row.cancelsFuture && canSayCancelled), "\(row)")
    case .failure(let error):
      #expect(row.cancelsFuture && canSayCancelled, "\(row)")
      #expect(error is CancellationError || error as? Interruption == .wasCancelled, "\(row)")
    case nil: Issue.record("The future is pending: \(row).")
    }
  }

  @Test(
    "R16, R22: each choice, in every order, whoever else is attached, by failure type",
    arguments: choices,
    Other.allCases
  )
  func table(choice: AwaitCancellation, other: Other) async {
    for steps in permutations(of: Step.allCases) {
      let row = Row(choice: choice, other: other, steps: steps)
      await check(row, (any Error).self, canSayCancelled: true)
      await check(row, CancellationError.self, canSayCancelled: true)
      await check(row, Interruption.self, canSayCancelled: true)
      await check(row, TestError.self, canSayCancelled: false)
      await check(row, BrokenPromise.self, canSayCancelled: false)
      await check(row, Never.self, canSayCancelled: false)
    }
  }

  @Test("R22: it throws the very error of the future, whatever the choice", arguments: choices)
  func failure(choice: AwaitCancellation) async {
    let error = ReferenceError()
    let (open, typed) = (Promise<Int, any Error>(), Promise<Int, ReferenceError>())
    let tasks = [startAwait(of: open.future, choice), startAwait(of: typed.future, choice)]
    open.fail(error)
    typed.fail(error)
    let late = [startAwait(of: open.future, choice, isCancelled: true), startAwait(of: typed.future, choice)]
    for task in tasks + late {
      #expect(await #expect(throws: ReferenceError.self) { try await task.value.get() } === error)
    }
  }

  // MARK: - Who still counts

  /// Lets an await with `first` be cancelled, and then, as the last consumer, one with `cancel`.
  func checkLeaving<Failure: Error>(_ type: Failure.Type, after first: AwaitCancellation, isCancelled: Bool) async {
    let log = Recorder<String>()
    let promise = promise(type, log)
    let last = startAwait(of: promise.future, .cancel)
    let task = startAwait(of: promise.future, first, isCancelled: isCancelled)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value.get() }
    #expect(log.events == [])
    last.cancel()
    await #expect(throws: CancellationError.self) { try await last.value.get() }
    #expect(log.events == ["told"], "\(type), after \(first)")
  }

  @Test("R16, R22: an await that was abandoned, or has left, is no consumer any more", arguments: [false, true])
  func noConsumerAnyMore(isCancelled: Bool) async {
    for first in [AwaitCancellation.abandon, .cancel] {
      await checkLeaving((any Error).self, after: first, isCancelled: isCancelled)
      await checkLeaving(Interruption.self, after: first, isCancelled: isCancelled)
      await checkLeaving(TestError.self, after: first, isCancelled: isCancelled)
      await checkLeaving(Never.self, after: first, isCancelled: isCancelled)
    }
  }

  @Test("R16: `cancel` goes up a chain of derived futures, as far as nobody else is attached")
  func chain() async {
    let log = Recorder<String>()
    let promise = promise((any Error).self, log)
    let middle = promise.future.map { $0 + 1 }
    let task = startAwait(of: middle.map { $0 + 1 }, .cancel)
    let other = middle.map { $0 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value.get() }
    #expect(log.events == [] && !middle.isResolved)
    let last = startAwait(of: other, .cancel)
    last.cancel()
    await #expect(throws: CancellationError.self) { try await last.value.get() }
    #expect(log.events == ["told"] && middle.isResolved && promise.isResolved)
  }

  @Test("R16: `cancel` on a shielded view ends the view, and not the future")
  func shielded() async {
    for isCancelled in [false, true] {
      let log = Recorder<String>()
      let promise = promise((any Error).self, log)
      let view = promise.future.shielded
      let task = startAwait(of: view, .cancel, isCancelled: isCancelled)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value.get() }
      #expect(view.isResolved && !promise.isResolved && log.events == [])
    }
  }

  @Test("R15: an `onCancel` handler that resolves the promise has its result kept; the await has left by then")
  func handlerResolves() async {
    let promise = Promise<Int, any Error>()
    let future = promise.future
    promise.onCancel { [weak promise] in promise?.succeed(5) }
    let task = startAwait(of: future, .cancel)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value.get() }
    #expect((try? future.peek()?.get()) == 5)
  }

  // MARK: - Lazy futures

  @Test("R2b, R22: a cancelled task does not start a lazy future, and `ignore` does")
  func lazy() async throws {
    for choice in Self.choices {
      let starts = Recorder<Int>()
      let future = Future<Int, any Error>.lazy { promise in
        starts.record(1)
        promise.succeed(1)
      }
      let result = await startAwait(of: future, choice, isCancelled: true).value
      #expect(result.isSuccess == (choice == .ignore))
      #expect(starts.events == (choice == .ignore ? [1] : []))
      #expect(future.isResolved == (choice != .abandon))
      if choice == .abandon { #expect(try await future.value == 1) }
    }
    let starts = Recorder<Int>()
    let future = Future<Int, TestError>.lazy { promise in
      starts.record(1)
      promise.succeed(1)
    }
    for choice in [AwaitCancellation.abandon, .cancel] {
      #expect(await !startAwait(of: future, choice, isCancelled: true).value.isSuccess)
    }
    #expect(starts.events == [])
  }

  @Test("R2b, R22: `value` and `result` in a cancelled task do not start a lazy future either")
  func lazyValue() async throws {
    let starts = Recorder<Int>()
    let future = Future<Int, any Error>.lazy { promise in
      starts.record(1)
      promise.succeed(1)
    }
    let task = Task.immediate {
      withUnsafeCurrentTask { $0?.cancel() }
      return [await future.result.isSuccess, (try? await future.value) != nil]
    }
    #expect(await task.value == [false, false])
    #expect(starts.events == [] && !future.isResolved)
    #expect(try await future.value == 1)
  }

  @Test("R16: a lazy future that runs for one await is cancelled with it", arguments: choices)
  func lazyDuring(choice: AwaitCancellation) async {
    let log = Recorder<String>()
    let promise = promise((any Error).self, log)
    let future = Future<Int, any Error>.lazy { $0.follow(promise.future) }
    let task = startAwait(of: future, choice)
    task.cancel()
    if choice == .ignore { promise.succeed(1) }
    #expect(await task.value.isSuccess == (choice == .ignore))
    #expect(log.events == (choice == .cancel ? ["told"] : []))
  }

  // MARK: - R22a

  /// What `result` gives, and `value` returns or throws, in tasks that are cancelled while they wait.
  func both<Failure: Error>(_ future: Future<Int, Failure>) -> Task<[Result<Int, Failure>], Never> {
    let byResult = Task.immediate { await future.result }
    let byValue = Task.immediate { () async -> Result<Int, Failure> in
      do throws(Failure) { return .success(try await future.value) } catch { return .failure(error) }
    }
    byResult.cancel()
    byValue.cancel()
    return Task { await [byResult.value, byValue.value] }
  }

  @Test("R22a: `result` is what `value` returns or throws")
  func resultAndValue() async {
    let (open, said) = (Promise<Int, any Error>(), Promise<Int, Interruption>())
    for result in await both(open.future).value {
      #expect(throws: CancellationError.self) { try result.get() }
    }
    #expect(await both(said.future).value == [.failure(.wasCancelled), .failure(.wasCancelled)])
    let (typed, never) = (Promise<Int, TestError>(), Promise<Int, Never>())
    let (typedTask, neverTask) = (both(typed.future), both(never.future))
    typed.fail(TestError(3))
    never.succeed(4)
    #expect(await typedTask.value == [.failure(TestError(3)), .failure(TestError(3))])
    #expect(await neverTask.value == [.success(4), .success(4)])
  }

  // MARK: - Threads

  @Test("R22: cancellation and resolution at the same time: one of them ends the await", arguments: choices)
  func race(choice: AwaitCancellation) async {
    for number in 0..<200 {
      let promise = Promise<Int, any Error>()
      let other = number.isMultiple(of: 2) ? promise.future.map { $0 } : nil
      let task = startAwait(of: promise.future, choice)
      let start = Gate()
      let resolving = Task.detached {
        await start.pass()
        return promise.succeed(1)
      }
      let cancelling = Task.detached {
        await start.pass()
        task.cancel()
      }
      start.open()
      let result = await task.value
      let isAccepted = await resolving.value
      await cancelling.value
      if choice == .ignore { #expect(result.isSuccess) }
      if choice != .cancel || other != nil { #expect(isAccepted) }
      switch result {
      case .success(let value): #expect(value == 1 && isAccepted)
      case .failure(let error): #expect(error is CancellationError)
      }
      if let other { #expect((try? await other.value) == 1) }
    }
  }
}

// MARK: - Isolation

@Suite("R21: where `value(onCancel:)` comes back", .timeLimit(.minutes(20)))
struct AwaitChoiceIsolationTests {
  /// Lets an await end with each result, and by cancellation, before and while it waits.
  func check<Failure: Error>(_ home: Home, _ choice: AwaitCancellation, _ failure: Failure?) async {
    let actor = home.make()
    let failures = failure.map { [Result<Int, Failure>.failure($0)] } ?? []
    for ending in [.success(1), nil] + failures {
      for isEarly in [false, true] {
        let promise = Promise<Int, Failure>()
        let future = promise.future
        if isEarly, let ending { promise.resolve(ending) }
        let isHome = await run(on: actor) { actor in
          if isEarly, ending == nil { withUnsafeCurrentTask { $0?.cancel() } }
          do { _ = try await future.value(onCancel: choice) } catch { return isReallyOn(actor) }
          return isReallyOn(actor)
        } then: { task in
          if ending == nil { task.cancel() }
          if ending != nil || choice == .ignore { promise.resolve(ending ?? .success(1)) }
        }
        #expect(isHome, "\(String(describing: ending)), early: \(isEarly)")
      }
    }
  }

  @Test("R21: the caller is on its own actor", arguments: Home.allCases, AwaitChoiceTests.choices)
  func home(home: Home, choice: AwaitCancellation) async {
    await check(home, choice, TestError(1) as any Error)
    await check(home, choice, Interruption.failed)
    await check(home, choice, TestError(1))
    await check(home, choice, Never?.none)
  }

  @Test("R21: a function that begins with it is on its actor after it", arguments: AwaitChoiceTests.choices)
  func entry(choice: AwaitCancellation) async {
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1))] {
      #expect(await Self.main(future, choice))
      #expect(await ThreadActor().choose(future, choice))
    }
    let pending = Promise<Int, any Error>()
    let task = Task.immediate { await Self.main(pending.future, choice) }
    task.cancel()
    if choice == .ignore { pending.succeed(1) }
    #expect(await task.value)
  }

  @MainActor
  @inline(never)
  private static func main(_ future: Future<Int, any Error>, _ choice: AwaitCancellation) async -> Bool {
    do { _ = try await future.value(onCancel: choice) } catch { return isOnMainQueue }
    return isOnMainQueue
  }
}

extension ThreadActor {
  @inline(never)
  fileprivate func choose(_ future: Future<Int, any Error>, _ choice: AwaitCancellation) async -> Bool {
    do { _ = try await future.value(onCancel: choice) } catch { return executor.isCurrent }
    return executor.isCurrent
  }
}

// MARK: - Memory

// In processes of their own, where nothing else allocates.

@Suite(
  "R22: what `value(onCancel:)` leaves behind",
  .enabled(if: AllocationCounts.areSupported),
  .timeLimit(.minutes(20))
)
struct AwaitChoiceMemoryTests {
  /// Cancels `count` awaits of `future`, half of them before they attach.
  static func cancel<Failure: Error>(_ count: Int, of future: Future<Int, Failure>, _ choice: AwaitCancellation) async {
    for number in 0..<count {
      let task = Task.immediate {
        if number.isMultiple(of: 2) { withUnsafeCurrentTask { $0?.cancel() } }
        return (try? await future.value(onCancel: choice)) == nil
      }
      task.cancel()
      let hasThrown = await task.value
      precondition(hasThrown)
    }
  }

  /// The bytes that 10,000 cancelled awaits of one future leave behind; the least of three rounds.
  static func bytesLeft<Failure: Error>(_: Failure.Type, _ choice: AwaitCancellation) async -> Int64 {
    let promise = Promise<Int, Failure>()
    let future = promise.future
    future.whenResolved(on: .immediate) { _ in }
    await cancel(1_000, of: future, choice)
    var least = Int64.max
    for _ in 0..<3 {
      let before = AllocationCounts.ofProcess().liveBytes
      await cancel(10_000, of: future, choice)
      least = min(least, AllocationCounts.ofProcess().liveBytes - before)
    }
    precondition(promise.resolve(.success(1)))
    return least
  }

  /// Checks every kind of failure.
  ///
  /// Without the hook by which Swift Testing notes a backtrace of each error that is thrown, which it keeps for a while.
  static func check(_ choice: AwaitCancellation) async {
    for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
    }
    let bytes = [
      await bytesLeft((any Error).self, choice), await bytesLeft(Interruption.self, choice),
      await bytesLeft(TestError.self, choice), await bytesLeft(Never.self, choice),
    ]
    #expect(bytes.allSatisfy { $0 < AbandonedAwaitMemoryTests.tolerance }, "bytes: \(bytes)")
  }

  @Test("R22: 10,000 abandoned awaits of one future leave no memory behind, whatever its failure")
  func abandon() async {
    await #expect(processExitsWith: .success) { await Self.check(.abandon) }
  }

  @Test("R16, R22: neither do 10,000 that leave a future which somebody else needs")
  func cancel() async {
    await #expect(processExitsWith: .success) { await Self.check(.cancel) }
  }
}
