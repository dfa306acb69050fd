internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// Swift 6.3 leaves the caller's actor when a `nonisolated(nonsending)` function rethrows an error across a hop between
// executors. These tests contain the code in which that showed. Each test would fail if an await of the library rethrew
// across a hop.

func genericValue<V, F>(_ future: Future<V, F>) async throws(F) -> V {
  try await future.value
}

func genericResult<V, F>(_ future: Future<V, F>) async -> Result<V, F> {
  await future.result
}

nonisolated(nonsending) func inheritingValue<V, F>(_ future: Future<V, F>) async throws(F) -> V {
  try await future.value
}

nonisolated(nonsending) func inheritingAnyError(_ future: Future<Int, any Error>) async throws -> Int {
  let value = try await future.value
  return value
}

func isolatedValue<V, F>(
  _ future: Future<V, F>,
  isolation: isolated (any Actor)? = #isolation
) async throws(F) -> V {
  try await future.value
}

@Suite("R21: functions around an await", .timeLimit(.minutes(20)))
struct AwaitIsolationRegressionTests {
  typealias Await<Failure: Error> =
    @Sendable (_ actor: isolated any Actor, _ future: Future<Int, Failure>) async throws(Failure) -> Int

  /// Lets `await` fail, succeed and be cancelled, and checks that a throwing caller is then on its own actor.
  func check<Failure: Error>(
    _ home: Home,
    failing failure: Failure,
    isCancellable: Bool,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ await: @escaping Await<Failure>
  ) async {
    let actor = home.make()
    let endings: [@Sendable (Promise<Int, Failure>, Task<Bool, Never>) -> Void] = [
      { promise, _ in promise.succeed(1) },
      { promise, _ in promise.fail(failure) },
      { promise, task in
        task.cancel()
        if !isCancellable { promise.fail(failure) }
      },
    ]
    for (number, ending) in endings.enumerated() {
      let promise = Promise<Int, Failure>()
      let future = promise.future
      let isHome = await run(on: actor) { actor in
        do throws(Failure) {
          let value = try await `await`(actor, future)
          return isReallyOn(actor) && value == 1 && number == 0
        } catch {
          return isReallyOn(actor) && number > 0
        }
      } then: { task in
        ending(promise, task)
      }
      #expect(isHome, "ending \(number)", sourceLocation: sourceLocation)
    }
  }

  @Test("R21: a generic function that leaves the actor for the await returns to it", arguments: Home.allCases)
  func genericFunctionReturnsToActor(home: Home) async {
    await check(home, failing: TestError(1), isCancellable: false) { _, future throws(TestError) in
      try await genericValue(future)
    }
    await check(home, failing: TestError(1) as any Error, isCancellable: true) { _, future in
      try await genericValue(future)
    }
    await check(home, failing: Interruption.failed, isCancellable: true) { _, future throws(Interruption) in
      try await genericResult(future).get()
    }
  }

  @Test("R21: a generic function that awaits on the actor of its caller stays on it", arguments: Home.allCases)
  func inheritingFunctionStaysOnActor(home: Home) async {
    await check(home, failing: TestError(1), isCancellable: false) { _, future throws(TestError) in
      try await inheritingValue(future)
    }
    await check(home, failing: TestError(1) as any Error, isCancellable: true) { _, future in
      try await inheritingValue(future)
    }
    await check(home, failing: TestError(1) as any Error, isCancellable: true) { _, future in
      try await inheritingAnyError(future)
    }
    await check(home, failing: Interruption.failed, isCancellable: true) { _, future throws(Interruption) in
      try await isolatedValue(future)
    }
  }

  @Test("R21: the body of `Future { }` is on its actor after an await that failed", arguments: Home.allCases)
  func inFutureTask(home: Home) async {
    await check(home, failing: TestError(1) as any Error, isCancellable: true) { actor, future in
      let outer = Future<Int, any Error> {
        do {
          let value = try await future.value
          return isReallyOn(actor) ? value : 0
        } catch {
          throw isReallyOn(actor) ? error : TestError(0)
        }
      }
      return try await outer.value
    }
  }

  @Test("R21: a function that rethrows the last of several awaits returns to its actor", arguments: Home.allCases)
  func rethrownAwaitReturnsToActor(home: Home) async {
    await check(home, failing: TestError(1) as any Error, isCancellable: true) { actor, future in
      for _ in 0..<3 {
        await #expect(throws: TestError(9)) {
          try await inheritingValue(Future<Int, any Error>.failed(TestError(9)))
        }
        _ = try? await Future<Int, any Error>.detached { throw TestError(8) }.value
        guard isReallyOn(actor) else { return 0 }
      }
      return try await future.value
    }
  }

  @Test("R21: a function that begins with an await of a resolved future is on its actor after it")
  func functionThatBeginsWithAwaitIsOnItsActor() async {
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1))] {
      #expect(await Entry.anyError(future), "\(String(describing: future.peek()))")
      #expect(await Entry.anyErrorResult(future), "\(String(describing: future.peek()))")
      #expect(await Entry.generic(future), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().entry(future), "\(String(describing: future.peek()))")
    }
    for future in [Future<Int, TestError>.succeeded(1), .failed(TestError(1))] {
      #expect(await Entry.typed(future), "\(String(describing: future.peek()))")
      #expect(await Entry.typedResult(future), "\(String(describing: future.peek()))")
      #expect(await Entry.generic(future), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().typedEntry(future), "\(String(describing: future.peek()))")
    }
    #expect(await Entry.never(.succeeded(1)))
    #expect(await Entry.neverResult(.succeeded(1)))
    #expect(await Entry.wide(.succeeded(Entry.Wide())))
    #expect(await Entry.wideResult(.succeeded(Entry.Wide())))
  }

  @Test("R21: a generic function with `Never` compiles, and returns the value")
  func genericNever() async {
    let future = Future<Int, Never>.detached { 3 }
    #expect(await genericValue(future) == 3)
    #expect(await inheritingValue(future) == 3)
    #expect(await Task { await genericValue(future) }.value == 3)
  }
}

// The optimiser of Swift 6.3 drops the hop at the beginning of an isolated function if the function begins with a call
// of a `nonisolated(nonsending)` function. It assumes that the called function hops by itself. So the getters must be
// inlined.

/// Main actor functions that begin with an await, and return whether they are on the main actor after it.
@MainActor
private enum Entry {
  @inline(never)
  static func anyError(_ future: Future<Int, any Error>) async -> Bool {
    do { _ = try await future.value } catch { return isOnMainQueue }
    return isOnMainQueue
  }

  @inline(never)
  static func anyErrorResult(_ future: Future<Int, any Error>) async -> Bool {
    _ = await future.result
    return isOnMainQueue
  }

  @inline(never)
  static func typed(_ future: Future<Int, TestError>) async -> Bool {
    do throws(TestError) { _ = try await future.value } catch { return isOnMainQueue }
    return isOnMainQueue
  }

  @inline(never)
  static func typedResult(_ future: Future<Int, TestError>) async -> Bool {
    _ = await future.result
    return isOnMainQueue
  }

  @inline(never)
  static func never(_ future: Future<Int, Never>) async -> Bool {
    _ = await future.value
    return isOnMainQueue
  }

  @inline(never)
  static func neverResult(_ future: Future<Int, Never>) async -> Bool {
    _ = await future.result
    return isOnMainQueue
  }

  /// A value that makes a getter too large for the optimiser to inline it by itself.
  struct Wide: Sendable {
    var first = "", second = "", third = [1], fourth = ["x"]
    var error: (any Error)?
  }

  @inline(never)
  static func wide(_ future: Future<Wide, Never>) async -> Bool {
    _ = await future.value
    return isOnMainQueue
  }

  @inline(never)
  static func wideResult(_ future: Future<Wide, any Error>) async -> Bool {
    _ = await future.result
    return isOnMainQueue
  }

  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  static func generic<Value, Failure>(_ future: Future<Value, Failure>) async -> Bool {
    do throws(Failure) { _ = try await future.value } catch { return isOnMainQueue }
    return isOnMainQueue
  }
}

extension ThreadActor {
  @inline(never)
  fileprivate func entry(_ future: Future<Int, any Error>) async -> Bool {
    do { _ = try await future.value } catch { return executor.isCurrent }
    return executor.isCurrent
  }

  @inline(never)
  fileprivate func typedEntry(_ future: Future<Int, TestError>) async -> Bool {
    do throws(TestError) { _ = try await future.value } catch { return executor.isCurrent }
    return executor.isCurrent
  }
}
