import Futures
import TestSupport
import Testing

/// Tests of progress over long chains, on threads with a stack of 512 KiB: R6.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct ProgressDepthTests {
  static let count = TestTier.choose(standard: 2_000, thorough: 5_000)

  /// A chain that carries progress from the first future to the last.
  enum Chain: CaseIterable, Sendable {
    case map, flatMap, flatMapPassing, shielded, flatMapError, followers, parts, all

    /// Returns the last future of the chain, and the objects that keep it alive.
    func last<Failure: Error>(from first: Future<Int, Failure>, _ count: Int) -> (Future<Int, Failure>, any Sendable) {
      var last = first
      var kept: [Promise<Int, Failure>] = []
      for _ in 0..<count {
        switch self {
        case .map: last = last.map { $0 }
        case .flatMap: last = last.flatMap { .succeeded($0) }
        case .flatMapPassing: last = last.flatMap(progressShare: 1) { .succeeded($0) }
        case .shielded: last = last.shielded
        case .flatMapError: last = last.flatMapError { .failed($0) }
        case .all: last = Future.all([last]).map { $0[0] }
        case .followers:
          let promise = Promise<Int, Failure>()
          promise.follow(last)
          kept.append(promise)
          last = promise.future
        case .parts:
          let promise = Promise<Int, Failure>()
          promise.progress.add(last, share: 1)
          kept.append(promise)
          last = promise.future
        }
      }
      return (last, kept)
    }

    /// Whether the chain resolves as its first future does.
    var isDerived: Bool { self != .parts }
  }

  @Test("R6, R19: a report at the root of a long chain reaches its end", arguments: Chain.allCases)
  func reportPassesLongChain(_ chain: Chain) {
    onThread {
      let promise = Promise<Int, any Error>()
      let (last, kept) = chain.last(from: promise.future, Self.count)
      promise.progress.report(fraction: 0.25)
      let log = ProgressLog(last)
      promise.progress.report(fraction: 0.5)
      let isHalved = chain == .flatMap
      #expect(log.fractions == (isHalved ? [0] : [0.25, 0.5]))
      promise.succeed(1)
      #expect(last.isResolved == chain.isDerived)
      #expect(log.fractions.last == (chain.isDerived ? 1 : almostDone))
      #expect(log.isSound)
      withExtendedLifetime(kept) {}
    }
  }

  /// Drops a chain with a listener.
  static func release<Failure: Error>(_ chain: Chain, _: Failure.Type, endsAsNever: Bool) {
    var promise: Promise<Int, Failure>? = Promise()
    var last: Future<Int, Failure>?
    let kept: (any Sendable)?
    (last, kept) = chain.last(from: promise!.future, count)
    let log = ProgressLog(last!)
    promise!.progress.report(fraction: 0.5)
    #expect(log.events.count == (chain == .flatMap ? 1 : 2))
    if endsAsNever { promise!.follow(.never) }
    promise = nil
    #expect(log.events.count == (chain == .flatMap ? 1 : 2) || chain == .parts)
    last = nil
    withExtendedLifetime(kept) {}
  }

  @Test("R6: releasing a long unresolved chain with a listener takes no stack", arguments: Chain.allCases)
  func observedChainIsReleased(_ chain: Chain) {
    // A failure type that can represent cancellation, one that cannot, and a future that turns out to never resolve.
    onThread { Self.release(chain, (any Error).self, endsAsNever: false) }
    onThread { Self.release(chain, TestError.self, endsAsNever: false) }
    onThread { Self.release(chain, TestError.self, endsAsNever: true) }
  }

  @Test("R6: callbacks that each report to the next of many promises take no stack")
  func reportingChain() {
    onThread {
      let promises = (0..<Self.count).map { _ in Promise<Int, any Error>() }
      let notified = Locked(0)
      for (index, promise) in promises.enumerated() {
        promise.future.whenProgressed(on: .immediate) { progress in
          guard progress.fractionCompleted == 0.5 else { return }
          notified.withLock { $0 += 1 }
          if index + 1 < promises.count { promises[index + 1].progress.report(fraction: 0.5) }
        }
      }
      promises[0].progress.report(fraction: 0.5)
      #expect(notified.withLock { $0 } == promises.count)
      // The callbacks hold the promises.
      for promise in promises { promise.succeed(1) }
    }
  }

  @Test("R7, R19: each of many listeners costs O(1)")
  func manyListeners() {
    // If the cost of each listener grew with the number of listeners, this would take ten thousand million steps.
    let promise = Promise<Int, any Error>()
    let notified = Locked(0)
    let registrations = (0..<Self.count).map { _ in
      promise.future.whenProgressed(on: .immediate) { _ in notified.withLock { $0 += 1 } }
    }
    promise.progress.report(fraction: 0.5)
    for registration in registrations[..<(Self.count / 2)].reversed() { registration.remove() }
    promise.succeed(1)
    let expected = 2 * Self.count + (Self.count + 1) / 2
    #expect(notified.withLock { $0 } == expected)
  }
}
