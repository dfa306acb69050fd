import Futures
import TestSupport
import Testing

struct BrokenClockTests {
  @Test("R2a: a clock that drops its work breaks the futures that wait for it")
  func droppedTimerBreaksItsFutures() {
    let context = ExecutionContext(execute: { work in work() }, after: { _, _ in {} })
    let delayed = Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context)
    #expect(throws: BrokenPromise.self) { try delayed.peek()?.get() }
    let source = Promise<Int, any Error>()
    let derived = source.future.timeout(after: .seconds(1), on: context)
    #expect(throws: BrokenPromise.self) { try derived.peek()?.get() }
  }

  @Test("R4: a delay or a timeout whose clock drops its work releases its callbacks, and causes a report")
  func releasesCallbacks() async {
    await #expect(processExitsWith: .success) {
      let causes = Recorder<BrokenPromise.Cause>()
      FuturesDiagnostics.setHandler { misuse in
        guard case .brokenPromise(let broken) = misuse else { return }
        causes.record(broken.cause)
      }
      let context = ExecutionContext(execute: { work in work() }, after: { _, _ in {} })
      let (captured, _) = withTracked { object in
        Future.after(.seconds(1), on: context).whenResolved(on: .immediate) { _ in object.use() }
        let source = Promise<Int, TestError>()
        source.future.timeout(after: .seconds(1), on: context, fallback: 1).whenResolved(on: .immediate) { _ in
          object.use()
        }
        withExtendedLifetime(source) {}
      }
      #expect(captured.isReleased)
      #expect(causes.events == [.workDropped, .workDropped])
    }
  }

  @Test("R2a: a clock that runs its work twice, and at once, has one effect", arguments: TimingTests.Form.allCases)
  func repeatedTimerCountsOnce(form: TimingTests.Form) {
    let context = ExecutionContext(execute: { work in work() }) { _, work in
      work()
      work()
      return work
    }
    let log = Recorder<Int>()
    let delayed = Future<Int, any Error>.succeeded(1).delay(by: .seconds(1), on: context)
    delayed.whenSucceeded(on: .immediate) { log.record($0) }
    let source = Promise<Int, any Error>()
    source.future.whenResolved(on: .immediate) { _ in }  // another consumer
    let derived = form.timeout(source.future, after: .seconds(1), on: context)
    _ = source.future.ignoreValue().timeout(after: .seconds(1), on: context, fallback: log.record(2))
    source.succeed(1)
    #expect(outcome(of: derived) == form.late(.seconds(1)))
    #expect(log.events == [1, 2])
  }
}
