import Futures
import TestSupport
import Testing

/// Tests of the progress of a future with several inputs: R19.
struct ProgressGatheringTests {
  typealias Source = Future<Int, any Error>

  static func promises(_ count: Int) -> [Promise<Int, any Error>] { (0..<count).map { _ in Promise() } }

  static func isNear(_ left: [Double], _ right: [Double]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { abs($0 - $1) < 1e-12 }
  }

  @Test(
    "R4, R19: an input that breaks without a result counts in full, and one that never resolves not at all",
    arguments: [false, true]
  )
  func brokenInputs(asksLate: Bool) {
    var promises: [Promise<Int, TestError>?] = (0..<3).map { _ in Promise() }
    let futures = promises.map { $0!.future }
    let all = Future.all(futures + [.never])
    let concurrent = Future.concurrent(0..<4, limit: 4) { $0 < 3 ? futures[$0] : .never }
    var logs = asksLate ? [] : [ProgressLog(all), ProgressLog(concurrent)]
    for promise in promises { promise!.progress.report(fraction: 0.5) }
    promises[0] = nil
    promises[1]!.succeed(1)
    if asksLate { logs = [ProgressLog(all)] }
    for (index, log) in logs.enumerated() {
      #expect(log.fractions.last == 0.625, "\(index), \(asksLate)")
      #expect(log.isSound, "join \(index)")
    }
    // No result can come: both stay pending, as if they had no producer.
    promises[2]!.succeed(1)
    for (index, future) in [all, concurrent].enumerated() {
      #expect(!future.isResolved && !future.currentProgress.isFinished, "future \(index)")
    }
  }

  @Test("R19: asking for the progress while an item starts counts that item once")
  func askedInStart() {
    let promises = Self.promises(3)
    let futures = promises.map(\.future)
    let box = Locked<Future<[Int], any Error>?>(nil)
    let log = Recorder<ProgressLog>()
    let serial = Source.serial(0..<3) { item in
      if let serial = box.withLock({ $0 }) { log.record(ProgressLog(serial)) }
      return futures[item]
    }
    box.withLock { $0 = serial }
    for promise in promises {
      promise.progress.report(fraction: 0.5)
      promise.succeed(1)
    }
    box.withLock { $0 = nil }
    #expect(log.events.count == 2)
    let fractions = (2...6).map { Double($0) / 6 }
    #expect(Self.isNear(log.events[0].fractions, fractions), "\(log.events[0].fractions)")
    #expect(Self.isNear(log.events[1].fractions, Array(fractions.dropFirst(2))), "\(log.events[1].fractions)")
  }
}
