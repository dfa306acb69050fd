internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// A call of the library that waits for a future on the actor of its caller: one row of the table.
private struct EntryPoint: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Lets the call end in every way, on an actor of that kind, and checks the result and the actor afterwards.
  let check: @Sendable (Home) async -> Void

  /// - Parameters:
  ///   - name: Names the row.
  ///   - failure: The failure of the future; `nil` if the future cannot fail.
  ///   - cancelled: The error of the call in a cancelled task; `nil` if the call goes on.
  ///   - cancelsFuture: Whether a cancelled call cancels its future.
  ///   - call: Returns the value of the future, or throws its failure.
  init<Failure: Error>(
    _ name: String,
    failing failure: Failure?,
    cancelled: String? = "CancellationError()",
    cancelsFuture: Bool = false,
    _ call: @escaping @Sendable (isolated any Actor, Future<Int, Failure>) async throws -> Int
  ) {
    testDescription = name
    check = { home in
      for ending in Ending.allCases where ending.isPossible(failure) {
        for isEarly in [true, false] {
          let (future, promise) = breakable(nil, Failure.self)
          let end: @Sendable (Ending) -> Void = { ending in
            switch ending {
            case .success: promise.current?.succeed(1)
            case .failure: if let failure { promise.current?.fail(failure) }
            case .brokenPromise: promise.drop()
            case .cancellation: break
            }
          }
          if isEarly { end(ending) }
          let (result, isHome) = await run(on: home.make()) { actor in
            if isEarly, ending == .cancellation { cancelCurrentTask() }
            do {
              let value = try await call(actor, future)
              return ("\(value)", isReallyOn(actor))
            } catch {
              return (error is BrokenPromise ? "BrokenPromise" : "\(error)", isReallyOn(actor))
            }
          } then: { task in
            if ending == .cancellation { task.cancel() }
            end(ending == .cancellation && cancelled == nil ? .success : ending)
          }
          let comment: Comment = "\(name), on \(home): \(ending), \(isEarly ? "before" : "during") the call"
          #expect(result == ending.text(failure, cancelled), comment)
          #expect(isHome, comment)
          if ending == .cancellation, cancelled != nil { #expect(future.isResolved == cancelsFuture, comment) }
          end(.success)
        }
      }
    }
  }
}

extension Ending {
  fileprivate func isPossible<Failure: Error>(_ failure: Failure?) -> Bool {
    switch self {
    case .success, .cancellation: true
    case .failure: failure != nil
    case .brokenPromise: Failure.self == (any Error).self
    }
  }

  fileprivate func text(_ failure: (any Error)?, _ cancelled: String?) -> String {
    switch self {
    case .success: "1"
    case .failure: failure.map { "\($0)" } ?? ""
    case .brokenPromise: "BrokenPromise"
    case .cancellation: cancelled ?? "1"
    }
  }
}

/// Checks that the caller, which the compiler takes to be on `actor`, is there.
///
/// Each row calls this function itself: the compiler hops back to the actor after the closure of the row has returned.
private func expectHome(
  _ actor: any Actor,
  isolation: (any Actor)? = #isolation,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  #expect(isReallyOn(actor, isolation: isolation), sourceLocation: sourceLocation)
}

/// The failure of the rows with `any Error`; optional, because the compiler would open a plain existential.
private let anyError: (any Error)? = TestError(1)

// MARK: - Functions around an await

// Swift 6.3 leaves the caller's actor when a `nonisolated(nonsending)` function rethrows an error across a hop between
// executors. These functions would do that if an await of the library rethrew across a hop.

func genericValue<V, F>(_ future: Future<V, F>) async throws(F) -> V { try await future.value }

nonisolated(nonsending) func inheritingValue<V, F>(_ future: Future<V, F>) async throws(F) -> V {
  try await future.value
}

func isolatedValue<V, F>(
  _ future: Future<V, F>,
  isolation: isolated (any Actor)? = #isolation
) async throws(F) -> V {
  try await future.value
}

// MARK: - The tables

extension EntryPoint {
  static let awaits: [EntryPoint] =
    awaits(failing: anyError, cancelled: "CancellationError()")
    + awaits(failing: CancellationError(), cancelled: "CancellationError()")
    + awaits(failing: Interruption.failed, cancelled: "wasCancelled")
    + awaits(failing: TestError(1), cancelled: nil)
    + awaits(failing: Never?.none, cancelled: nil)
    + [
      EntryPoint("value of Never", failing: Never?.none, cancelled: nil) { actor, future in
        defer { expectHome(actor) }
        return await future.value
      },
      // R22c: the error is the cancelled case of the failure type.
      EntryPoint("value(onCancel:), cancellable", failing: Interruption.failed, cancelled: "wasCancelled") {
        actor,
        future in
        do throws(Interruption) {
          return try await future.value(onCancel: .abandon)
        } catch {
          expectHome(actor)
          throw error
        }
      },
      EntryPoint("the last of several awaits", failing: anyError) { actor, future in
        for _ in 0..<3 {
          await #expect(throws: TestError(9)) {
            try await inheritingValue(Future<Int, any Error>.failed(TestError(9)))
          }
          _ = try? await Future<Int, any Error>.detached { throw TestError(8) }.value
          expectHome(actor)
        }
        return try await future.value
      },
    ]

  /// Returns the rows of a failure type; `cancelled` is `nil` if that type cannot represent cancellation.
  private static func awaits<Failure: Error>(failing failure: Failure?, cancelled: String?) -> [EntryPoint] {
    AwaitMethod.allCases.map { method in
      let endsEarly = method.endsEarly(canRepresentCancellation: cancelled != nil)
      return EntryPoint(
        "\(method), \(Failure.self)",
        failing: failure,
        cancelled: endsEarly ? method.choice == nil ? cancelled : "CancellationError()" : nil,
        cancelsFuture: method == .cancel && cancelled != nil
      ) { actor, future in
        defer { expectHome(actor) }
        switch method.choice {
        case let choice?: return try await future.value(onCancel: choice)
        case nil where method == .value: return try await future.value
        case nil:
          let result = await future.result
          expectHome(actor)
          return try result.get()
        }
      }
    } + [
      EntryPoint("a generic function, \(Failure.self)", failing: failure, cancelled: cancelled) { actor, future in
        defer { expectHome(actor) }
        return try await genericValue(future)
      },
      EntryPoint("a function on the caller's actor, \(Failure.self)", failing: failure, cancelled: cancelled) {
        actor,
        future in
        defer { expectHome(actor) }
        return try await inheritingValue(future)
      },
      EntryPoint("an isolated function, \(Failure.self)", failing: failure, cancelled: cancelled) { actor, future in
        defer { expectHome(actor) }
        return try await isolatedValue(future)
      },
    ]
  }

  /// Calls with a body, which runs on the actor, too.
  static let bodies: [EntryPoint] = [
    EntryPoint("Future { }", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await Future<Int, any Error> {
        expectHome(actor)
        defer { expectHome(actor) }
        return try await future.value
      }.value
    },
    EntryPoint("Future.immediate", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await Future<Int, any Error>.immediate {
        expectHome(actor)
        defer { expectHome(actor) }
        return try await future.value
      }.value
    },
    EntryPoint("withCallback", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await withCallback(of: Page.self) { callback in
        expectHome(actor, isolation: actor)
        future.whenResolved(on: .immediate) { callback.resume(with: $0.map { Page($0) }) }
      }.number
    },
    EntryPoint("withCallback(throwing:)", failing: Interruption.failed, cancelled: "wasCancelled") { actor, future in
      defer { expectHome(actor) }
      return try await withCallback(throwing: Interruption.self, cancelled: .wasCancelled, dropped: .failed) {
        callback in
        expectHome(actor, isolation: actor)
        future.whenResolved(on: .immediate) { callback.resume(with: $0) }
      }
    },
    EntryPoint("withCancellationToken", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await withCancellationToken { _ in
        expectHome(actor)
        defer { expectHome(actor) }
        return try await future.value
      }
    },
    EntryPoint("cancelled()", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      let source = CancellationTokenSource()
      future.whenResolved(on: .immediate) { _ in source.cancel() }
      await source.token.cancelled()
      expectHome(actor)
      return try await future.value
    },
    EntryPoint("cancelling", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await CancellationTokenSource().token.cancelling {
        expectHome(actor)
        return try await future.value
      }
    },
    EntryPoint("cancelling, of another actor", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await CancellationTokenSource().token.cancelling { @MainActor in
        expectHome(MainActor.shared)
        return try await future.value
      }
    },
    EntryPoint("withSlot", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await ConcurrencyLimit(1).withSlot {
        expectHome(actor)
        return try await future.value
      }
    },
    EntryPoint("Latest.value", failing: anyError) { actor, future in
      defer { expectHome(actor) }
      return try await Latest().value {
        expectHome(actor)
        return try await future.value
      }
    },
  ]

  /// Loops and other readers of a progress, and operations of the standard library on the sequence.
  static let readers: [EntryPoint] = [
    EntryPoint("progress", failing: anyError) { actor, future in
      for await _ in future.progress { expectHome(actor) }
      expectHome(actor)
      return try await future.value
    },
    EntryPoint("events", failing: anyError) { actor, future in
      for await event in future.events {
        expectHome(actor)
        if case .resolved(let result) = event { return try result.get() }
      }
      expectHome(actor)
      return try await future.value
    },
    EntryPoint("next() and next(isolation:)", failing: anyError) { actor, future in
      var reader = future.progress.makeAsyncIterator()
      while await reader.next() != nil { expectHome(actor) }
      reader = future.progress.makeAsyncIterator()
      while await reader.next(isolation: actor) != nil { expectHome(actor) }
      expectHome(actor)
      return try await future.value
    },
    EntryPoint("operations of a sequence", failing: anyError) { actor, future in
      for await _ in future.progress.map(\.fractionCompleted).filter({ $0 >= 0 }).prefix(1) { expectHome(actor) }
      for await _ in future.progress.flatMap({ _ in future.progress }) { expectHome(actor) }
      _ = await future.progress.first { $0.isFinished }
      expectHome(actor)
      _ = await future.progress.max { $0.fractionCompleted < $1.fractionCompleted }
      expectHome(actor)
      return try await future.value
    },
  ]
}

@Suite(.timeLimit(.minutes(20)))
struct CallerActorTests {
  @Test(
    "R21-R25: a call of the library ends as its future does, or with its task, on the actor of its caller",
    arguments: Home.allCases,
    EntryPoint.awaits + EntryPoint.bodies + EntryPoint.readers
  )
  private func callReturnsToActor(home: Home, row: EntryPoint) async { await row.check(home) }
}
