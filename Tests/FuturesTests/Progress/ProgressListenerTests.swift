import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

@MainActor private final class Bar {
  var fractions: [Double] = []
}

/// Tests of the states that listeners get, and of their order: R20.
struct ProgressListenerTests {
  typealias Source = Future<Int, any Error>

  let promise = Promise<Int, any Error>()
  var future: Source { promise.future }

  // MARK: - Late observers

  @Test("R20: a listener that attaches after the end gets the last state once", arguments: [true, false])
  func afterTheEnd(succeeds: Bool) {
    let held = HeldContext()
    promise.progress.report(completed: 3, of: 4)
    promise.resolve(succeeds ? .success(1) : .failure(TestError(1)))
    let (log, submitted) = (ProgressLog(), ProgressLog())
    let registration = future.whenProgressed(on: .immediate) { log.note($0) }
    let other = future.whenProgressed(on: held.context) { submitted.note($0) }
    let removed = future.whenProgressed(on: held.context) { _ in Issue.record("A removed listener ran.") }
    #expect(log.events == [future.currentProgress])
    #expect(log.fractions == [succeeds ? 1 : 0.75])
    #expect(!registration.remove())
    #expect(submitted.events.isEmpty && held.count == 2)
    #expect(removed.remove())
    held.runAll()
    #expect(submitted.events == log.events)
    #expect(!other.remove() && !removed.remove())
  }

  // MARK: - The order

  @Test("R20: a manual context gets each report when it is made")
  func manualContextGetsEachReport() {
    let manual = ManualContext()
    let log = Recorder<String>()
    future.whenResolved(on: manual.context) { _ in log.record("end") }
    future.whenProgressed(on: manual.context) { log.record("\($0.fractionCompleted)") }
    #expect(manual.pendingCount == 1)
    promise.progress.report(fraction: 0.5)
    promise.progress.report(fraction: 0.25)
    #expect(manual.pendingCount == 2)
    manual.runNext()
    promise.succeed(1)
    #expect(manual.pendingCount == 3)
    #expect(log.events == ["0.0"])
    manual.runAll()
    #expect(log.events == ["0.0", "0.5", "1.0", "end"])
  }

  @Test("R9, R20: listeners on the main actor need no annotation")
  @MainActor
  func mainActor() async {
    let (bar, other) = (Bar(), Bar())
    await withCheckedContinuation { continuation in
      future.whenProgressed(on: .mainImmediate) { progress in
        MainActor.preconditionIsolated()
        bar.fractions.append(progress.fractionCompleted)
      }
      future.whenProgressed(on: .main) { progress in
        MainActor.preconditionIsolated()
        other.fractions.append(progress.fractionCompleted)
        if progress.isFinished { continuation.resume() }
      }
      #expect(bar.fractions == [0] && other.fractions.isEmpty)
      promise.progress.report(fraction: 0.5)
      #expect(bar.fractions == [0, 0.5] && other.fractions.isEmpty)
      DispatchQueue.global().async { [promise] in promise.succeed(1) }
    }
    #expect(bar.fractions == [0, 0.5, 1] && other.fractions == [0, 0.5, 1])
  }

  @Test("R20: a waiting thread continues after the last report", arguments: [0, 20])
  func waitReturnsAfterLastReport(depth: Int) {
    for _ in 0..<20 {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let log = Recorder<String>()
      future.whenProgressed(on: .immediate) { progress in
        if progress.isFinished { log.record("last") }
      }
      race([
        {
          _ = future.wait()
          log.record("waited")
        },
        {
          // Spins until the wait is attached: a wait that begins during the last report finds the result.
          while !future.hasConsumers {}
          nestDeliveries(depth) { promise.succeed(1) }
        },
      ])
      #expect(log.events == ["last", "waited"])
    }
  }

  // MARK: - Removing

  @Test("R7: removing a listener of a future that has ended returns false")
  func removalAfterTheEnd() {
    let registration = future.whenProgressed(on: .immediate) { _ in }
    promise.succeed(1)
    #expect(!registration.remove())
    var typed: Promise<Int, TestError>? = Promise()
    let broken = typed!.future.whenProgressed(on: .immediate) { _ in }
    typed = nil
    #expect(!broken.remove())
  }
}
