import Futures
import FuturesTesting
import TestSupport
import Testing

/// The callers of a `PendingPromises`, of requests that the test answers or of work that they share and the test ends.
private final class Desk<Failure: Error>: Sendable {
  let isShared: Bool
  let started = Recorder<String>()
  let calledOff: Recorder<String>
  /// The cancelled pieces of work, by their numbers.
  let stopped = Recorder<Int>()
  let works = Recorder<Promise<Int, Failure>>()
  let pending: PendingPromises<String, Int, Failure>

  init(_ label: String? = nil, isShared: Bool = false) {
    let calledOff = Recorder<String>()
    (self.isShared, self.calledOff) = (isShared, calledOff)
    pending = PendingPromises(label) { calledOff.record($0) }
  }

  /// Adds a caller; `starting` runs while its request or its work begins.
  func ask(_ key: String, line: UInt = #line, starting: () -> Void = {}) -> Future<Int, Failure> {
    guard isShared else {
      return pending.future(for: key, line: line) {
        started.record(key)
        starting()
      }
    }
    return pending.future(sharing: key, line: line) {
      let (work, number) = (Promise<Int, Failure>(), works.events.count)
      work.onCancel { [stopped] in stopped.record(number) }
      works.record(work)
      started.record(key)
      starting()
      return work.future
    }
  }

  /// Answers the only pending key, or ends the newest work.
  func answer(_ key: String = "a", with value: Int) {
    if isShared { works.events.last?.succeed(value) } else { pending.resolve(key, with: .success(value)) }
  }
}

@Suite("Promises by key")
struct PendingPromisesTests {
  // MARK: - Asking and answering

  @Test("failAll fails the pending futures of every key")
  func failAllFailsEveryPendingKey() {
    let desk = Desk<TestError>()
    let futures = ["a", "a", "b", "c"].map { desk.ask($0) }
    desk.pending.failAll(TestError(1))
    #expect(futures.map { $0.peek() } == Array(repeating: .failure(TestError(1)), count: 4))
  }

  @Test(
    "R2: callers are resolved in the order of their calls, after their key has gone, also after some have left",
    arguments: [false, true]
  )
  func callersResolveInOrder(isShared: Bool) {
    let desk = Desk<any Error>(isShared: isShared)
    let log = Recorder<Int>()
    let futures = (0..<100).map { number in
      let future = desk.ask("a")
      future.whenSucceeded(on: .immediate) { _ in
        log.record(number)
        if number == 1 { _ = desk.ask("a") }
      }
      return future
    }
    for number in stride(from: 0, to: 100, by: 3) { futures[number].cancel() }
    desk.answer(with: 0)
    #expect(log.events == (0..<100).filter { !$0.isMultiple(of: 3) })
    #expect(desk.started.events == ["a", "a"])
    #expect(desk.pending.count == 1)
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

  @Test(
    "A caller that asks while its request or work begins joins it; when both have left, it is called off",
    arguments: [false, true]
  )
  func callerDuringStartJoins(isShared: Bool) {
    let desk = Desk<any Error>(isShared: isShared)
    let inner = Recorder<Future<Int, any Error>>()
    let outer = desk.ask("a") { inner.record(desk.ask("a")) }
    #expect(desk.started.events == ["a"])
    #expect(desk.pending.count == 1)
    inner.events[0].cancel()
    #expect(desk.calledOff.events == [] && desk.stopped.events == [])
    outer.cancel()
    #expect(desk.calledOff.events == ["a"] && desk.stopped.events == (isShared ? [0] : []))
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

  // MARK: - Cancelling and the end

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
        let desk = Desk<CancellableTestError>("reported")
        desk.ask("a").cancel()
        let (first, second) = (desk.ask("a"), desk.ask("a"))
        first.cancel()
        desk.pending.resolve("a", with: .success(1))
        second.cancel()
        #expect(!desk.pending.resolve("a", with: .success(2)))
      }
      #expect(reports.events == [])
    }
  }

  @Test("R4: dropping the object breaks its pending futures, which name label, file and line of the call")
  func droppedObject() throws {
    var desk: Desk<any Error>? = Desk("rpc")
    let calledOff = try #require(desk).calledOff
    let line: UInt = #line + 1
    let (future, joined) = (try #require(desk).ask("a"), try #require(desk).ask("a"))
    desk = nil
    let error = try #require(throws: BrokenPromise.self) { try #require(future.peek()).get() }
    #expect(error.label == "rpc")
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
    let place = "\(#fileID):\(line)"
    #expect("\(error)" == "The PendingPromises \"rpc\" was released before its future made at \(place) was resolved.")
    #expect(throws: BrokenPromise.self) { try #require(joined.peek()).get() }
    #expect(calledOff.events == [])
  }

  @Test("R1, R4, R17: callers ask, leave and are answered on several threads; each ends once, also if the object goes")
  func race() {
    for round in 0..<TestTier.choose(standard: 100, thorough: 300) {
      let (started, calledOff, asked, ends) = (Recorder<Int>(), Recorder<Int>(), Recorder<Int>(), Recorder<Int>())
      let object = Locked<PendingPromises<Int, Int, any Error>?>(PendingPromises { calledOff.record($0) })
      let ask = { @Sendable (number: Int) -> Future<Int, any Error>? in
        let future = object.withLock { $0 }?.future(for: 1) { started.record(number) }
        guard let future else { return nil }
        asked.record(number)
        future.whenResolved(on: .immediate) { _ in ends.record(number) }
        return future
      }
      let drop = { @Sendable in
        let dropped = object.withLock { $0.take() }
        _ = dropped  // released here, outside the lock
      }
      // The last two callers leave at the same time.
      let early = (0..<2).compactMap(ask)
      TestSupport.race(early.map { future in { future.cancel() } })
      #expect(calledOff.events == [1])
      TestSupport.race([
        { for number in 2..<6 { _ = ask(number) } },
        { for number in 6..<10 { ask(number)?.cancel() } },
        { for _ in 0..<3 { object.withLock { $0 }?.resolve(1, with: .success(0)) } },
        { if round.isMultiple(of: 2) { drop() } },
      ])
      drop()
      #expect(ends.events.sorted() == asked.events.sorted())
      // `onCancel` runs at most once for each start.
      #expect(calledOff.events.count <= started.events.count)
    }
  }

  // MARK: - Early answers

  @Test("Answers of a key are handed out in order, and the oldest of all is dropped above the limit, as in a list")
  func asAList() {
    var generator = SplitMix64(seed: 1)
    for limit in [0, 1, 2, 5] {
      let answers = PendingPromises<Int, String, CancellableTestError>(keepingEarlyAnswers: limit)
      var list: [(key: Int, answer: String)] = []
      for step in 0..<2_000 {
        let key = Int.random(in: 0..<3, using: &generator)
        if Bool.random(using: &generator) {
          answers.resolve(key, with: .success("\(step)"))
          list.append((key, "\(step)"))
          if list.count > limit { list.removeFirst() }
        } else {
          let index = list.firstIndex { $0.key == key }
          let expected = index.map { list.remove(at: $0).answer }
          let future = answers.future(for: key)
          if expected == nil { future.cancel() }
          guard (try? future.peek()?.get()) != expected else { continue }
          Issue.record("Step \(step) with the limit \(limit): \(future) instead of \(expected ?? "nothing").")
          return
        }
      }
    }
  }

  @Test("`failAll` drops early answers, and a dropped answer is released")
  func dropped() {
    let answers = PendingPromises<Int, Tracked, TestError>(keepingEarlyAnswers: 1)
    let (first, _) = withTracked { answers.resolve(1, with: .success($0)) }
    let (second, _) = withTracked { answers.resolve(2, with: .success($0)) }
    #expect(first.isReleased)
    #expect(!second.isReleased)
    answers.failAll(TestError(1))
    #expect(second.isReleased)
    #expect(answers.future(for: 2).peek() == nil)
  }

  @Test("One key needs no name")
  func singleKey() {
    let answers = PendingPromises<SingleKey, String, TestError>(keepingEarlyAnswers: 1)
    let futures = [answers.future(), answers.future()]
    #expect(answers.resolve(with: .success("a")))
    #expect(futures.map { $0.peek() } == [.success("a"), .success("a")])
    #expect(!answers.resolve(with: .success("b")))
    #expect(answers.future().peek() == .success("b"))
    let work = Promise<String, TestError>()
    let shared = [answers.shared { work.future }, answers.shared { .succeeded("never") }]
    work.succeed("c")
    #expect(shared.map { $0.peek() } == [.success("c"), .success("c")])
  }

  // MARK: - Shared work

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
    let desk = Desk<TestError>(isShared: true)
    let silent = desk.pending.future(for: "a")
    silent.cancel()
    let asked = desk.ask("a")
    #expect(desk.stopped.events == [])
    desk.works.events[0].succeed(1)
    #expect(silent.peek() == .success(1))
    #expect(asked.peek() == .success(1))
    #expect(desk.pending.count == 0)
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

  @Test("R17: work whose callers were answered while it started is stopped; resolved work leaves no key")
  func answeredWhileBeginning() throws {
    let desk = Desk<any Error>(isShared: true)
    let asked = desk.ask("a") { desk.pending.resolve("a", with: .success(7)) }
    #expect(try asked.peek()?.get() == 7)
    #expect(desk.stopped.events == [0])
    #expect(try desk.pending.future(sharing: "a") { .succeeded(1) }.peek()?.get() == 1)
    #expect(desk.pending.count == 0)
  }
}
