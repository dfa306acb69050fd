import Dispatch
import Foundation
import Futures
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(20)))
struct WaitingTests {
  @Test("wait() returns the result, also when it comes from another thread")
  func waitReturnsResult() {
    onThread {
      #expect(Future<Int, TestError>.succeeded(1).wait() == .success(1))
      let promise = Promise<Int, TestError>()
      DispatchQueue.global().async { promise.fail(TestError(2)) }
      #expect(promise.future.wait() == .failure(TestError(2)))
    }
  }

  @Test("wait(timeout:) gives up in time, and leaves nothing behind")
  func timesOut() {
    onThread {
      let promise = Promise<Int, TestError>()
      func giveUp() {
        for timeout: Duration in [.zero, .seconds(-1), .nanoseconds(1), .seconds(Int64.min)] {
          #expect(promise.future.wait(timeout: timeout) == nil, "timeout \(timeout)")
        }
      }
      #expect(leastBlocksLeft(count: 100) { for _ in 0..<$0 { giveUp() } } <= 0)
      promise.succeed(1)
      #expect(promise.future.wait(timeout: .zero) == .success(1))
    }
  }

  @Test("A timeout keeps its fraction of a second", arguments: [0, 1, 3])
  func timeoutBelowASecond(seconds: Int) {
    let timeout = Duration.seconds(seconds) + .milliseconds(50)
    let nanoseconds = UInt64(seconds) * 1_000_000_000 + 50_000_000
    let before = DispatchTime.now().uptimeNanoseconds
    let deadline = DispatchTime(afterNanoseconds: timeout.nanoseconds).uptimeNanoseconds
    let after = DispatchTime.now().uptimeNanoseconds
    #expect((before + nanoseconds...after + nanoseconds).contains(deadline))
  }

  @Test("wait(timeout:) with a very long timeout waits for the result", arguments: [Int64.max, 1_000_000_000_000])
  func longTimeout(seconds: Int64) {
    onThread {
      let promise = Promise<Int, TestError>()
      DispatchQueue.global().async { promise.succeed(1) }
      #expect(promise.future.wait(timeout: .seconds(seconds)) == .success(1))
    }
  }

  @Test("wait() in a callback first runs the deferred deliveries of its thread")
  func waitInCallback() {
    onThread {
      let log = Recorder<Int>()
      for depth in 1...20 {
        nestDeliveries(depth) {
          // Too deep to run inline, so this thread has deferred the transform.
          let future = Future<Int, TestError>.succeeded(1).map { $0 + 1 }
          log.record((try? future.wait().get()) ?? -1)
        }
      }
      #expect(log.events == Array(repeating: 2, count: 20))
    }
  }

  @Test("A thread that waits is woken at once, however deep the resolution is nested")
  func wokenAtAnyDepth() {
    let wokenThreads = Locked(0)
    onThread {
      for depth in 1...20 {
        nestDeliveries(depth) {
          let promise = Promise<Int, TestError>()
          let future = promise.future
          let attached = DispatchSemaphore(value: 0)
          let woken = DispatchSemaphore(value: 0)
          Thread.detachNewThread {
            attached.signal()
            _ = future.wait()
            woken.signal()
          }
          attached.wait()
          promise.succeed(1)
          woken.wait()
          wokenThreads.withLock { $0 += 1 }
        }
      }
    }
    #expect(wokenThreads.withLock(\.self) == 20)
  }

  @Test("R10: wait() on a pending future inside a task traps in debug builds")
  func trapsInTask() async {
    #if DEBUG
      await #expect(processExitsWith: .failure) {
        await Task.detached { waitForOwnDebt() }.value
      }
    #endif
  }

  @Test("R10: wait() does not trap for a resolved future, with a timeout, on the main actor or on a plain thread")
  func doesNotTrapElsewhere() async {
    await Task.detached {
      #expect(waitForResolved() == .success(1))
      #expect(waitBriefly() == nil)
    }.value
    #expect(await waitOnMainActor() == .success(3))
    onThread { waitForOwnDebt() }
  }

  @Test(
    "R10: in a debug build, a wait for a future that depends on its own callback writes a sentence",
    arguments: OwnWait.allCases
  )
  fileprivate func waitInOwnCallback(wait: OwnWait) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) { [wait] in
      onThread { wait.run() }
    }
    let output = try String(decoding: #require(result).standardErrorContent, as: UTF8.self)
    let sentences = output.split(separator: "\n").count { $0.hasPrefix("swift-futures: A callback waits for a future") }
    #if DEBUG
      #expect(sentences == (wait.isHopeless ? 1 : 0), "\(wait): \(output)")
    #else
      #expect(sentences == 0, "\(wait): \(output)")
    #endif
    #expect(output.contains("label \"source\"") == (sentences == 1))
  }

  @MainActor private func waitOnMainActor() -> Result<Int, TestError> {
    let promise = Promise<Int, TestError>()
    DispatchQueue.global().async { promise.succeed(3) }
    return promise.future.wait()
  }
}

/// Waits for a delivery that this thread has deferred, so the future is pending when the wait begins.
private func waitForOwnDebt() {
  for depth in 1...20 {
    nestDeliveries(depth) {
      let promise = Promise<Int, TestError>()
      Future.succeeded(1).whenSucceeded(on: .immediate) { promise.succeed($0) }
      if !promise.isResolved { _ = promise.future.wait() }
    }
  }
}

private func waitForResolved() -> Result<Int, TestError> {
  Future<Int, TestError>.succeeded(1).wait()
}

private func waitBriefly() -> Result<Int, TestError>? {
  let promise = Promise<Int, TestError>()
  return promise.future.wait(timeout: .nanoseconds(1))
}

/// A wait in a callback.
private enum OwnWait: String, CaseIterable, Codable, Sendable {
  // The awaited future depends on the future that runs the callback.
  case map, chain, queued, flatMap, followed, shielded, ownTransform, outer, forEver
  // The wait can succeed.
  case timeout, earlier, earlierOnQueue, otherFuture, deferred, check, join, resolved

  var isHopeless: Bool {
    switch self {
    case .map, .chain, .queued, .flatMap, .followed, .shielded, .ownTransform, .outer, .forEver: true
    case .timeout, .earlier, .earlierOnQueue, .otherFuture, .deferred, .check, .join, .resolved: false
    }
  }

  func run() {
    let source = Promise<Int, any Error>("source")
    let future = source.future
    let box = Recorder<Future<Int, any Error>>()
    let results = Recorder<Int?>()
    let brief = Duration.milliseconds(20)
    let wait: @Sendable (Duration) -> Void = { results.record(try? box.events[0].wait(timeout: $0)?.get()) }
    let queue = DispatchQueue(label: "waiting")
    if self == .earlier { box.record(future.map { $0 }.map { $0 }) }
    if self == .earlierOnQueue { box.record(future.map(on: .queue(queue)) { $0 }) }
    switch self {
    case .ownTransform:
      let own = future.map { value in
        wait(brief)
        return value
      }
      box.record(own)
    case .outer:
      let inner = Promise<Void, Never>()
      inner.future.whenResolved(on: .immediate) { _ in wait(brief) }
      future.whenResolved(on: .immediate) { _ in inner.succeed() }
    case .deferred:
      future.whenResolved(on: .immediate) { _ in
        nestDeliveries(15) {
          box.record(Future.succeeded(1).map { $0 })
          wait(.seconds(3_600))
        }
      }
    case .check: future.whenResolved(on: .immediate) { _ in wait(.zero) }
    case .forEver:
      future.whenResolved(on: .immediate) { _ in
        Thread.detachNewThread {
          while !box.events[0].hasConsumers { sched_yield() }
          box.events[0].cancel()
        }
        results.record(try? box.events[0].wait().get())
      }
    default: future.whenResolved(on: .immediate) { _ in wait(isHopeless || self == .join ? brief : .seconds(3_600)) }
    }
    switch self {
    case .map, .outer, .forEver, .check: box.record(future.map { $0 })
    case .chain:
      box.record(future.map { $0 }.mapError { $0 }.flatMap { .succeeded($0) }.receive(on: .queue(queue)))
    case .queued: box.record(future.map(on: .queue(queue)) { $0 })
    case .flatMap:
      let first = Promise<Int, any Error>()
      box.record(first.future.flatMap { _ in future })
      first.succeed(1)
    case .followed:
      let follower = Promise<Int, any Error>()
      follower.follow(future)
      box.record(follower.future)
    case .shielded: box.record(future.shielded)
    case .timeout: box.record(future.map { $0 }.timeout(after: brief, fallback: 7))
    case .otherFuture: box.record(Future(on: .queue(queue)) { 1 })
    case .join: box.record(Future.all([future, future]).map { $0[0] })
    case .resolved: box.record(.succeeded(1))
    case .ownTransform, .earlier, .earlierOnQueue, .deferred: break
    }
    source.succeed(1)
    // LeakSanitizer does not see a reference in the bits of an enum. So no work may be left when the process ends: the queue
    // of all queued work is empty, after the block that resolved the future has been released.
    _ = box.events[0].wait()
    queue.sync {}
    #expect(results.events == [isHopeless || self == .join || self == .check ? nil : self == .timeout ? 7 : 1])
  }
}
