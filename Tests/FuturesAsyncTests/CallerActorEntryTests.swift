internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// The optimiser of Swift 6.3 drops the hop at the beginning of an isolated function if the function begins with a call
// of a `nonisolated(nonsending)` function. The optimiser assumes that the called function hops by itself. So the
// getters must be inlined.

@Suite("R21: the actor of a function that begins with a call", .timeLimit(.minutes(20)))
struct CallerActorEntryTests {
  @Test("R21: a function that begins with a call of the library is on its actor after it", arguments: [false, true])
  func functionThatBeginsWithCallIsOnItsActor(isEarly: Bool) async {
    for result in [Result<Int, any Error>.success(1), .failure(TestError(1))] {
      for (name, isHome) in beginningFunctions {
        let promise = Promise<Int, any Error>()
        if isEarly { promise.resolve(result) }
        let task = Task.immediate { await isHome(promise.future) }
        promise.resolve(result)
        #expect(await task.value, "\(name), \(result)")
      }
    }
  }
}

private let beginningFunctions: [(name: String, isHome: @Sendable (Future<Int, any Error>) async -> Bool)] = [
  ("value", { await OnMain.value($0) }),
  ("result", { await OnMain.result($0) }),
  ("typed value", { await OnMain.typedValue($0.mapError { _ in TestError(1) }) }),
  ("typed result", { await OnMain.typedResult($0.mapError { _ in TestError(1) }) }),
  ("value of Never", { await OnMain.neverValue($0.recover { _ in 1 }) }),
  ("result of Never", { await OnMain.neverResult($0.recover { _ in 1 }) }),
  ("wide value", { await OnMain.wideValue($0.map { _ in Wide() }.recover { _ in Wide() }) }),
  ("wide result", { await OnMain.wideResult($0.map { _ in Wide() }) }),
  ("generic value", { await OnMain.genericValue($0) }),
  ("generic typed value", { await OnMain.genericValue($0.mapError { _ in TestError(1) }) }),
  ("abandon", { await OnMain.choice($0, .abandon) }),
  ("cancel", { await OnMain.choice($0, .cancel) }),
  ("ignore", { await OnMain.choice($0, .ignore) }),
  ("next()", { await OnMain.next($0.progress.makeAsyncIterator()) }),
  ("next(isolation:)", { await OnMain.isolatedNext($0.progress.makeAsyncIterator()) }),
  ("progress", { await OnMain.progress($0.progress) }),
  ("events", { await OnMain.events($0.events) }),
  ("cancelled()", { await OnMain.cancelled(token(of: $0)) }),
  ("cancelling", { await OnMain.cancelling(token(of: $0), $0) }),
  ("value, on a thread", { await ThreadActor().value($0) }),
  ("typed value, on a thread", { await ThreadActor().typedValue($0.mapError { _ in TestError(1) }) }),
  ("value(onCancel:), on a thread", { await ThreadActor().choice($0, .abandon) }),
  ("next(isolation:), on a thread", { await ThreadActor().next($0.progress.makeAsyncIterator()) }),
  ("progress, on a thread", { await ThreadActor().progress($0.progress) }),
  ("events, on a thread", { await ThreadActor().events($0.events) }),
  ("cancelled(), on a thread", { await ThreadActor().cancelled(token(of: $0)) }),
  ("cancelling, on a thread", { await ThreadActor().cancelling(token(of: $0), $0) }),
]

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

/// Returns whether the caller is on its actor after the call that makes the first argument.
private func after(_: some Any, _ isHome: Bool) -> Bool { isHome }

private typealias AnyFuture = Future<Int, any Error>
private typealias TypedFuture = Future<Int, TestError>

/// Main actor functions that begin with a call, and return whether they are on the main actor after it.
@MainActor
private enum OnMain {
  @inline(never)
  static func value(_ future: AnyFuture) async -> Bool { after(try? await future.value, isOnMainQueue) }

  @inline(never)
  static func result(_ future: AnyFuture) async -> Bool { after(await future.result, isOnMainQueue) }

  @inline(never)
  static func typedValue(_ future: TypedFuture) async -> Bool { after(try? await future.value, isOnMainQueue) }

  @inline(never)
  static func typedResult(_ future: TypedFuture) async -> Bool { after(await future.result, isOnMainQueue) }

  @inline(never)
  static func neverValue(_ future: Future<Int, Never>) async -> Bool { after(await future.value, isOnMainQueue) }

  @inline(never)
  static func neverResult(_ future: Future<Int, Never>) async -> Bool { after(await future.result, isOnMainQueue) }

  @inline(never)
  static func wideValue(_ future: Future<Wide, Never>) async -> Bool { after(await future.value, isOnMainQueue) }

  @inline(never)
  static func wideResult(_ future: Future<Wide, any Error>) async -> Bool { after(await future.result, isOnMainQueue) }

  @inline(never)
  @_semantics("optimize.sil.specialize.generic.never")
  static func genericValue<Value, Failure>(_ future: Future<Value, Failure>) async -> Bool {
    after(try? await future.value, isOnMainQueue)
  }

  @inline(never)
  static func choice(_ future: AnyFuture, _ choice: AwaitCancellation) async -> Bool {
    after(try? await future.value(onCancel: choice), isOnMainQueue)
  }

  @inline(never)
  static func next(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    return after(await reader.next(), isOnMainQueue)
  }

  @inline(never)
  static func isolatedNext(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    return after(await reader.next(isolation: #isolation), isOnMainQueue)
  }

  @inline(never)
  static func progress(_ updates: ProgressUpdates) async -> Bool {
    for await _ in updates { return isOnMainQueue }
    return false
  }

  @inline(never)
  static func events(_ events: FutureEvents<Int, any Error>) async -> Bool {
    for await _ in events { return isOnMainQueue }
    return false
  }

  @inline(never)
  static func cancelled(_ token: CancellationToken) async -> Bool { after(await token.cancelled(), isOnMainQueue) }

  @inline(never)
  static func cancelling(_ token: CancellationToken, _ future: AnyFuture) async -> Bool {
    after(try? await token.cancelling { try await future.value }, isOnMainQueue)
  }
}

/// The same for methods of an actor.
extension ThreadActor {
  @inline(never)
  fileprivate func value(_ future: AnyFuture) async -> Bool { after(try? await future.value, executor.isCurrent) }

  @inline(never)
  fileprivate func typedValue(_ future: TypedFuture) async -> Bool {
    after(try? await future.value, executor.isCurrent)
  }

  @inline(never)
  fileprivate func choice(_ future: AnyFuture, _ choice: AwaitCancellation) async -> Bool {
    after(try? await future.value(onCancel: choice), executor.isCurrent)
  }

  @inline(never)
  fileprivate func next(_ reader: sending ProgressUpdates.AsyncIterator) async -> Bool {
    var reader = reader
    return after(await reader.next(isolation: self), executor.isCurrent)
  }

  @inline(never)
  fileprivate func progress(_ updates: ProgressUpdates) async -> Bool {
    for await _ in updates { return executor.isCurrent }
    return false
  }

  @inline(never)
  fileprivate func events(_ events: FutureEvents<Int, any Error>) async -> Bool {
    for await _ in events { return executor.isCurrent }
    return false
  }

  @inline(never)
  fileprivate func cancelled(_ token: CancellationToken) async -> Bool {
    after(await token.cancelled(), executor.isCurrent)
  }

  @inline(never)
  fileprivate func cancelling(_ token: CancellationToken, _ future: AnyFuture) async -> Bool {
    after(try? await token.cancelling { try await future.value }, executor.isCurrent)
  }
}
