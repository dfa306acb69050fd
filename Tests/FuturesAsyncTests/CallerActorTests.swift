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

// Swift 6.3 leaves the caller's actor when a `nonisolated(nonsending)` function rethrows an error across a hop between
// executors. This function would do that if an await of the library rethrew across a hop.
nonisolated(nonsending) private func inheritingValue<V, F>(_ future: Future<V, F>) async throws(F) -> V {
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
      }
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
      EntryPoint("a function on the caller's actor, \(Failure.self)", failing: failure, cancelled: cancelled) {
        actor,
        future in
        defer { expectHome(actor) }
        return try await inheritingValue(future)
      }
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

  /// Readers of a progress.
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
  ]
}

// MARK: - Functions that begin with a call

// The optimiser of Swift 6.3 drops the hop at the beginning of an isolated function if the function begins with a call
// of a `nonisolated(nonsending)` function. The optimiser assumes that the called function hops by itself. So the
// getters must be inlined.

/// An isolated function that begins with a call: one row of the table.
private struct Beginning: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Calls the function with a future, and returns whether the function is on its actor after its call.
  let isHome: @Sendable (Future<Int, any Error>) async -> Bool

  /// - Parameters:
  ///   - name: Names the row.
  ///   - argument: Makes the argument outside the function, which must begin with its call.
  ///   - function: Returns whether it is on the main actor after its call.
  init<Argument: Sendable>(
    _ name: String,
    _ argument: @escaping @Sendable (Future<Int, any Error>) -> Argument,
    _ function: @escaping @Sendable @MainActor (Argument) async -> Bool
  ) {
    testDescription = name
    isHome = { await function(argument($0)) }
  }

  static let all: [Beginning] = [
    Beginning("value", { $0 }) { after(try? await $0.value, isOnMainQueue) },
    Beginning("result", { $0 }) { after(await $0.result, isOnMainQueue) },
    Beginning("typed result", { typed($0) }) { after(await $0.result, isOnMainQueue) },
    Beginning("value of Never", { $0.recover { _ in 1 } }) { after(await $0.value, isOnMainQueue) },
    Beginning("result of Never", { $0.recover { _ in 1 } }) { after(await $0.result, isOnMainQueue) },
    Beginning("wide value", { $0.map { _ in Wide() }.recover { _ in Wide() } }) {
      after(await $0.value, isOnMainQueue)
    },
    Beginning("wide result", { $0.map { _ in Wide() } }) { after(await $0.result, isOnMainQueue) },
    Beginning("generic value", { $0 }) { await genericIsHome($0) },
    Beginning("value(onCancel:)", { $0 }) { after(try? await $0.value(onCancel: .abandon), isOnMainQueue) },
    Beginning("progress", { $0.progress }) {
      for await _ in $0 { return isOnMainQueue }
      return false
    },
    Beginning("events", { $0.events }) {
      for await _ in $0 { return isOnMainQueue }
      return false
    },
    Beginning("cancelled()", { token(of: $0) }) { after(await $0.cancelled(), isOnMainQueue) },
    Beginning("cancelling", { (token(of: $0), $0) }) { token, future in
      after(try? await token.cancelling { try await future.value }, isOnMainQueue)
    },
  ]
}

/// Returns whether the caller is on its actor after the call that makes the first argument.
private func after(_: some Any, _ isHome: Bool) -> Bool { isHome }

@MainActor
@inline(never)
@_semantics("optimize.sil.specialize.generic.never")
private func genericIsHome<Value, Failure>(_ future: Future<Value, Failure>) async -> Bool {
  after(try? await future.value, isOnMainQueue)
}

private func typed(_ future: Future<Int, any Error>) -> Future<Int, TestError> { future.mapError { _ in TestError(1) } }

/// A value that makes a getter too large for the optimiser to inline it by itself.
private struct Wide: Sendable {
  var first = "", second = "", third = [1], fourth = ["x"]
  var error: (any Error)?
}

/// Returns a token that is cancelled when `future` is resolved.
private func token(of future: Future<Int, any Error>) -> CancellationToken {
  let source = CancellationTokenSource()
  future.whenResolved(on: .immediate) { _ in source.cancel() }
  return source.token
}

@Suite(.timeLimit(.minutes(20)))
struct CallerActorTests {
  @Test(
    "R21-R25: a call of the library ends as its future does, or with its task, on the actor of its caller",
    arguments: Home.allCases,
    EntryPoint.awaits + EntryPoint.bodies + EntryPoint.readers
  )
  private func callReturnsToActor(home: Home, row: EntryPoint) async { await row.check(home) }

  @Test(
    "R21: a function that begins with a call of the library is on its actor after it",
    arguments: Beginning.all,
    [false, true]
  )
  private func functionIsOnItsActor(row: Beginning, isEarly: Bool) async {
    for result in [Result<Int, any Error>.success(1), .failure(TestError(1))] {
      let promise = Promise<Int, any Error>()
      if isEarly { promise.resolve(result) }
      let task = Task.immediate { await row.isHome(promise.future) }
      promise.resolve(result)
      #expect(await task.value, "\(result)")
    }
  }
}
