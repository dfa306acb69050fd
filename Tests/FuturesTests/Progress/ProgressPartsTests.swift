import Futures
import TestSupport
import Testing

/// Tests of work that consists of parts: `promise.progress.add(_:share:)`, R19.
struct ProgressPartsTests {
  typealias Source = Future<Int, any Error>

  let whole = Promise<Int, any Error>()

  var fraction: Double { whole.future.currentProgress.fractionCompleted }

  @Test(
    "R19: shares are clamped to the rest, and invalid shares count as zero",
    arguments: [
      ([0.75, 0.75, 0.5], [0.75, 0.25, 0]), ([2, 1], [1, 0]), ([.infinity], [1]), ([.nan, 0.5], [0, 0.5]),
      ([-1, 0, -.infinity, 1], [0, 0, 0, 1]), ([1e-300, 0.5], [0, 0.5]), ([1, .nan], [1, 0]),
    ] as [([Double], [Double])]
  )
  func clampedShares(given: [Double], shares: [Double]) {
    let log = ProgressLog(whole.future)
    let parts = given.map { share in
      let part = Promise<Int, Never>()
      whole.progress.add(part.future, share: share)
      return part
    }
    var expected = 0.0
    for (part, share) in zip(parts, shares) {
      part.progress.report(fraction: 0.5)
      #expect(abs(fraction - min(expected + share / 2, almostDone)) < 1e-12, "share \(share)")
      part.succeed(1)
      expected += share
      #expect(abs(fraction - min(expected, almostDone)) < 1e-12, "share \(share)")
    }
    // The rest belongs to the promise.
    whole.progress.report(fraction: 0.5)
    #expect(abs(fraction - min(expected + (1 - expected) / 2, almostDone)) < 1e-12)
    whole.succeed(1)
    #expect(log.isSound)
  }

  /// The state or the end of a part.
  enum Part: CaseIterable, Sendable {
    case succeeds, fails, isCancelled, isDropped, breaks, hasSucceeded, hasFailed, wasResolved, never, lazy, wasBroken

    /// Whether the part ends, with or without a result.
    var ends: Bool { self != .never && self != .lazy }
  }

  @Test(
    "R19: an ended part counts in full, for every ending and each moment of adding",
    arguments: Part.allCases
  )
  func endedParts(part: Part) {
    let log = ProgressLog(whole.future)
    var promise: Promise<Int, any Error>? = Promise()
    var typed: Promise<Int, TestError>? = Promise()
    var kept: [Source] = []
    let add = { (future: Source) in
      kept.append(future)
      whole.progress.add(future, share: 0.5)
    }
    switch part {
    case .succeeds, .fails, .isCancelled, .isDropped: add(promise!.future)
    case .hasSucceeded: add(.succeeded(1))
    case .hasFailed: add(.failed(TestError(1)))
    case .wasResolved:
      promise!.succeed(1)
      add(promise!.future)
    case .never: add(.never)
    case .lazy: add(Source.lazy { _ in Issue.record("A part was started.") })
    case .breaks: whole.progress.add(typed!.future, share: 0.5)
    case .wasBroken:
      let future = typed!.future
      typed = nil
      whole.progress.add(future, share: 0.5)
    }
    let reported = [.succeeds, .fails, .isCancelled, .isDropped, .breaks].contains(part)
    if reported {
      promise!.progress.report(fraction: 0.5)
      typed!.progress.report(fraction: 0.5)
      #expect(fraction == 0.25)
    }
    switch part {
    case .succeeds: promise!.succeed(1)
    case .fails: promise!.fail(TestError(1))
    case .isCancelled: promise!.future.cancel()
    case .isDropped: promise = nil
    case .breaks: typed = nil
    default: break
    }
    #expect(fraction == (part.ends ? 0.5 : 0))
    whole.progress.report(fraction: 0.5)
    #expect(fraction == (part.ends ? 0.75 : 0.25))
    whole.succeed(1)
    #expect(log.isSound && log.fractions.last == 1)
    withExtendedLifetime((promise, typed, kept)) {}
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
