import AllocationCounter
import Futures
import TestSupport
import Testing

/// A server behind a `PendingPromises`, which records the questions and the cancellations.
private final class Server<Failure: Error>: Sendable {
  let asked = Recorder<String>()
  let calledOff: Recorder<String>
  let pending: PendingPromises<String, Int, Failure>

  init(_ label: String? = nil) {
    let calledOff = Recorder<String>()
    self.calledOff = calledOff
    pending = PendingPromises(label) { calledOff.record($0) }
  }

  func ask(_ key: String) -> Future<Int, Failure> {
    pending.future(for: key) { asked.record(key) }
  }
}

@Suite("Promises by key")
struct PendingPromisesTests {
  // MARK: - Asking and answering

  @Test("failAll fails the pending futures of every key, and later callers start again")
  func failAllFailsEveryPendingKey() {
    let server = Server<TestError>()
    let futures = ["a", "a", "b", "c"].map(server.ask)
    server.pending.failAll(TestError(1))
    #expect(futures.map { $0.peek() } == Array(repeating: .failure(TestError(1)), count: 4))
    #expect(server.pending.count == 0)
    #expect(server.calledOff.events == [])
    let next = server.ask("a")
    #expect(server.asked.events == ["a", "b", "c", "a"])
    #expect(next.peek() == nil)
    server.pending.failAll(TestError(2))
    #expect(next.peek() == .failure(TestError(2)))
    server.pending.failAll(TestError(3))
  }

  @Test("Callers are resolved in the order of their calls, also after some have left")
  func callersResolveInOrder() {
    let pending = PendingPromises<Int, Int, any Error>()
    let log = Recorder<Int>()
    let futures = (0..<100).map { number in
      let future = pending.future(for: 1)
      future.whenSucceeded(on: .immediate) { _ in log.record(number) }
      return future
    }
    for number in stride(from: 0, to: 100, by: 3) { futures[number].cancel() }
    pending.resolve(1, with: .success(0))
    #expect(log.events == (0..<100).filter { !$0.isMultiple(of: 3) })
  }

  @Test("A `start` that resolves its key at once gives a resolved future")
  func startResolves() {
    let pending = PendingPromises<Int, Int, TestError>()
    let future = pending.future(for: 1) { #expect(pending.resolve(1, with: .success(5))) }
    #expect(future.peek() == .success(5))
    #expect(pending.count == 0)
    let failed = pending.future(for: 1) { pending.failAll(TestError(1)) }
    #expect(failed.peek() == .failure(TestError(1)))
  }

  @Test("A `start` that asks for its own key joins it, and is not run again")
  func startAsksForTheSameKey() throws {
    let server = Server<TestError>()
    let joined = Locked<Future<Int, TestError>?>(nil)
    let future = server.pending.future(for: "a") {
      let inner = server.ask("a")
      joined.withLock { $0 = inner }
    }
    #expect(server.asked.events == [])
    #expect(server.pending.count == 1)
    server.pending.resolve("a", with: .success(1))
    #expect(future.peek() == .success(1))
    #expect(joined.withLock { $0 }?.peek() == .success(1))
  }

  @Test("R3: callbacks and handlers can call back into the object")
  func callbacksCallTheObject() {
    let log = Recorder<String>()
    let box = Locked<PendingPromises<Int, Int, any Error>?>(nil)
    let pending = PendingPromises<Int, Int, any Error>("reentrant") { key in
      log.record("called off \(key), \(box.withLock { $0 }!.count) pending")
      box.withLock { $0 }!.resolve(key, with: .success(9))
      box.withLock { $0 }!.future(for: key).whenSucceeded(on: .immediate) { log.record("second \($0)") }
    }
    box.withLock { $0 = pending }
    pending.future(for: 1).whenSucceeded(on: .immediate) { value in
      log.record("first \(value), \(pending.count) pending")
      // A caller that asks again in its callback must not join the promise that is being resolved.
      pending.future(for: 1) { log.record("started") }.whenSucceeded(on: .immediate) { log.record("again \($0)") }
    }
    pending.future(for: 1).whenSucceeded(on: .immediate) { log.record("joined \($0)") }
    pending.resolve(1, with: .success(1))
    #expect(log.events == ["first 1, 0 pending", "started", "joined 1"])
    pending.failAll(TestError())
    pending.future(for: 2).cancel()
    pending.resolve(2, with: .success(2))
    #expect(log.events.dropFirst(3) == ["called off 2, 0 pending", "second 2"])
    box.withLock { $0 = nil }
  }

  // MARK: - Cancelling

  @Test("R3: a key is released outside the lock", arguments: [false, true])
  func keyIsReleasedOutsideLock(isResolved: Bool) {
    final class Key: Hashable, Sendable {
      let onRelease: @Sendable () -> Void
      init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }
      deinit { onRelease() }
      static func == (first: Key, second: Key) -> Bool { true }
      func hash(into hasher: inout Hasher) {}
    }
    let pending = PendingPromises<Key, Int, any Error>()
    let counts = Recorder<Int>()
    let first = pending.future(for: Key { [weak pending] in counts.record(pending?.count ?? -1) })
    let second = pending.future(for: Key {})
    first.cancel()
    if isResolved { pending.resolve(Key {}, with: .success(1)) } else { second.cancel() }
    #expect(counts.events == [0])
    #expect(second.isResolved)
  }

  @Test("A cancellation is not reported as an unobserved failure, and a later answer not as a double resolution")
  func cancellationIsNotReported() async {
    await #expect(processExitsWith: .success) {
      let reports = Recorder<String>()
      FuturesDiagnostics.setHandler { reports.record("\($0)") }
      for _ in 0..<2 {
        let server = Server<CancellableTestError>("reported")
        server.ask("a").cancel()
        let (first, second) = (server.ask("a"), server.ask("a"))
        first.cancel()
        server.pending.resolve("a", with: .success(1))
        second.cancel()
        #expect(!server.pending.resolve("a", with: .success(2)))
      }
      #expect(reports.events == [])
    }
  }

  // MARK: - The end

  @Test("R4: dropping the object breaks its pending futures, which name label, file and line of the call")
  func droppedObject() throws {
    var server: Server<any Error>? = Server("rpc")
    let line: UInt = #line + 1
    let future = try #require(server).pending.future(for: "a")
    let joined = try #require(server).ask("a")
    let calledOff = try #require(server).calledOff
    server = nil
    let error = try #require(throws: BrokenPromise.self) { try #require(future.peek()).get() }
    #expect(error.label == "rpc")
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
    #expect(throws: BrokenPromise.self) { try #require(joined.peek()).get() }
    #expect(calledOff.events == [])
  }

  @Test("R5: the object releases values and callbacks; dropping a future does not cancel it")
  func valuesAndCallbacksAreReleased() {
    let pending = PendingPromises<Int, Tracked, any Error>()
    weak var value: Tracked?
    weak var captured: Tracked?
    do {
      let (answer, object) = (Tracked(), Tracked())
      (value, captured) = (answer, object)
      pending.future(for: 1).whenResolved(on: .immediate) { _ in object.use() }
      #expect(pending.count == 1)
      #expect(pending.resolve(1, with: .success(answer)))
    }
    #expect(value == nil)
    #expect(captured == nil)
  }

  // MARK: - Leaks

  @Test("10,000 rounds leave no memory behind", .enabled(if: AllocationCounts.areSupported))
  func manyRoundsLeaveNothing() {
    onThread {
      let pending = PendingPromises<Int, Int, any Error>("leaks") { _ in }
      func rounds(_ count: Int) {
        for number in 0..<count {
          let futures = (0..<3).map { _ in pending.future(for: number) }
          futures[1].whenResolved(on: .immediate) { _ in }
          switch number % 3 {
          case 0: pending.resolve(number, with: .success(number))
          case 1: pending.failAll(TestError(number))
          default: for future in futures { future.cancel() }
          }
        }
      }
      #expect(leastBlocksLeft(count: 10_000, rounds) <= 0)
      #expect(pending.count == 0)
    }
  }

  @Test(
    "Objects that are dropped with pending callers leave nothing behind",
    .enabled(if: AllocationCounts.areSupported)
  )
  func droppedObjectsLeaveNothing() {
    @Sendable func rounds<Failure: Error>(_ count: Int, _ type: Failure.Type) {
      for number in 0..<count {
        let pending = PendingPromises<Int, Int, Failure>("leaks") { _ in }
        let (first, _) = (pending.future(for: number), pending.future(for: number))
        if number.isMultiple(of: 2) { first.cancel() }
      }
    }
    onThread {
      let left = leastBlocksLeft(count: 1_000) { count in
        rounds(count, (any Error).self)
        rounds(count, TestError.self)
      }
      #expect(left <= 0)
    }
  }
}
