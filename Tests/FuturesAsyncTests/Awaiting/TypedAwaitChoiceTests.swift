internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R22c: `value(onCancel:)` of a failure type that can represent cancellation", .timeLimit(.minutes(20)))
struct TypedAwaitChoiceTests {
  /// The end of an await, and whether the caller was on its actor afterwards.
  struct Outcome: Equatable, Sendable {
    var result: Result<Int, Interruption>
    var isHome: Bool
  }

  /// Awaits `future` with typed throws, on `actor`.
  @inline(never)
  static func outcome(
    of future: Future<Int, Interruption>,
    _ choice: AwaitCancellation,
    on actor: isolated any Actor
  ) async -> Outcome {
    do throws(Interruption) {
      let value = try await future.value(onCancel: choice)
      return Outcome(result: .success(value), isHome: isReallyOn(actor))
    } catch {
      return Outcome(result: .failure(error), isHome: isReallyOn(actor))
    }
  }

  @Test(
    "R22c: the await throws the future's own failure, on the caller's actor",
    arguments: Home.allCases,
    AwaitMethod.choices.compactMap(\.choice)
  )
  func failureOfTheFuture(home: Home, choice: AwaitCancellation) async {
    for result in [Result<Int, Interruption>.success(1), .failure(.failed)] {
      for isEarly in [false, true] {
        let promise = Promise<Int, Interruption>()
        if isEarly { promise.resolve(result) }
        let outcome = await run(on: home.make()) { actor in
          await Self.outcome(of: promise.future, choice, on: actor)
        } then: { _ in
          promise.resolve(result)
        }
        #expect(outcome == Outcome(result: result, isHome: true), "early: \(isEarly)")
      }
    }
  }

  @Test(
    "R22c: in a cancelled task, `abandon` and `cancel` throw `cancelled` of the failure type, on the caller's actor",
    arguments: Home.allCases,
    AwaitMethod.choices.compactMap(\.choice)
  )
  func cancelledTask(home: Home, choice: AwaitCancellation) async {
    for isEarly in [false, true] {
      let promise = Promise<Int, Interruption>()
      let outcome = await run(on: home.make()) { actor in
        if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
        return await Self.outcome(of: promise.future, choice, on: actor)
      } then: { task in
        task.cancel()
        if choice == .ignore { promise.succeed(1) }
      }
      let expected: Result<Int, Interruption> = choice == .ignore ? .success(1) : .failure(.wasCancelled)
      #expect(outcome == Outcome(result: expected, isHome: true), "early: \(isEarly)")
      // Only `cancel` reaches the future.
      let state: Result<Int, Interruption>? =
        switch choice {
        case .abandon: nil
        case .cancel: .failure(.wasCancelled)
        case .ignore: .success(1)
        }
      #expect(promise.future.peek() == state, "early: \(isEarly)")
    }
  }

  @Test("R22: other failure types throw `CancellationError`", arguments: [AwaitCancellation.abandon, .cancel])
  func otherFailureTypes(choice: AwaitCancellation) async {
    func check<Failure: Error>(_ type: Failure.Type) async {
      let promise = Promise<Int, Failure>()
      let task = Task.immediate { try await promise.future.value(onCancel: choice) }
      task.cancel()
      await #expect(throws: CancellationError.self, "\(type)") { try await task.value }
    }
    await check((any Error).self)
    await check(TestError.self)
    await check(Never.self)
  }
}
