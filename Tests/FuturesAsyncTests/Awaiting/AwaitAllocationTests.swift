internal import AllocationCounter
internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R21: the allocations of awaiting a resolved future", .enabled(if: AllocationCounts.areSupported))
struct AwaitAllocationTests {
  typealias Body = @Sendable (isolated any Actor) async -> Void

  /// The allocations of the thread while `body` runs a hundred times, after a warm-up; `body` must not suspend.
  func allocations(_ home: Home, _ body: Body) async -> Int64 {
    await run(on: home.make()) { actor in
      for _ in 0..<10 { await body(actor) }
      let before = AllocationCounts.ofThread().allocations
      for _ in 0..<100 { await body(actor) }
      return AllocationCounts.ofThread().allocations - before
    }
  }

  func resolved<Failure: Error>(_ result: Result<Int, Failure>) -> [Future<Int, Failure>] {
    AwaitResolvedTests.Origin.allCases.map { $0.make(result) }
  }

  @Test("R21: the await of a resolved future with `any Error` allocates nothing", arguments: Home.allCases)
  func awaitOfAnyErrorAllocatesNothing(home: Home) async {
    for (index, future) in resolved(Result<Int, any Error>.success(1)).enumerated() {
      #expect(await allocations(home) { _ in _ = try? await future.value } == 0, "future \(index)")
    }
    for (index, future) in (resolved(.success(1)) + resolved(Result<Int, any Error>.failure(TestError(1)))).enumerated()
    {
      #expect(await allocations(home) { _ in _ = await future.result } == 0, "future \(index)")
    }
  }

  @Test("R21: the await of a resolved future with a typed failure allocates nothing", arguments: Home.allCases)
  func awaitOfTypedFailureAllocatesNothing(home: Home) async {
    for (index, future) in resolved(Result<Int, TestError>.success(1)).enumerated() {
      #expect(await allocations(home) { _ in _ = try? await future.value } == 0, "future \(index)")
    }
    for (index, future) in (resolved(.success(1)) + resolved(Result<Int, TestError>.failure(TestError(1)))).enumerated()
    {
      #expect(await allocations(home) { _ in _ = await future.result } == 0, "future \(index)")
    }
  }

  /// Removes the hook by which Swift Testing records a backtrace of each thrown error, which allocates.
  private static func removeThrowHooks() {
    for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      let hook = dlsym(dlopen(nil, RTLD_NOW), name)
      hook?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
    }
  }

  @Test("R21: an await that throws the failure of a resolved future allocates nothing")
  func throwingAwaitAllocatesNothing() async {
    // In a process of its own, because the hook belongs to the whole process.
    await #expect(processExitsWith: .success) {
      Self.removeThrowHooks()
      let tests = AwaitAllocationTests()
      for home in Home.allCases {
        for (index, future) in tests.resolved(Result<Int, any Error>.failure(TestError(1))).enumerated() {
          #expect(
            await tests.allocations(home) { _ in do { _ = try await future.value } catch {} } == 0,
            "future \(index)"
          )
        }
        for (index, future) in tests.resolved(Result<Int, TestError>.failure(TestError(1))).enumerated() {
          #expect(
            await tests.allocations(home) { _ in do throws(TestError) { _ = try await future.value } catch {} } == 0,
            "future \(index)"
          )
        }
      }
    }
  }

  @Test("R21: the await of a resolved future that cannot fail allocates nothing", arguments: Home.allCases)
  func awaitOfNeverAllocatesNothing(home: Home) async {
    for (index, future) in resolved(Result<Int, Never>.success(1)).enumerated() {
      #expect(await allocations(home) { _ in _ = await future.value } == 0, "future \(index)")
      #expect(await allocations(home) { _ in _ = await future.result } == 0, "future \(index)")
    }
  }

  @Test("R21: the counter of these tests sees the allocations of a promise")
  func allocationsAreCounted() async {
    #expect(await allocations(.plain) { _ in _ = Promise<Int, Never>().future } >= 100)
  }
}
