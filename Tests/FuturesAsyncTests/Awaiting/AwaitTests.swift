internal import AllocationCounter
internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Sets a handler that records the label of each broken promise, and "other" for any other misuse.
func recordBrokenPromises() -> Recorder<String> {
  let recorder = Recorder<String>()
  FuturesDiagnostics.setHandler { misuse in
    if case .brokenPromise(let broken) = misuse {
      recorder.record("\(broken.label ?? "no label") \(broken.fileID)")
    } else {
      recorder.record("other")
    }
  }
  return recorder
}

/// Returns a future, and an object that drops the future's promise.
func breakable<Failure: Error>(
  _ label: String?,
  _ type: Failure.Type,
  line: UInt = #line
) -> (Future<Int, Failure>, HeldReference<Promise<Int, Failure>>) {
  let promise = Promise<Int, Failure>(label, line: line)
  return (promise.future, HeldReference(promise))
}

/// Ends a process without a search for leaks, which would report the tasks that are suspended for ever.
func exitWithTasksThatWaitForEver() -> Never {
  _exit(0)
}

/// Removes the hook by which Swift Testing records a backtrace of each thrown error and keeps it for a while.
func removeErrorHook() {
  for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
    dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
  }
}

@Suite(.timeLimit(.minutes(20)))
struct AwaitTests {
  @Test(
    "R4: an await throws BrokenPromise with label, file and line, if the failure type can hold it, also of a stage",
    arguments: [nil, "upload"]
  )
  func awaitThrowsBrokenPromise(label: String?) async {
    func check<Failure: Error>(_ type: Failure.Type) async {
      let (future, promise) = breakable(label, type, line: 7)
      let stage = future.map { $0 }.flatMap { .succeeded($0) }
      let waiting = [future, stage].map { future in Task.immediate { await future.result } }
      promise.drop()
      for result in [await waiting[0].value, await waiting[1].value, await future.result] {
        let error = #expect(throws: BrokenPromise.self) { try result.get() }
        #expect(error?.label == label)
        #expect(error?.fileID == #fileID)
        #expect(error?.line == 7)
      }
    }
    await check((any Error).self)
    await check(BrokenPromise.self)
  }

  @Test("R4: an await of a broken promise, or of its stage, is reported if the failure type cannot hold the break")
  func eachWaitIsReported() async {
    // A separate process: a process has one handler, and other tests drop promises, too.
    await #expect(processExitsWith: .success) {
      let recorder = recordBrokenPromises()
      let (future, promise) = breakable("source", Never.self)
      Task.immediate { await future.value }
      #expect(recorder.events.isEmpty)
      promise.drop()
      #expect(recorder.events == ["source \(#fileID)"])
      let stage = future.map { $0 }.flatMap { .succeeded($0) }
      Task.immediate { await stage.value }
      #expect(recorder.events == ["source \(#fileID)", "source \(#fileID)"])
      #expect(future.peek() == nil)
      // R22: a cancelled task stops waiting, because this failure type has a cancelled case.
      let (typed, typedPromise) = breakable("typed", Interruption.self)
      let before = Task.immediate { await typed.result }
      typedPromise.drop()
      let after = Task.immediate { await typed.result }
      #expect(recorder.events.count == 4)
      for task in [before, after] {
        task.cancel()
        #expect(await task.value == .failure(.wasCancelled))
      }
      exitWithTasksThatWaitForEver()
    }
  }

  // MARK: - Resolved futures

  /// The ways in which a future resolves.
  enum Origin: CaseIterable, Sendable {
    case constant, promise, task, map

    func make<Failure: Error>(_ result: Result<Int, Failure>) -> Future<Int, Failure> {
      let promise = Promise<Int, Failure>()
      switch self {
      case .constant:
        return .resolved(result)
      case .promise, .map:
        let future = self == .promise ? promise.future : promise.future.map { $0 }
        future.whenResolved(on: .immediate) { _ in }
        promise.resolve(result)
        return future
      case .task:
        return Future.immediate { () async throws(Failure) in try result.get() }
      }
    }
  }

  /// The allocations of the thread while `body` runs a hundred times, after a warm-up; `body` must not suspend.
  private static func allocations(
    _ home: Home = .plain,
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
    "R21: the await of a resolved future allocates nothing, so it has no waiter, for each failure type and kind of actor",
    .enabled(if: AllocationCounts.areSupported)
  )
  func awaitAllocatesNothing() async {
    // Runs in a process of its own, because the hook belongs to the whole process.
    await #expect(processExitsWith: .success) {
      removeErrorHook()
      await Self.checkAllocations(.success(1), Result<Int, any Error>.failure(TestError(1)))
      await Self.checkAllocations(.success(1), .failure(TestError(1)))
      await Self.checkAllocations(Result<Int, Never>.success(1))
      let certain: Future<Int, Never> = Origin.promise.make(.success(1))
      #expect(await Self.allocations { _ in _ = await certain.value } == 0)
      // The counter sees the allocations of a promise.
      #expect(await Self.allocations { _ in _ = Promise<Int, Never>().future } >= 100)
    }
  }
}
