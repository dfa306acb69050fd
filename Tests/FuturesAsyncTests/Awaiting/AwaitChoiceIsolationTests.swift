internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R21: the actor after `value(onCancel:)`", .timeLimit(.minutes(20)))
struct AwaitChoiceIsolationTests {
  /// Ends an await with each result, and by cancellation, before and while it waits.
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
        #expect(isHome, "\(Failure.self), \(String(describing: ending)), early: \(isEarly)")
      }
    }
  }

  @Test(
    "R21: after `value(onCancel:)` the caller is on its own actor",
    arguments: Home.allCases,
    AwaitMethod.choices.compactMap(\.choice)
  )
  func callerIsOnItsActor(home: Home, choice: AwaitCancellation) async {
    await check(home, choice, TestError(1) as any Error)
    await check(home, choice, Interruption.failed)
    await check(home, choice, TestError(1))
    await check(home, choice, Never?.none)
  }

  @Test(
    "R21: a function that begins with `value(onCancel:)` is on its actor afterwards",
    arguments: AwaitMethod.choices.compactMap(\.choice)
  )
  func functionThatBeginsWithAwaitIsOnItsActor(choice: AwaitCancellation) async {
    for future in [Future<Int, any Error>.succeeded(1), .failed(TestError(1))] {
      #expect(await Self.main(future, choice), "\(String(describing: future.peek()))")
      #expect(await ThreadActor().choose(future, choice), "\(String(describing: future.peek()))")
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
