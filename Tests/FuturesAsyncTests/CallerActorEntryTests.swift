internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

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

  /// - Parameters:
  ///   - name: Names the row.
  ///   - function: Returns whether it is on its actor, which has a thread, after its call.
  init(
    onThread name: String,
    _ function: @escaping @Sendable (isolated ThreadActor, Future<Int, any Error>) async -> Bool
  ) {
    testDescription = "\(name), on a thread"
    isHome = { await function(ThreadActor(), $0) }
  }

  static let all: [Beginning] = [
    Beginning("value", { $0 }) { after(try? await $0.value, isOnMainQueue) },
    Beginning("result", { $0 }) { after(await $0.result, isOnMainQueue) },
    Beginning("typed value", { typed($0) }) { after(try? await $0.value, isOnMainQueue) },
    Beginning("typed result", { typed($0) }) { after(await $0.result, isOnMainQueue) },
    Beginning("value of Never", { $0.recover { _ in 1 } }) { after(await $0.value, isOnMainQueue) },
    Beginning("result of Never", { $0.recover { _ in 1 } }) { after(await $0.result, isOnMainQueue) },
    Beginning("wide value", { $0.map { _ in Wide() }.recover { _ in Wide() } }) {
      after(await $0.value, isOnMainQueue)
    },
    Beginning("wide result", { $0.map { _ in Wide() } }) { after(await $0.result, isOnMainQueue) },
    Beginning("generic value", { $0 }) { await genericIsHome($0) },
    Beginning("generic typed value", { typed($0) }) { await genericIsHome($0) },
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
    Beginning(onThread: "value") { after(try? await $1.value, $0.executor.isCurrent) },
    Beginning(onThread: "value(onCancel:)") { after(try? await $1.value(onCancel: .abandon), $0.executor.isCurrent) },
    Beginning(onThread: "progress") {
      for await _ in $1.progress { return $0.executor.isCurrent }
      return false
    },
    Beginning(onThread: "cancelled()") { after(await token(of: $1).cancelled(), $0.executor.isCurrent) },
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
struct CallerActorEntryTests {
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
