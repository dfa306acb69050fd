internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R23a: closures that cannot throw, for futures that can fail", .timeLimit(.minutes(20)))
struct NonthrowingTaskTests {
  /// Starts futures that can fail with closures that cannot throw, in isolated code.
  ///
  /// `.ci/check-task-bodies` compiles many more shapes, as clients do.
  private static func start<Failure: Error>(
    on actor: isolated any Actor,
    _: Failure.Type
  ) -> [(String, Future<Bool, Failure>)] {
    let promise = Promise<Bool, Failure>()
    promise.resolve {
      await Task.yield()
      return isReallyOn(actor)
    }
    let sync: Future<Bool, Failure> = Future {
      _ = actor
      return isReallyOn(actor)
    }
    let async: Future<Bool, Failure> = Future {
      await Task.yield()
      return isReallyOn(actor)
    }
    let immediate: Future<Bool, Failure> = .immediate {
      _ = actor
      return isReallyOn(actor)
    }
    let detached: Future<Bool, Failure> = .detached { #isolation == nil && !isOnMainQueue }
    return [
      ("resolve", promise.future), ("Future", sync), ("async", async), ("immediate", immediate), ("detached", detached),
    ]
  }

  @Test(
    "R23a: such a closure runs on the actor on which it is written, also after its own awaits",
    arguments: Home.allCases
  )
  func closureRunsOnItsActor(home: Home) async throws {
    func check<Failure: Error>(_ type: Failure.Type) async {
      for (name, future) in await Self.start(on: home.make(), type) {
        #expect((try? await future.result.get()) == true, "\(name), \(type)")
      }
    }
    await check((any Error).self)
    await check(TestError.self)
    await check(Never.self)
  }

  @Test("R23a: a typed closure keeps its failure type, and a closure that cannot throw makes a future that cannot fail")
  func inferredTypes() async {
    let typed = Future { () async throws(TestError) -> Int in throw TestError(1) }
    #expect(await typed.result == .failure(TestError(1)))
    let plain = Future { 1 }
    #expect(await plain.value == 1)
  }

  @Test(
    "R23a: such a closure costs no more allocations than a closure that throws",
    .enabled(if: AllocationCounts.areSupported)
  )
  @MainActor
  func allocations() async {
    func count(_ start: () -> Future<Int, any Error>) -> Int64 {
      // The smallest number: a detached task that ends early on another thread costs this thread more.
      let counts = (0..<10).map { _ in
        let before = AllocationCounts.ofThread().allocations
        for _ in 0..<100 { _ = start() }
        return AllocationCounts.ofThread().allocations - before
      }
      return counts.min() ?? 0
    }
    let number = Int.random(in: 1...9)
    func resolve(_ start: (Promise<Int, any Error>) -> Void) -> Future<Int, any Error> {
      let promise = Promise<Int, any Error>()
      start(promise)
      return promise.future
    }
    func rows() -> [(name: String, throwing: Int64, nonthrowing: Int64)] {
      [
        ("Future", count { Future { () async throws in number } }, count { Future { number } }),
        ("detached", count { .detached { () async throws in number } }, count { .detached { number } }),
        ("immediate", count { .immediate { () async throws in number } }, count { .immediate { number } }),
        (
          "resolve", count { resolve { $0.resolve { () async throws in number } } },
          count { resolve { $0.resolve { number } } }
        ),
      ]
    }
    // Repeated in case another test has switched on the tracking of promises meanwhile: tracking allocates.
    var costly = rows()
    for _ in 0..<5 where !costly.isEmpty { costly = rows().filter { $0.nonthrowing >= $0.throwing + 75 } }
    #expect(costly.isEmpty, "more allocations in 100 futures than with a closure that throws: \(costly)")
  }
}
