import Futures
import FuturesTesting
import TestSupport
import Testing

/// Tests of futures that turn out to never resolve, while other threads cancel, observe and release derived futures.
@Suite("Futures that never resolve, under threads")
struct OrphanRaceTests {
  static let rounds = TestTier.choose(standard: 300, thorough: 3_000)

  @Test("R16: following `never` races with cancelling its derived futures")
  func followRacesWithCancellation() {
    for _ in 0..<Self.rounds {
      let promise = Promise<Int, any Error>()
      let log = Recorder<Int>()
      let first = promise.future.map { $0 }
      let second = first.flatMap { .succeeded($0) }
      second.whenFailed(on: .immediate) { _ in log.record(1) }
      let futures = Locked<[Future<Int, any Error>]>([first, second])
      race([
        { promise.follow(.never) },
        { second.cancel() },
        { futures.withLock { $0 = [] } },
      ])
      #expect(second.isResolved)
      #expect(log.events == [1])
    }
  }

  @Test("R16: without a cancelled case, dropping the source races with cancelling its derived futures")
  func typedDropRacesWithCancellation() {
    for _ in 0..<Self.rounds {
      let manual = ManualContext()
      let promise = Promise<Int, TestError>()
      let source = Locked<Future<Int, TestError>?>(promise.future)
      let derived = promise.future.map { $0 }.timeout(after: .seconds(1), on: manual.context, fallback: 0)
      let last = derived.map { $0 }
      race([
        { promise.follow(.never) },
        { last.cancel() },
        { source.withLock { $0 = nil } },
        { _ = derived.map { $0 } },
      ])
      #expect(!last.isResolved)
      manual.advance(by: .seconds(1))
      #expect(last.peek() == .success(0))
    }
  }

  @Test("R2b, R16: cancelling a lazy future races with deriving from it", arguments: [false, true])
  func lazyCancellationRacesWithDerivation(canRepresentCancellation: Bool) {
    for _ in 0..<Self.rounds {
      let started = Recorder<Int>()
      if canRepresentCancellation {
        let lazy = Future<Int, any Error>.lazy { promise in
          started.record(1)
          promise.succeed(1)
        }
        let derived = Recorder<Future<Int, any Error>>()
        race([{ lazy.cancel() }, { derived.record(lazy.map { $0 }) }])
        #expect(derived.events.map(\.isResolved) == [true])
      } else {
        let lazy = Future<Int, TestError>.lazy { promise in
          started.record(1)
          promise.succeed(1)
        }
        let derived = Recorder<Future<Int, TestError>>()
        race([{ lazy.cancel() }, { derived.record(lazy.map { $0 }) }])
        #expect(derived.events.map(\.isResolved) == [!started.events.isEmpty])
        derived.events.first?.cancel()
      }
      #expect(started.events.count <= 1)
    }
  }
}
