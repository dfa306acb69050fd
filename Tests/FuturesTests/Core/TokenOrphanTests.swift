import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of stages that wait for a future that never resolves, with a token that can no longer cancel them.
struct TokenOrphanTests {
  private typealias Source = Future<Int, any Error>

  /// Makes a stage that waits only for `never`, which has no other owner: its token has ended.
  private static func stage() -> Source {
    let tokens = CancellationTokenSource()
    return Source { $0.follow(.never) }.cancelled(by: tokens.token)
  }

  @Test("R5, R16: a stage of `never` whose token has ended lives as long as its consumers")
  func outlivesItsToken() {
    let mapped = Self.stage().map { $0 }
    let flattened = Source.succeeded(1).flatMap { _ in Self.stage() }
    let promise = Promise<Int, any Error>()
    let later = promise.future.flatMap { _ in Self.stage() }
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
    #expect(!mapped.isResolved && !never.isResolved)
  }

  @Test("R5: an orphan that is released releases its `onCancel` handlers, also if its token is kept")
  func releasedOrphan() {
    let (captured, token) = withTracked { object in
      let promise = Promise<Int, any Error>()
      promise.onCancel { object.use() }
      promise.follow(.never)
      return promise.cancellationToken
    }
    #expect(captured.isReleased && !token.isCancelled)
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

  /// Operations that leave nothing behind, although the future that they follow is kept.
  private static func operations() -> [@Sendable () -> Void] {
    let never = Future<Int, TestError>.never
    let kept = Promise<Int, any Error>()
    kept.future.whenResolved(on: .immediate) { _ in }
    return [
      {
        let promise = Promise<Int, any Error>()
        promise.onCancel { promise.follow(kept.future) }
        promise.future.cancel()
      },
      {
        let promise = Promise<Int, TestError>()
        promise.future.cancel()
        promise.follow(never)
      },
      {
        let start = Promise<Int, any Error>()
        var promise: Promise<Int, any Error>? = Promise()
        let flattened = start.future.flatMap { [future = promise!.future] _ in future }
        promise!.follow(flattened)  // a circle
        start.succeed(1)
        promise = nil
        flattened.cancel()
      },
    ]
  }

  @Test("R5: a cancelled promise that follows a future leaves no memory behind", arguments: 0..<3)
  func leavesNothing(index: Int) {
    let operation = Self.operations()[index]
    #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { operation() } } <= 0)
  }

  @Test("R12: a join gets the cancellation of a stage of `never`", arguments: [0, 62, 63, 64, 65], [false, true])
  func joinGetsCancellation(depth: Int, byToken: Bool) {
    let tokens = CancellationTokenSource()
    let stage = Source.never.cancelled(by: tokens.token)
    let joined = Future.allSettled([stage, .succeeded(1)])
    @Sendable func nest(_ depth: Int) {
      if depth == 0 { return byToken ? _ = tokens.cancel() : stage.cancel() }
      let outer = CancellationTokenSource()
      outer.token.register { nest(depth - 1) }
      outer.cancel()
    }
    nest(depth)
    #expect(stage.isResolved && joined.isResolved)
  }

  @Test("R12: a join gets a timeout that comes while the source becomes an orphan")
  func joinGetsTimeout() {
    let manual = ManualContext()
    let promise = Promise<Int, any Error>()
    let fail = { @Sendable in
      promise.follow(.never)
      return TestError()
    }
    let stage = promise.future.timeout(after: .seconds(1), on: manual.context, failingWith: fail())
    let joined = Future.allSettled([stage, .succeeded(1)])
    manual.advance(by: .seconds(1))
    #expect(stage.isResolved && joined.isResolved)
  }
}
