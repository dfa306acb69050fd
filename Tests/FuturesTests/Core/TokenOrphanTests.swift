import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of stages that wait for a future that never resolves, with a token that can no longer cancel them.
struct TokenOrphanTests {
  private typealias Source = Future<Int, any Error>

  /// Makes a stage of `never` behind a token, before or after the end of the token; `never` has no other owner.
  private static let stages: [@Sendable () -> Source] = [
    { Source.never.cancelled(by: CancellationTokenSource().token) },
    {
      let tokens = CancellationTokenSource()
      let stage = Source.never.cancelled(by: tokens.token)
      return withExtendedLifetime(tokens) { stage }
    },
    { Source { $0.follow(.never) }.cancelled(by: CancellationTokenSource().token) },
  ]

  @Test("R5, R16: a stage of `never` whose token has ended lives as long as its consumers", arguments: stages.indices)
  func outlivesItsToken(index: Int) {
    let make = Self.stages[index]
    let mapped = make().map { $0 }
    let flattened = Source.succeeded(1).flatMap { _ in make() }
    let promise = Promise<Int, any Error>()
    let later = promise.future.flatMap { _ in make() }
    promise.succeed(1)
    for future in [mapped, flattened, later] {
      future.cancel()
      #expect(throws: CancellationError.self) { try future.peek()?.get() }
    }
  }

  @Test("R5, R16: a stage of `never` whose failure type needs the result lives on after its token was cancelled")
  func typedStageOutlivesItsToken() {
    let never = Future<Int, TestError>.never
    let tokens = CancellationTokenSource()
    let mapped = never.cancelled(by: tokens.token).map { $0 }
    tokens.cancel()
    mapped.cancel()
    #expect(!mapped.isResolved)
    withExtendedLifetime(never) {}
  }

  @Test("R5, R13: a promise that follows a future in its `onCancel` handler leaves no memory behind")
  func followsInHandler() {
    let kept = Promise<Int, any Error>()
    kept.future.whenResolved(on: .immediate) { _ in }
    let left = leastBlocksLeft(count: 100) { count in
      for _ in 0..<count {
        let promise = Promise<Int, any Error>()
        promise.onCancel { promise.follow(kept.future) }
        promise.future.cancel()
        #expect(promise.isResolved)
      }
    }
    #expect(left <= 0)
  }

  @Test("R5: an orphan that is released releases its `onCancel` handlers, also if its token is kept")
  func releasedOrphan() {
    let (captured, token) = withTracked { object in
      let promise = Promise<Int, any Error>()
      promise.onCancel { object.use() }
      promise.follow(.never)
      return promise.cancellationToken
    }
    #expect(captured.isReleased)
    #expect(!token.isCancelled)
  }

  @Test("R6: a chain of orphans that own each other by their `onCancel` handlers takes no stack when it is released")
  func chainOfHandlers() {
    onThread {
      var future = Source.never
      for _ in 0..<10 * DepthTests.count {
        future = Source { [future] promise in
          promise.onCancel { withExtendedLifetime(future) {} }
          promise.follow(.never)
        }
      }
    }
  }

  @Test("R5: a cancelled promise that then follows `never` leaves no memory behind, whatever its failure type is")
  func cancelledPromiseFollowsNever() {
    let never = Future<Int, TestError>.never
    let left = leastBlocksLeft(count: 100) { count in
      for _ in 0..<count {
        let promise = Promise<Int, TestError>()
        promise.future.cancel()
        promise.follow(never)
      }
    }
    #expect(left <= 0)
  }

  @Test("R5: a cancelled circle of a promise and a `flatMap` leaves no memory behind")
  func circle() {
    let left = leastBlocksLeft(count: 100) { count in
      for _ in 0..<count {
        let start = Promise<Int, any Error>()
        var promise: Promise<Int, any Error>? = Promise()
        let flattened = start.future.flatMap { [future = promise!.future] _ in future }
        promise!.follow(flattened)
        start.succeed(1)
        promise = nil
        flattened.cancel()
      }
    }
    #expect(left <= 0)
  }
}
