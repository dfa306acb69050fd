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
    case constant, promise, task, map

    func make<Failure: Error>(_ result: Result<Int, Failure>) -> Future<Int, Failure> {
      let promise = Promise<Int, Failure>()
      switch self {
      case .constant:
        return .resolved(result)
      case .promise:
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

/// Removes the hook by which Swift Testing records a backtrace of each thrown error and keeps it for a while.
func removeErrorHook() {
  for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
    dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
  }
}
