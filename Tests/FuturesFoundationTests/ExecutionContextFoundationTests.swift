import AllocationCounter
import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import TestSupport
import Testing

@Suite(.unlessLookingForLeaks, .timeLimit(.minutes(20)))
struct ExecutionContextFoundationTests {
  @Test("R2: a serial operation queue runs callbacks in order, but not while it is suspended")
  func operationQueue() {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    queue.isSuspended = true
    let promise = Promise<Int, TestError>()
    let events = Recorder<Int>()
    for number in 0..<100 {
      promise.future.whenResolved(on: .operationQueue(queue)) { _ in
        #expect(OperationQueue.current === queue)
        events.record(number)
      }
    }
    let mapped = promise.future.map(on: .operationQueue(queue)) { $0 + 1 }
    promise.succeed(1)
    #expect(events.events == [])
    #expect(!mapped.isResolved)
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(events.events == Array(0..<100))
    #expect(mapped.peek() == .success(2))
  }

  @Test("R2a: an operation queue that cancels its operations breaks their futures, which name their `Future(on:)`")
  func cancelledOperations() async {
    let queue = OperationQueue()
    queue.isSuspended = true
    let line: UInt = #line + 1
    let future = Future<Int, any Error>(on: .operationQueue(queue)) { 1 }
    queue.cancelAllOperations()
    queue.isSuspended = false
    let error = await future.result.error as? BrokenPromise
    #expect(error?.fileID == #fileID && error?.line == line)
  }

  /// Returns the context of a run loop, which a new thread runs until the end of the tests.
  private func newRunLoop() -> ExecutionContext {
    let context = Locked(ExecutionContext.immediate)
    onThread {
      let isReady = Promise<Void, Never>()
      Thread.detachNewThread {
        context.withLock { $0 = .runLoop(.current) }
        isReady.succeed()
        // A run loop without sources returns at once. This timer keeps it waiting, and does not fire during the tests.
        RunLoop.current.add(Timer(timeInterval: 1_000_000, repeats: true) { _ in }, forMode: .default)
        while true { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
      }
      _ = isReady.future.wait()
    }
    return context.withLock { $0 }
  }

  @Test("R2: callbacks wake a waiting run loop, and run in order on its thread")
  func runLoop() async {
    let context = newRunLoop()
    let promise = Promise<Int, TestError>()
    let events = Recorder<Int>()
    let threads = Recorder<ObjectIdentifier>()
    for number in 0..<100 {
      promise.future.whenResolved(on: context) { _ in
        events.record(number)
        threads.record(ObjectIdentifier(Thread.current))
      }
    }
    promise.succeed(1)
    let last = promise.future.map(on: context) { $0 + 1 }
    #expect(await last.result == .success(2))
    #expect(events.events == Array(0..<100))
    #expect(Set(threads.events).count == 1)
    // One future at a time: each has to wake the run loop.
    for number in 0..<20 {
      #expect(await Future<Int, TestError>.succeeded(number).receive(on: context).result == .success(number))
    }
    await Future.after(.milliseconds(1), on: context).value
  }

  @Test(
    "R5: the context of a run loop leaves no memory behind, however often it is made and used",
    .enabled(if: AllocationCounts.areSupported)
  )
  func nothingLeft() {
    let (deliveries, blocks) = (Locked(0), Locked(Int64.max))
    onThread {
      let left = leastBlocksLeft(count: 100) { count in
        for _ in 0..<count {
          Future.succeeded(1).whenResolved(on: .runLoop(.current)) { _ in deliveries.withLock { $0 += 1 } }
          _ = RunLoop.current.run(mode: .default, before: .distantPast)
        }
      }
      blocks.withLock { $0 = left }
    }
    #expect(blocks.withLock { $0 } <= 0)
    #expect(deliveries.withLock { $0 } >= 200)
  }

  @Test("A run loop runs work for another mode only in that mode")
  func mode() {
    onThread {
      let mode = RunLoop.Mode("another")
      let events = Recorder<String>()
      Future.succeeded(1).whenResolved(on: .runLoop(.current, mode: mode)) { _ in events.record("another") }
      Future.succeeded(1).whenResolved(on: .runLoop(.current)) { _ in events.record("default") }
      _ = RunLoop.current.run(mode: .default, before: .distantPast)
      #expect(events.events == ["default"])
      _ = RunLoop.current.run(mode: mode, before: .distantPast)
      #expect(events.events == ["default", "another"])
    }
  }
}
