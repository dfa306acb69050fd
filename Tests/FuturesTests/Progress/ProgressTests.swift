import Futures
import TestSupport
import Testing

/// Short tests of reports and their observers.
@Suite("Progress, in short") struct ProgressTests {
  @Test("R18: each report raises the fraction, which reaches 1 only when the future has succeeded")
  func reportsRaiseFraction() {
    let promise = Promise<Int, any Error>()
    let seen = Recorder<Double>()
    promise.future.whenProgressed(on: .immediate) { seen.record($0.fractionCompleted) }
    #expect(promise.progress.report(fraction: 0.25))
    #expect(promise.progress.report(completed: 5, of: 10))
    #expect(promise.progress.report(fraction: 0.3))
    #expect(promise.progress.report(fraction: 1))
    #expect(promise.future.currentProgress.fractionCompleted < 1)
    #expect(!promise.future.currentProgress.isFinished)
    promise.succeed(1)
    #expect(seen.events == [0, 0.25, 0.5, 1.0.nextDown, 1])
    #expect(promise.future.currentProgress.isFinished)
    #expect(!promise.progress.report(fraction: 0.5))
  }

  @Test("R19: flatMap splits the progress, and map passes it on")
  func derivedFuturesForwardProgress() {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let derived = first.future.map { $0 }.flatMap { [second = second.future] _ in second }.map { $0 }
    let seen = Recorder<Double>()
    derived.whenProgressed(on: .immediate) { seen.record($0.fractionCompleted) }
    first.progress.report(fraction: 0.5)
    first.succeed(1)
    second.progress.report(fraction: 0.5)
    second.succeed(1)
    #expect(seen.events == [0, 0.25, 0.5, 0.75, 1])
  }

  @Test("R19: all averages the progress of its inputs")
  func allAveragesProgress() {
    let promises = (0..<4).map { _ in Promise<Int, any Error>() }
    let all = Future.all(promises.map(\.future))
    let seen = Recorder<Double>()
    all.whenProgressed(on: .immediate) { seen.record($0.fractionCompleted) }
    for promise in promises {
      promise.progress.report(fraction: 0.5)
      promise.succeed(1)
    }
    #expect(seen.events == [0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1])
  }

  @Test("R19: parts count for their shares")
  func partsCountForShares() {
    let (whole, a, b) = (Promise<Int, any Error>(), Promise<Int, any Error>(), Promise<Int, any Error>())
    let seen = Recorder<Double>()
    whole.future.whenProgressed(on: .immediate) { seen.record($0.fractionCompleted) }
    whole.progress.add(a.future, share: 0.5)
    a.progress.report(fraction: 0.5)
    whole.progress.add(b.future, share: 0.75)
    b.progress.report(fraction: 0.5)
    a.fail(TestError(1))
    b.future.cancel()
    whole.fail(TestError(1))
    #expect(seen.events == [0, 0.25, 0.5, 0.75, 1.0.nextDown])
  }
}
