import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

import FuturesFoundation

#if !canImport(ObjectiveC)
  /// Tests of a progress that does not notify observers, so the library polls it.
  struct ProgressReporterFoundationProgressPollingTests {
    /// A future that follows a progress which counts its readings.
    final class Work {
      let manual = ManualContext()
      let promise = Promise<Int, any Error>()
      let progress = CountingProgress(parent: nil)

      init() { promise.progress.follow(progress, polling: manual.context) }

      /// Advances the time by `duration`, and returns the number of readings meanwhile.
      func readings(in duration: Duration) -> Int {
        let before = progress.readings
        manual.advance(by: duration)
        return progress.readings - before
      }
    }

    @Test("A followed progress is read 20 times a second while it has a listener")
    func rate() {
      let work = Work()
      #expect(work.readings(in: .seconds(1)) == 0)
      let registration = work.promise.future.whenProgressed(on: .immediate) { _ in }
      work.promise.future.whenProgressed(on: .immediate) { _ in }.remove()
      #expect(work.readings(in: .seconds(1)) == 20)
      #expect(work.manual.pendingCount == 1)
      registration.remove()
      #expect(work.readings(in: .seconds(1)) == 1)
      #expect(work.manual.pendingCount == 0)
      work.promise.future.map { $0 }.whenProgressed(on: .immediate) { _ in }
      #expect(work.readings(in: .seconds(1)) == 20)
      work.promise.succeed(1)
      #expect(work.manual.pendingCount == 0)
      #expect(work.readings(in: .seconds(1)) == 0)
    }

    @Test("A progress is not read after it finished or was replaced, or after the future was cancelled")
    func stops() {
      let (finished, replaced, cancelled) = (Work(), Work(), Work())
      for work in [finished, replaced, cancelled] {
        work.promise.future.whenProgressed(on: .immediate) { _ in }
        #expect(work.manual.pendingCount == 1)
      }
      finished.progress.totalUnitCount = 1
      finished.progress.completedUnitCount = 1
      finished.manual.advance(by: .milliseconds(50))
      replaced.promise.progress.follow(Progress(totalUnitCount: 1), polling: ManualContext().context)
      cancelled.promise.future.cancel()
      for work in [finished, replaced, cancelled] { #expect(work.manual.pendingCount == 0) }
    }

    @Test("A delay that begins while the future ends is cancelled")
    func endsMeanwhile() {
      let promise = Promise<Int, any Error>()
      let cancelled = Recorder<Int>()
      let context = ExecutionContext { _ in
      } after: { [weak promise] _, _ in
        promise?.succeed(1)
        return { cancelled.record(1) }
      }
      let progress = Progress(totalUnitCount: 10)
      promise.progress.follow(progress, polling: context)
      promise.future.whenProgressed(on: .immediate) { _ in }
      #expect(promise.isResolved)
      #expect(cancelled.events == [1])
    }

    @Test("Listeners that are added and removed during the polling leave at most one timer")
    func threads() {
      let work = Work()
      let (promise, manual) = (work.promise, work.manual)
      race([
        { for _ in 0..<200 { promise.future.whenProgressed(on: .immediate) { _ in }.remove() } },
        { for _ in 0..<200 { manual.advance(by: .milliseconds(50)) } },
      ])
      #expect(manual.pendingCount <= 1)
      manual.advance(by: .milliseconds(50))
      #expect(manual.pendingCount == 0)
      promise.future.whenProgressed(on: .immediate) { _ in }
      #expect(manual.pendingCount == 1)
    }
  }

  /// A progress that counts the calls of the getter of its total; a reading calls the getter twice.
  final class CountingProgress: Progress, @unchecked Sendable {
    // @unchecked: `Progress` is `@unchecked Sendable`, and the count is locked.
    private let count = Locked(0)

    override var totalUnitCount: Int64 {
      get {
        count.withLock { $0 += 1 }
        return super.totalUnitCount
      }
      set { super.totalUnitCount = newValue }
    }

    var readings: Int { count.withLock { $0 } / 2 }
  }
#endif
