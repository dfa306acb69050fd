internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Starts futures that can fail with closures that cannot throw, in isolated code.
///
/// `.ci/check-task-bodies` compiles many more shapes, as clients do.
@MainActor
private final class Screen {
  var count = 0

  func load<Failure: Error>(_: Failure.Type) -> [Future<Int, Failure>] {
    let promise = Promise<Int, Failure>()
    promise.resolve {
      self.count += 1
      await Task.yield()
      return isReallyOn(MainActor.shared) ? self.count : -1
    }
    let sync: Future<Int, Failure> = Future {
      self.count += 1
      return isReallyOn(MainActor.shared) ? self.count : -1
    }
    let async: Future<Int, Failure> = Future {
      self.count += 1
      await Task.yield()
      return isReallyOn(MainActor.shared) ? self.count : -1
    }
    let immediate: Future<Int, Failure> = .immediate {
      self.count += 1
      return isReallyOn(MainActor.shared) ? self.count : -1
    }
    let detached: Future<Int, Failure> = .detached { isOnMainQueue ? -1 : 5 }
    return [promise.future, sync, async, immediate, detached]
  }

  func cancelling() async throws -> Int {
    try await CancellationToken.none.cancelling {
      self.count += 1
      await Task.yield()
      return isReallyOn(MainActor.shared) ? self.count : -1
    }
  }
}

private actor Account {
  var count = 0

  func load<Failure: Error>(_: Failure.Type) -> [Future<Int, Failure>] {
    let promise = Promise<Int, Failure>()
    promise.resolve {
      self.count += 1
      await Task.yield()
      return isReallyOn(self) ? self.count : -1
    }
    let sync: Future<Int, Failure> = Future {
      self.count += 1
      return isReallyOn(self) ? self.count : -1
    }
    let async: Future<Int, Failure> = Future {
      self.count += 1
      await Task.yield()
      return isReallyOn(self) ? self.count : -1
    }
    let immediate: Future<Int, Failure> = .immediate {
      self.count += 1
      return isReallyOn(self) ? self.count : -1
    }
    let detached: Future<Int, Failure> = .detached { #isolation == nil ? 5 : -1 }
    return [promise.future, sync, async, immediate, detached]
  }

  func cancelling() async throws -> Int {
    try await CancellationToken.none.cancelling {
      self.count += 1
      await Task.yield()
      return isReallyOn(self) ? self.count : -1
    }
  }
}

@Suite("R23a: closures that cannot throw, for futures that can fail", .timeLimit(.minutes(20)))
struct NonthrowingTaskTests {
  func check<Failure: Error>(_ futures: [Future<Int, Failure>], comment: Comment) async {
    for (index, future) in futures.enumerated() {
      // The closures return -1 if they are elsewhere, else the number of closures that have begun.
      let value = try? await future.result.get()
      #expect((1...5).contains(value ?? -2), "\(comment), future \(index): \(value ?? -2)")
    }
  }

  @Test("R23a: such a closure runs on the main actor if it is written there, also after its own awaits")
  func mainActor() async throws {
    await check(await Screen().load((any Error).self), comment: "any Error")
    await check(await Screen().load(TestError.self), comment: "typed")
    await check(await Screen().load(Never.self), comment: "Never")
    #expect(try await Screen().cancelling() == 1)
  }

  @Test("R23a: such a closure runs on the actor in whose method it is written, also after its own awaits")
  func actor() async throws {
    await check(await Account().load((any Error).self), comment: "any Error")
    await check(await Account().load(TestError.self), comment: "typed")
    await check(await Account().load(Never.self), comment: "Never")
    #expect(try await Account().cancelling() == 1)
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
    // Again if another test has switched the tracking of promises on meanwhile, which allocates.
    var costly = rows()
    for _ in 0..<5 where !costly.isEmpty { costly = rows().filter { $0.nonthrowing >= $0.throwing + 75 } }
    #expect(costly.isEmpty, "more allocations in 100 futures than with a closure that throws: \(costly)")
  }
}
