import Futures
import TestSupport
import Testing

/// Tests of work that consists of parts: `promise.progress.add(_:share:)`, R19.
struct ProgressPartsTests {
  typealias Source = Future<Int, any Error>

  let whole = Promise<Int, any Error>()

  var fraction: Double { whole.future.currentProgress.fractionCompleted }

  @Test("R4, R19: a part that has ended or breaks counts in full, and one that never ends or is lazy not at all")
  func endedParts() {
    let (log, progress) = (ProgressLog(whole.future), whole.progress)
    var (dropped, typed): (Promise<Int, any Error>?, Promise<Int, TestError>?) = (Promise(), Promise())
    let resolved = Promise<Int, any Error>()
    resolved.succeed(1)
    progress.add(Source.never, share: 0.125)
    progress.add(Source.lazy { _ in Issue.record("A part was started.") }, share: 0.125)
    #expect(fraction == 0)
    progress.add(Source.failed(TestError(1)), share: 0.125)
    progress.add(resolved.future, share: 0.125)
    progress.add(Promise<Int, TestError>().future, share: 0.125)
    #expect(fraction == 0.375)
    progress.add(dropped!.future, share: 0.125)
    progress.add(typed!.future, share: 0.125)
    typed!.progress.report(fraction: 0.5)
    #expect(fraction == 0.4375)
    dropped = nil
    typed = nil
    #expect(fraction == 0.625)
    progress.report(fraction: 0.5)
    #expect(fraction == 0.6875)
    whole.succeed(1)
    #expect(log.isSound && log.fractions.last == 1)
  }

  @Test("R16, R19: the whole neither starts nor cancels a part, and a part neither cancels nor resolves the whole")
  func partIsNotDerived() {
    let part = Promise<Int, any Error>()
    let notified = Recorder<Int>()
    part.onCancel { notified.record(1) }
    whole.progress.add(part.future, share: 1)
    whole.future.cancel()
    #expect(notified.events.isEmpty && !part.isResolved)
    #expect(part.progress.report(fraction: 0.5))
    #expect(whole.future.currentProgress.fractionCompleted == 0)

    let other = Promise<Int, any Error>()
    other.progress.add(part.future, share: 1)
    let derived = part.future.map { $0 }
    derived.cancel()
    #expect(notified.events == [1] && part.isResolved && !other.isResolved)
    #expect(other.future.currentProgress.fractionCompleted == almostDone)
    other.succeed(1)
  }

  @Test("R2a, R19: a promise that follows keeps the progress of its parts and takes no more from them")
  func followingPromiseKeepsItsParts() {
    let (part, source) = (Promise<Int, any Error>(), Promise<Int, any Error>())
    let log = ProgressLog(whole.future)
    whole.progress.add(part.future, share: 0.5)
    part.progress.report(fraction: 0.5)
    source.progress.report(fraction: 0.2)
    whole.follow(source.future)
    part.progress.report(fraction: 0.6)
    source.progress.report(fraction: 0.5)
    source.succeed(1)
    #expect(log.fractions == [0, 0.25, 0.5, 1])
  }

  @Test("R19: a part can be a future of another type, and its callback can end the whole")
  func endsWhole() {
    let part = Promise<String, TestError>()
    let log = ProgressLog(whole.future)
    whole.progress.add(part.future, share: 1)
    part.future.whenResolved(on: .immediate) { [whole] _ in whole.succeed(1) }
    part.progress.report(fraction: 0.5)
    part.succeed("done")
    #expect(log.fractions == [0, 0.5, almostDone, 1])
  }
}
