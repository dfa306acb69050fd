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
  static func allocations(_ home: Home, _ body: Body) async -> Int64 {
    await run(on: home.make()) { actor in
      for _ in 0..<10 { await body(actor) }
      let before = AllocationCounts.ofThread().allocations
      for _ in 0..<100 { await body(actor) }
      return AllocationCounts.ofThread().allocations - before
    }
  }

  /// Removes the hook by which Swift Testing records a backtrace of each thrown error, which allocates.
  private static func removeThrowHooks() {
    for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      let hook = dlsym(dlopen(nil, RTLD_NOW), name)
      hook?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
    }
  }

  private static func check<Failure: Error>(_ results: Result<Int, Failure>...) async {
    for result in results {
      for (home, origin) in Home.allCases.flatMap({ home in AwaitResolvedTests.Origin.allCases.map { (home, $0) } }) {
        let future = origin.make(result)
        let comment: Comment = "\(Failure.self), \(result), \(origin), on \(home)"
        let byValue = await Self.allocations(home) { _ in do throws(Failure) { _ = try await future.value } catch {}
        }
        #expect(byValue == 0, comment)
        #expect(await Self.allocations(home) { _ in _ = await future.result } == 0, comment)
      }
    }
  }

  @Test("R21: the await of a resolved future allocates nothing, for each kind of failure type and of actor")
  func awaitAllocatesNothing() async {
    // Runs in a process of its own, because the hook belongs to the whole process.
    await #expect(processExitsWith: .success) {
      Self.removeThrowHooks()
      await Self.check(.success(1), Result<Int, any Error>.failure(TestError(1)))
      await Self.check(.success(1), .failure(TestError(1)))
      await Self.check(Result<Int, Never>.success(1))
      let certain = Future<Int, Never>.succeeded(1)
      #expect(await Self.allocations(.plain) { _ in _ = await certain.value } == 0)
    }
  }

  @Test("R21: the counter of these tests sees the allocations of a promise")
  func allocationsAreCounted() async {
    #expect(await Self.allocations(.plain) { _ in _ = Promise<Int, Never>().future } >= 100)
  }
}
