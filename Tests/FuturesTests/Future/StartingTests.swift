import Dispatch
import Foundation
import Futures
import FuturesTesting
import TestSupport
import Testing

struct StartingTests {
  // MARK: - A start that throws

  @Test("R1: a start that throws fails its future with that error, unless the promise is resolved")
  func throwingStart() {
    let failed = Future<Int, any Error> { promise in
      if promise.isResolved { promise.succeed(1) }
      throw TestError(1)
    }
    #expect(throws: TestError(1)) { try failed.peek()?.get() }
    let typed = Future<Int, TestError>("typed") { _ throws(TestError) in throw TestError(2) }
    #expect(typed.peek() == .failure(TestError(2)))
    let resolved = Future<Int, TestError> { promise throws(TestError) in
      promise.succeed(1)
      throw TestError(2)
    }
    #expect(resolved.peek() == .success(1))
  }

  // MARK: - init(on:) and catching

  @Test("Future(on:) runs its work once on the context, and resolves with its value or error")
  func workRunsOnceOnItsContext() {
    let held = HeldContext()
    let log = Recorder<Int>()
    let make = { (value: Int) in
      Future<Int, TestError>(on: held.context) { () throws(TestError) -> Int in
        log.record(value)
        if value < 0 { throw TestError(value) }
        return value
      }
    }
    let (first, second) = (make(1), make(-1))
    #expect(log.events.isEmpty && first.peek() == nil)
    held.runFirst(times: 2)
    held.runAll()
    #expect(first.peek() == .success(1))
    #expect(second.peek() == .failure(TestError(-1)))
    #expect(log.events == [1, -1])
    #expect(Future<Int, Never>(on: .immediate) { 2 }.peek() == .success(2))
    // A closure of several statements without a result.
    let done = Future<Void, Never>(on: .immediate) {
      log.record(2)
      log.record(3)
    }
    #expect(done.isResolved && log.events == [1, -1, 2, 3])
  }

  @Test("catching runs its body at once, on the calling thread, and resolves with its value or error")
  func catchingRunsItsBodyAtOnce() {
    var runs = 0
    let value = Future<Int, TestError>.catching {
      runs += 1
      return 1
    }
    #expect(runs == 1)
    #expect(value.peek() == .success(1))
    let failed = Future<Int, TestError>.catching { () throws(TestError) -> Int in throw TestError(2) }
    #expect(failed.peek() == .failure(TestError(2)))
    let opaque = Future<Int, any Error>.catching { throw TestError(3) }
    #expect(throws: TestError(3)) { try opaque.peek()?.get() }
  }

  // MARK: - lazy

  /// Makes a lazy future, and checks that `consume` starts it once, on its thread.
  private func expectStart(by consume: @escaping @Sendable (Operator.Source) -> Void) {
    onThread {
      let log = Recorder<Bool>()
      let thread = ObjectIdentifier(Thread.current)
      let future = Operator.Source.lazy { promise in
        log.record(ObjectIdentifier(Thread.current) == thread)
        promise.succeed(7)
      }
      #expect(future.peek() == nil && !future.isResolved && !Future(future).isResolved)
      #expect(log.events.isEmpty)
      consume(future)
      #expect(log.events == [true])
      consume(future)
      #expect(log.events == [true] && outcome(of: future) == "7")
    }
  }

  @Test(
    "R2b: the first operator starts a lazy future, on its own thread; peek and isResolved do not",
    arguments: Operator.all.filter { !$0.traits.contains(.same) && !$0.traits.isSuperset(of: [.detached, .queues]) }
  )
  func firstOperatorStartsLazyFuture(operation: Operator) {
    expectStart { source in
      let it = Surroundings()
      _ = operation.derive(source, it)
      it.end()
    }
  }

  @Test("R2b: the first callback, listener or waiter starts a lazy future, on its own thread")
  func firstConsumerStartsLazyFuture() {
    for observation in Operation.observations {
      expectStart { source in
        let it = Surroundings()
        _ = observation.apply(source, it)
        it.end()
      }
    }
    expectStart { $0.forward { _ in } }
    expectStart { _ = $0.wait() }
    expectStart { _ = $0.wait(timeout: .zero) }
  }

  @Test("R2b: of consumers that attach at the same time, one starts a lazy future, and all get the result")
  func consumersRaceToStartLazyFuture() {
    for _ in 0..<200 {
      let (starts, results) = (Recorder<Int>(), Recorder<Int>())
      let future = Future<Int, TestError>.lazy { promise in
        starts.record(1)
        promise.succeed(7)
      }
      race([
        { future.whenSucceeded(on: .immediate) { results.record($0) } },
        { _ = future.map { results.record($0) } },
        { future.wait().map { results.record($0) }.ignore() },
      ])
      #expect(starts.events == [1])
      #expect(results.events == [7, 7, 7])
    }
  }

  @Test("R4: a lazy future whose promise is dropped breaks, and names where it was made")
  func brokenStart() throws {
    let future = Future<Int, any Error>.lazy { _ in }
    let line: UInt = #line - 1
    let error = try #require(throws: BrokenPromise.self) { try future.map { $0 }.peek()?.get() }
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
  }

  @Test("R2b: the closure that starts a lazy future can observe that future")
  func reentrantStart() {
    let box = Locked<Future<Int, TestError>?>(nil)
    let log = Recorder<String>()
    let future = Future<Int, TestError>.lazy { promise in
      let this = box.withLock { $0.take() }
      this?.whenSucceeded(on: .immediate) { log.record("inner \($0)") }
      #expect(this?.isResolved == false)
      promise.succeed(1)
      log.record("started")
    }
    box.withLock { $0 = future }
    future.whenSucceeded(on: .immediate) { log.record("outer \($0)") }
    #expect(log.events == ["outer 1", "inner 1", "started"])
  }

  @Test("R2b: within deeply nested callbacks, a lazy future starts before the outermost callback returns")
  func deepStart() {
    let log = Recorder<Int>()
    let future = Future<Int, TestError>.lazy { promise in
      log.record(1)
      promise.succeed(2)
    }
    nestDeliveries(100) { future.whenSucceeded(on: .immediate) { log.record($0) } }
    #expect(log.events == [1, 2])
  }

  @Test("R6: a chain of lazy futures, started or released unstarted, takes no stack", arguments: [false, true])
  func lazyChain(starts: Bool) {
    onThread {
      var future = Future<Int, TestError>.lazy { $0.succeed(0) }
      for number in 0..<DepthTests.count {
        let next = future
        future = .lazy { promise in
          if number.isMultiple(of: 2) {
            promise.follow(next)
          } else {
            next.map { $0 + 1 }.whenResolved(on: .immediate) { promise.resolve($0) }
          }
        }
      }
      if starts {
        #expect(future.map { $0 }.peek() == .success(DepthTests.count / 2))
      } else {
        #expect(!future.isResolved)
      }
    }
  }

  // MARK: - Other future types

  /// A foreign future type, whose completion the test decides.
  private struct Foreign: FutureProtocol {
    let deliver: @Sendable (@escaping @Sendable (Result<Int, any Error>) -> Void) -> Void

    func forward(to completion: @escaping @Sendable (Result<Int, any Error>) -> Void) { deliver(completion) }
  }

  @Test("A future adopts any other future type, which completes now, later or twice")
  func futureAdoptsForeignFuture() {
    let held = HeldContext()
    let now = Future(Foreign { $0(.success(1)) })
    let later = Future(Foreign { completion in held.context.submit { completion(.failure(TestError(2))) } })
    let twice = Future(
      Foreign { completion in
        completion(.success(3))
        completion(.failure(TestError(3)))
      }
    )
    #expect([now, later, twice].map { outcome(of: $0) } == ["1", "unresolved", "3"])
    held.runAll()
    #expect(outcome(of: later) == "\(TestError(2))")
  }

  @Test("R12: a foreign future that drops its completion breaks the future, which names its file and line")
  func droppedCompletion() throws {
    let kept = Recorder<@Sendable (Result<Int, any Error>) -> Void>()
    #expect(!Future(Foreign { kept.record($0) }).isResolved)
    let dropped = Future(Foreign { _ in })
    let line: UInt = #line - 1
    let error = try #require(throws: BrokenPromise.self) { try dropped.peek()?.get() }
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
  }
}

extension Result {
  fileprivate func ignore() {}
}
