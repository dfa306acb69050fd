internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R2b, R22: awaiting a lazy future in a cancelled task", .timeLimit(.minutes(20)))
struct AwaitLazyTests {
  @Test(
    "R2b, R22: in a cancelled task, only an await that continues starts a lazy future",
    arguments: AwaitMethod.allCases
  )
  func cancelledTaskStartsNothing(method: AwaitMethod) async {
    func check<Failure: Error>(_ type: Failure.Type, canRepresentCancellation: Bool) async {
      let starts = Recorder<Int>()
      let future = Future<Int, Failure>.lazy { promise in
        starts.record(1)
        promise.succeed(1)
      }
      let endsEarly = method.endsEarly(canRepresentCancellation: canRepresentCancellation)
      for attempt in 1...2 {
        let result = await method.start(future, isCancelled: true).value
        // `cancel` has cancelled the future by the second attempt.
        #expect(result.isSuccess == !endsEarly, "\(type), attempt \(attempt)")
        #expect(starts.events == (endsEarly ? [] : [1]), "\(type), attempt \(attempt)")
      }
      guard method != .cancel else { return #expect(!canRepresentCancellation || future.isResolved, "\(type)") }
      #expect(future.isResolved == !endsEarly, "\(type)")
      #expect((try? await future.value) == 1, "\(type)")
      #expect(starts.events == [1], "\(type)")
    }
    await check((any Error).self, canRepresentCancellation: true)
    await check(TestError.self, canRepresentCancellation: false)
  }

  @Test("R16: only `cancel` cancels a lazy future that runs for one await", arguments: AwaitMethod.allCases)
  func onlyCancelStopsRunningLazyFuture(method: AwaitMethod) async {
    let cancellations = Recorder<Int>()
    let promise = Promise<Int, any Error>()
    promise.onCancel { cancellations.record(1) }
    let future = Future<Int, any Error>.lazy { $0.follow(promise.future) }
    let task = method.start(future)
    task.cancel()
    if method == .ignore { promise.succeed(1) }
    #expect(await task.value.isSuccess == (method == .ignore))
    #expect(cancellations.events == (method == .cancel ? [1] : []))
  }
}
