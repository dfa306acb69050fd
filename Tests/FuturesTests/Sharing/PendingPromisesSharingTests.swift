internal import AllocationCounter
internal import Futures
internal import TestSupport
internal import Testing

/// Downloads that a test ends by hand.
///
/// Callers of one file share a download.
private final class Downloads<Failure: Error>: Sendable {
  let pending = PendingPromises<String, Int, Failure>("download")
  let stopped = Recorder<Int>()
  private let begun = Locked<[Promise<Int, Failure>]>([])

  func ask(_ key: String) -> Future<Int, Failure> {
    pending.future(sharing: key) { self.begin().future }
  }

  private func begin() -> Promise<Int, Failure> {
    let promise = Promise<Int, Failure>()
    let number = begun.withLock { begun in
      begun.append(promise)
      return begun.count - 1
    }
    promise.onCancel { [stopped] in stopped.record(number) }
    return promise
  }

  var count: Int { begun.withLock(\.count) }

  subscript(number: Int) -> Promise<Int, Failure> { begun.withLock { $0[number] } }
}

@Suite("Promises by key: work that is shared")
struct PendingPromisesSharingTests {
  @Test("R2: callers resolve in order after their key is removed, so asking again starts new work")
  func callersResolveInOrderAfterKeyIsGone() throws {
    let downloads = Downloads<any Error>()
    let log = Recorder<Int>()
    for number in 0..<3 {
      downloads.ask("a").whenResolved(on: .immediate) { _ in
        log.record(number)
        if number == 0 { _ = downloads.ask("a") }
      }
    }
    downloads[0].succeed(1)
    #expect(log.events == [0, 1, 2])
    #expect(downloads.count == 2)
    #expect(downloads.pending.count == 1)
  }

  @Test("R17: a caller that asks while earlier work stops gets its own work, which continues")
  func callerDuringStopGetsOwnWork() throws {
    let pending = PendingPromises<String, Int, any Error>()
    let works = Recorder<Int>()
    let asked = Locked<Future<Int, any Error>?>(nil)
    let first = pending.future(sharing: "a") {
      let promise = Promise<Int, any Error>()
      promise.onCancel { [promise] in
        let second = pending.future(sharing: "a") {
          Future { inner in
            inner.onCancel { works.record(2) }
            works.record(1)
            inner.succeed(2)
          }
        }
        asked.withLock { $0 = second }
        promise.fail(CancellationError())
      }
      return promise.future
    }
    first.cancel()
    #expect(works.events == [1])
    #expect(try asked.withLock(\.self)?.peek()?.get() == 2)
  }

  @Test("R17: callers without a cancelled case that have left get the result of work shared later")
  func leftCallersGetLaterSharedResult() {
    let downloads = Downloads<TestError>()
    let silent = downloads.pending.future(for: "a")
    silent.cancel()
    let asked = downloads.ask("a")
    #expect(downloads.stopped.events == [])
    downloads[0].succeed(1)
    #expect(silent.peek() == .success(1))
    #expect(asked.peek() == .success(1))
    #expect(downloads.pending.count == 0)
  }

  @Test("R16: work with another consumer continues after all callers have left")
  func neededElsewhere() throws {
    let downloads = Downloads<any Error>()
    let promise = Promise<Int, any Error>()
    promise.onCancel { downloads.stopped.record(0) }
    let elsewhere = promise.future.map { $0 }
    let asked = downloads.pending.future(sharing: "a") { promise.future }
    asked.cancel()
    #expect(downloads.stopped.events == [])
    promise.succeed(1)
    #expect(try elsewhere.peek()?.get() == 1)
  }

  @Test("R4, R17: dropping the object breaks the callers first, then cancels their work", arguments: [0, 1])
  func droppedObjectCancelsWork(leaving: Int) {
    let events = Recorder<String>()
    let begun = Locked<[String: Promise<Int, any Error>]>([:])
    do {
      let pending = PendingPromises<String, Int, any Error>()
      for key in ["a", "a", "b"] {
        let asked = pending.future(sharing: key) {
          let work = Promise<Int, any Error>()
          work.onCancel { events.record("cancelled \(key)") }
          begun.withLock { $0[key] = work }
          return work.future
        }
        asked.whenFailed(on: .immediate) { events.record("\(type(of: $0)) \(key)") }
      }
      for _ in 0..<leaving { pending.future(sharing: "a") { .never }.cancel() }
      #expect(events.events == [])
    }
    #expect(events.events.prefix(3).sorted() == ["BrokenPromise a", "BrokenPromise a", "BrokenPromise b"])
    #expect(events.events.dropFirst(3).sorted() == ["cancelled a", "cancelled b"])
    let works = begun.withLock { Array($0.values) }
    #expect(works.allSatisfy { $0.isResolved })
  }

  @Test("R16: work with another consumer continues after its object has gone", arguments: [false, true])
  func droppedObjectLeavesNeededWork(isAttachedByCaller: Bool) throws {
    let stopped = Recorder<Int>()
    let work = Promise<Int, any Error>()
    work.onCancel { stopped.record(0) }
    let results = Recorder<Int>()
    let attach: @Sendable () -> Void = { [work = work.future] in
      work.whenSucceeded(on: .immediate) { results.record($0) }
    }
    do {
      let pending = PendingPromises<String, Int, any Error>()
      let asked = pending.future(sharing: "a") { work.future }
      if isAttachedByCaller { asked.whenFailed(on: .immediate) { _ in attach() } } else { attach() }
    }
    #expect(stopped.events == [])
    work.succeed(1)
    #expect(results.events == [1])
  }

  @Test("R17: work whose callers were answered while it started is stopped at once")
  func answeredWhileBeginning() throws {
    let pending = PendingPromises<String, Int, any Error>()
    let stopped = Recorder<Int>()
    let work = Promise<Int, any Error>()
    work.onCancel { stopped.record(0) }
    let asked = pending.future(sharing: "a") {
      pending.resolve("a", with: .success(7))
      return work.future
    }
    #expect(try asked.peek()?.get() == 7)
    #expect(stopped.events == [0])
    #expect(pending.count == 0)
  }

  @Test("A caller that asks while the work starts joins it; the work stops when both have left")
  func callerDuringStartJoins() throws {
    let pending = PendingPromises<String, Int, any Error>()
    let stopped = Recorder<Int>()
    let work = Promise<Int, any Error>()
    work.onCancel { stopped.record(0) }
    let inner = Locked<Future<Int, any Error>?>(nil)
    let outer = pending.future(sharing: "a") {
      let joined = pending.future(sharing: "a") {
        Issue.record("The work started twice.")
        return .never
      }
      inner.withLock { $0 = joined }
      return work.future
    }
    inner.withLock(\.self)?.cancel()
    #expect(stopped.events == [])
    outer.cancel()
    #expect(stopped.events == [0])
  }

  @Test("All callers see the progress of the work")
  func callersSeeProgressOfWork() throws {
    let downloads = Downloads<any Error>()
    let futures = [downloads.ask("a"), downloads.ask("a")]
    downloads[0].progress.report(completed: 1, of: 4)
    #expect(futures.map(\.currentProgress.fractionCompleted) == [0.25, 0.25])
    #expect(downloads.ask("a").currentProgress.fractionCompleted == 0.25)
  }

  @Test("Work that is already resolved gives a resolved future and leaves no key")
  func overAtOnce() throws {
    let pending = PendingPromises<String, Int, any Error>()
    #expect(try pending.future(sharing: "a") { .succeeded(1) }.peek()?.get() == 1)
    #expect(pending.count == 0)
  }

  @Test("Many rounds of each ending leave no memory behind", .enabled(if: AllocationCounts.areSupported))
  func manyEndingsLeaveNothing() throws {
    let left = leastBlocksLeft(count: 1000) { count in
      let pending = PendingPromises<Int, Int, any Error>()
      for number in 0..<count {
        let promise = Promise<Int, any Error>()
        let futures = (0..<2).map { _ in pending.future(sharing: number) { promise.future } }
        switch number % 3 {
        case 0: promise.succeed(1)
        case 1: for future in futures { future.cancel() }
        default: pending.resolve(number, with: .success(2))
        }
      }
    }
    #expect(left <= 0)
  }
}
