internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// The result of an await, and whether the caller was on its own actor after it.
struct Observation<Failure: Error>: Sendable {
  let result: Result<Int, Failure>
  let isHome: Bool
}

@Suite("R21: the actor of the caller after an await", .timeLimit(.minutes(20)))
struct AwaitIsolationTests {
  typealias Await<Failure: Error> =
    @Sendable (_ actor: isolated any Actor, _ future: Future<Int, Failure>) async -> Observation<Failure>

  /// Lets `await` end in every way that its failure type allows, and checks the actor of the caller after it.
  func check<Failure: Error>(
    _ home: Home,
    failure: Failure?,
    isCancellable: Bool,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ await: @escaping Await<Failure>
  ) async {
    let actor = home.make()
    for result in [.success(1), failure.map(Result.failure)].compactMap(\.self) {
      // Resolved before.
      let early = await `await`(actor, .resolved(result))
      #expect(early.isHome, "resolved with \(result)", sourceLocation: sourceLocation)
      #expect(String(describing: early.result) == String(describing: result), sourceLocation: sourceLocation)

      // Resolved while the caller is suspended, by a thread that is not related to its actor.
      let promise = Promise<Int, Failure>()
      let future = promise.future
      let late = await run(on: actor) { actor in
        await `await`(actor, future)
      } then: { _ in
        promise.resolve(result)
      }
      #expect(late.isHome, "pending, then \(result)", sourceLocation: sourceLocation)
      #expect(String(describing: late.result) == String(describing: result), sourceLocation: sourceLocation)
    }
    guard isCancellable else { return }
    let promise = Promise<Int, Failure>()
    let future = promise.future
    let cancelled = await run(on: actor) { actor in
      await `await`(actor, future)
    } then: { task in
      task.cancel()
    }
    #expect(cancelled.isHome, "cancelled", sourceLocation: sourceLocation)
    #expect(throws: Failure.self, sourceLocation: sourceLocation) { try cancelled.result.get() }
    #expect(!promise.isResolved, sourceLocation: sourceLocation)
  }

  @Test("R21: after awaiting a value or `any Error` the caller is on its own actor", arguments: Home.allCases)
  func anyErrorValue(home: Home) async {
    await check(home, failure: TestError(1) as any Error, isCancellable: true) { actor, future in
      do {
        let value = try await future.value
        return Observation(result: .success(value), isHome: isReallyOn(actor))
      } catch {
        return Observation(result: .failure(error), isHome: isReallyOn(actor))
      }
    }
  }

  @Test("R21: after awaiting a value or a typed failure the caller is on its own actor", arguments: Home.allCases)
  func typedValue(home: Home) async {
    await check(home, failure: TestError(1), isCancellable: false) { actor, future in
      do throws(TestError) {
        let value = try await future.value
        return Observation(result: .success(value), isHome: isReallyOn(actor))
      } catch {
        return Observation(result: .failure(error), isHome: isReallyOn(actor))
      }
    }
  }

  @Test(
    "R21: after awaiting a typed failure with a cancelled case the caller is on its own actor",
    arguments: Home.allCases
  )
  func cancellableValue(home: Home) async {
    await check(home, failure: Interruption.failed, isCancellable: true) { actor, future in
      do throws(Interruption) {
        let value = try await future.value
        return Observation(result: .success(value), isHome: isReallyOn(actor))
      } catch {
        return Observation(result: .failure(error), isHome: isReallyOn(actor))
      }
    }
    await check(home, failure: CancellationError(), isCancellable: true) { actor, future in
      do throws(CancellationError) {
        let value = try await future.value
        return Observation(result: .success(value), isHome: isReallyOn(actor))
      } catch {
        return Observation(result: .failure(error), isHome: isReallyOn(actor))
      }
    }
  }

  @Test("R21: after awaiting a value that cannot fail the caller is on its own actor", arguments: Home.allCases)
  func neverValue(home: Home) async {
    await check(home, failure: Never?.none, isCancellable: false) { actor, future in
      let value = await future.value
      return Observation(result: .success(value), isHome: isReallyOn(actor))
    }
  }

  @Test("R21: after awaiting a result the caller is on its own actor", arguments: Home.allCases)
  func callerIsOnItsActorAfterResult(home: Home) async {
    await check(home, failure: TestError(1) as any Error, isCancellable: true) { actor, future in
      let result = await future.result
      return Observation(result: result, isHome: isReallyOn(actor))
    }
    await check(home, failure: TestError(1), isCancellable: false) { actor, future in
      let result = await future.result
      return Observation(result: result, isHome: isReallyOn(actor))
    }
    await check(home, failure: Interruption.failed, isCancellable: true) { actor, future in
      let result = await future.result
      return Observation(result: result, isHome: isReallyOn(actor))
    }
    await check(home, failure: Never?.none, isCancellable: false) { actor, future in
      let result = await future.result
      return Observation(result: result, isHome: isReallyOn(actor))
    }
  }

  // MARK: - As users write it

  @MainActor
  @Test("R21: after awaiting pending futures a main actor function is on the main actor")
  func mainActorFunction() async {
    let number = Promise<Int, Never>()
    let error = Promise<Int, any Error>()
    let typed = Promise<Int, TestError>()
    resolveElsewhere { number.succeed(1) }
    #expect(await number.future.value == 1)
    #expect(isReallyOn(MainActor.shared))
    resolveElsewhere { error.fail(TestError(2)) }
    await #expect(throws: TestError(2)) { try await error.future.value }
    #expect(isReallyOn(MainActor.shared))
    resolveElsewhere { typed.fail(TestError(3)) }
    do {
      _ = try await typed.future.value
    } catch {
      #expect(isReallyOn(MainActor.shared))
      #expect(error == TestError(3))
    }
    #expect(isReallyOn(MainActor.shared))
  }

  /// Runs `resolve` on another thread when the main actor function that calls this is suspended.
  @MainActor
  private func resolveElsewhere(_ resolve: @escaping @Sendable () -> Void) {
    Task { DispatchQueue.global().async { resolve() } }
  }

  @Test("R21: after awaiting pending futures a method of an actor is on the actor")
  func actorMethod() async {
    #expect(await Counter().countUp() == 6)
  }

  private actor Counter {
    var count = 0

    func countUp() async -> Int {
      let value = Promise<Int, any Error>()
      let error = Promise<Int, any Error>()
      let typed = Promise<Int, TestError>()
      resolveElsewhere { value.succeed(1) }
      count += (try? await value.future.value) ?? 0
      preconditionIsolated()
      resolveElsewhere { error.fail(TestError(2)) }
      do { _ = try await error.future.value } catch { count += (error as? TestError)?.number ?? 0 }
      preconditionIsolated()
      resolveElsewhere { typed.fail(TestError(3)) }
      do throws(TestError) { _ = try await typed.future.value } catch { count += error.number }
      preconditionIsolated()
      return count
    }

    private func resolveElsewhere(_ resolve: @escaping @Sendable () -> Void) {
      Task {
        preconditionIsolated()
        DispatchQueue.global().async { resolve() }
      }
    }
  }

  @Test("R21: a value that cannot fail is awaited in a closure that cannot throw")
  func neverInTask() async {
    let promise = Promise<Int, Never>()
    let future = promise.future
    let task = Task.immediate { await future.value }
    let detached = Task.detached { await future.value }
    promise.succeed(5)
    #expect(await task.value == 5)
    #expect(await detached.value == 5)
  }
}
