import Foundation
import Futures
import TestSupport
import Testing

/// A broken rule of the API, which traps.
private enum Mistake: String, CaseIterable, Codable, Sendable {
  case followsItself, returnsItself, returnsItsLastReference, returnsOuter, limit, settledLimit, attempts, race,
    firstSuccess, progress, takesAllKeys

  var message: String {
    switch self {
    case .followsItself, .returnsItself, .returnsItsLastReference, .returnsOuter:
      "A future cannot resolve as itself, because it would stay pending for ever."
    case .limit: "Future.concurrent needs a limit of at least 1, but limit is 0."
    case .settledLimit: "Future.concurrentSettled needs a limit of at least 1, but limit is 0."
    case .attempts: "Future.retry needs at least 1 attempt, but attempts is 0."
    case .race: "Future.race needs at least one future"
    case .firstSuccess: "Future.firstSuccess needs at least one future"
    case .progress: "A future was added to its own progress."
    case .takesAllKeys: "Futures found no free thread-specific key: the process uses all of them. Free one of them."
    }
  }

  func make() {
    let (promise, box) = (Promise<Int, TestError>(), Recorder<Future<Int, TestError>>())
    switch self {
    case .followsItself: promise.follow(promise.future)
    case .returnsItself:
      box.record(promise.future.flatMap { _ in box.events[0] })
      promise.succeed(1)
    case .returnsItsLastReference:
      let box = Locked<Future<Int, TestError>?>(nil)
      let derived = promise.future.flatMap { _ in box.withLock { $0.take()! } }
      box.withLock { $0 = derived }
      promise.succeed(1)
    case .returnsOuter:
      let second = Promise<Int, TestError>()
      box.record(promise.future.flatMap { _ in second.future.flatMap { _ in box.events[0] } })
      promise.succeed(1)
      second.succeed(1)
    case .limit: _ = Future<Int, TestError>.concurrent(0..<0, limit: 0) { .succeeded($0) }
    case .settledLimit: _ = Future<Int, any Error>.concurrentSettled(0..<0, limit: 0) { .succeeded($0) }
    case .attempts: _ = Future<Int, TestError>.retry(attempts: 0) { .succeeded(1) }
    case .race: _ = Future<Int, TestError>.race([])
    case .firstSuccess: _ = Future<Int, TestError>.firstSuccess([])
    case .progress: promise.progress.add(promise.future, share: 0.5)
    case .takesAllKeys:
      var key = pthread_key_t()
      while pthread_key_create(&key, nil) == 0 {}
      Future<Int, TestError>.succeeded(1).whenResolved(on: .immediate) { _ in }
    }
  }
}

@Suite(.serialized)
struct RequireTests {
  @Test("R2a, R11, R12: a mistake traps with its message, also in a release build", arguments: Mistake.allCases)
  fileprivate func trapsWithMessage(mistake: Mistake) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [mistake] in
      // Restores the default action of the signals: a backtrace takes seconds.
      for trap in [SIGILL, SIGTRAP] { signal(trap, SIG_DFL) }
      mistake.make()
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    #expect(output.contains(mistake.message), "\(mistake)")
  }
}
