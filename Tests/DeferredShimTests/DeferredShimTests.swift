import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// The requirements of Deferred's own tests for the parts that the shim covers.
@Suite("Deferred shim")
struct DeferredShimTests {
  // MARK: - Deferred

  @Test("The first fill returns true and stays, and later fills return false, even for a nil value")
  func filling() {
    let deferred = Deferred<Int>()
    #expect(!deferred.isFilled && deferred.peek() == nil)
    #expect(deferred.fill(with: 1) && !deferred.fill(with: 2))
    #expect(deferred.isFilled && deferred.peek() == 1 && deferred.wait(until: .now()) == 1)
    let optional = Deferred<Int?>(filledWith: nil)
    #expect(!optional.fill(with: 42) && optional.isFilled && optional.peek() == .some(nil))
    Deferred<Int>().mustFill(with: 1)
  }

  @Test("mustFill of a filled Deferred stops the program")
  func mustFillTwice() async {
    await #expect(processExitsWith: .failure) { Deferred(filledWith: 1).mustFill(with: 2) }
  }

  @Test("andThen delivers the inner value through the executor")
  func innerValueOnExecutor() {
    let (executor, inner, received) = (HeldExecutor(), Deferred<Int>(), Recorder<Int>())
    let chained = Deferred(filledWith: 1).andThen(upon: executor) { _ in inner }
    chained.upon(InlineExecutor()) { received.record($0) }
    executor.held.runAll()
    inner.fill(with: 2)
    #expect(received.events == [])
    executor.held.runAll()
    #expect(received.events == [2])
  }

  @Test("every, ignored and eraseToFuture are filled when their Deferred is")
  func conversions() {
    let deferred = Deferred<Int>()
    let (every, ignored, erased) = (deferred.every { $0 + 1 }, deferred.ignored(), deferred.eraseToFuture())
    deferred.fill(with: 1)
    #expect(every.peek() == 2 && ignored.isFilled && erased.peek() == 1)
  }

  @Test("async runs its work on the queue")
  func async() {
    let (queue, key) = (DispatchQueue(label: "async"), DispatchSpecificKey<Int>())
    queue.setSpecific(key: key, value: 7)
    #expect(Future<Int?>.async(upon: queue) { DispatchQueue.getSpecific(key: key) }.wait(until: .distantFuture) == 7)
  }

  @Test("Protected runs one writer at a time, and passes on the result or the error of its body")
  func protected() {
    let count = Protected(initialValue: 0)
    race((0..<4).map { _ in { for _ in 0..<1_000 { count.withWriteLock { $0 += 1 } } } })
    #expect(count.withReadLock { $0 } == 4_000)
    #expect(throws: TestError(1)) { try count.withWriteLock { _ in throw TestError(1) } }
  }

  @Test("All copies of a Deferred share one value")
  func copies() {
    let deferred = Deferred<Int>()
    let copies = [deferred, deferred, deferred]
    let all = copies.allFilled()
    copies[1].fill(with: 42)
    #expect(all.peek() == [42, 42, 42])
  }

  @Test("If several threads fill at the same time, one wins, and each callback gets its value once")
  func simultaneousFill() {
    let (deferred, winners, received) = (Deferred<Int>(), Recorder<Int>(), Recorder<Int>())
    for _ in 0..<32 { deferred.upon(InlineExecutor()) { received.record($0) } }
    race((0..<4).map { index in { if deferred.fill(with: index) { winners.record(index) } } })
    #expect(winners.events.count == 1)
    #expect(received.events == Array(repeating: winners.events[0], count: 32))
  }

  @Test("upon runs its closures in order, on the executor, after the fill, and also on a filled Deferred")
  func upon() {
    let (executor, recorder, deferred) = (HeldExecutor(), Recorder<Int>(), Deferred<Int>())
    deferred.upon(executor) { recorder.record($0) }
    deferred.upon(executor) { recorder.record($0 + 1) }
    #expect(executor.held.count == 0)
    deferred.fill(with: 1)
    deferred.upon(executor) { recorder.record($0 + 2) }
    #expect(executor.held.count == 3 && recorder.events.isEmpty)
    executor.held.runAll()
    #expect(recorder.events == [1, 2, 3])
  }

  @Test("upon runs its closure on any queue by default, on the given queue, or on the main actor for .main")
  func uponQueues() async {
    let (deferred, checkpoints, queue) = (Deferred(filledWith: 1), Checkpoints(), DispatchQueue(label: "upon"))
    deferred.upon { _ in
      dispatchPrecondition(condition: .notOnQueue(.main))
      checkpoints.pass("any")
    }
    deferred.upon(queue) { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      checkpoints.pass("queue")
    }
    deferred.upon(.main) { _ in
      MainActor.preconditionIsolated()
      checkpoints.pass("main")
    }
    deferred.upon(DispatchQueue.main) { _ in
      dispatchPrecondition(condition: .onQueue(.main))
      checkpoints.pass("main queue")
    }
    for name in ["any", "queue", "main", "main queue"] { await checkpoints.passing(name).outcome() }
  }

  @Test("wait returns nil at its deadline, or the value if another thread fills it in before")
  func wait() async {
    let (unfilled, deferred) = (Deferred<Int>(), Deferred<Int>())
    let waited = Deferred<[Int?]>()
    startThread {
      let past = unfilled.wait(until: .now() - .seconds(1))
      waited.fill(with: [past, unfilled.wait(until: .now() + .milliseconds(1)), deferred.wait(until: .distantFuture)])
    }
    startThread { deferred.fill(with: 3) }
    #expect(await waited.filled.outcome() == .success([nil, nil, 3]))
  }

  @Test("A Deferred that is dropped unfilled releases its closures without running them")
  func dropped() {
    weak var freed: Tracked?
    do {
      let tracked = Tracked()
      freed = tracked
      let broken = brokenPromises(madeIn: #fileID) { Deferred<Int>().upon(InlineExecutor()) { _ in tracked.use() } }
      // Other tests of this file can drop their promises at the same time.
      #expect(!broken.isEmpty)
    }
    #expect(freed == nil)
  }

  // MARK: - Futures

  @Test("map and andThen run on their executor after the value")
  func transforms() {
    let (executor, deferred, inner) = (HeldExecutor(), Deferred<Int>(), Deferred<String>())
    let mapped = deferred.map(upon: executor) { $0 + 1 }
    let chained = deferred.andThen(upon: executor) { _ in inner }
    deferred.fill(with: 1)
    #expect(mapped.peek() == nil)
    executor.held.runAll()
    #expect(mapped.peek() == 2 && !chained.isFilled)
    inner.fill(with: "inner")
    executor.held.runAll()
    #expect(chained.peek() == "inner")
    #expect(Future(deferred).peek() == 1 && Future(value: 3).peek() == 3)
  }

  @Test("and is filled when all its inputs are filled")
  func and() {
    let (number, text, flag) = (Deferred<Int>(), Deferred<String>(), Deferred<Bool>())
    let (both, all) = (number.and(text), number.and(text, flag))
    number.fill(with: 1)
    #expect(!both.isFilled)
    text.fill(with: "a")
    #expect(both.peek().map { $0 == (1, "a") } == true && !all.isFilled)
    flag.fill(with: true)
    #expect(all.peek().map { $0 == (1, "a", true) } == true)
  }

  @Test("allFilled keeps the order, waits for the last input, and is filled at once for an empty collection")
  func allFilled() {
    let deferreds = (0..<10).map { _ in Deferred<Int>() }
    let all = deferreds.allFilled()
    for index in (1..<10).reversed() { deferreds[index].fill(with: index) }
    #expect(!all.isFilled)
    deferreds[0].fill(with: 0)
    #expect(all.peek() == Array(0..<10))
    #expect(EmptyCollection<Deferred<Int>>().allFilled().peek() == [])
  }

  @Test("firstFilled keeps the first value, cancels no other input, and is never filled for an empty collection")
  func firstFilled() {
    let (deferreds, cancelled) = ((0..<10).map { _ in Deferred<Int>() }, Recorder<Int>())
    let other = Promise<Int, Never>()
    other.onCancel { cancelled.record(1) }
    let first = (deferreds.map(\.filled) + [other.future]).firstFilled()
    deferreds[3].fill(with: 3)
    deferreds[4].fill(with: 4)
    #expect(first.peek() == 3 && cancelled.events.isEmpty)
    #expect([Deferred<Int>]().firstFilled().peek() == nil)
  }

  // MARK: - Old code

  @Test("Code written for Deferred runs as before")
  @MainActor
  func oldCode() async throws {
    let (server, screen) = (Server(), FriendsScreen())
    let store = FriendsStore(server: server)
    let everything = store.everybody(in: [store, store])
    let greeting = store.quickest(of: [store])
    screen.reload(from: store)
    #expect(store.setGreeting("Hello") && !store.setGreeting("Bye"))
    Request(server.request).finish(["Ada", "Grace"])
    #expect(await greeting.outcome() == .success("Hello, Ada"))
    #expect(try await everything.future.outcome().get() == 4)
    _ = await store.friends().future.outcome()
    await withCheckedContinuation { done in store.friends().upon(.main) { _ in done.resume() } }
    #expect(screen.titles == ["Ada", "Grace"])
    screen.show(greeting)
    await withCheckedContinuation { done in greeting.upon(.main) { _ in done.resume() } }
    #expect(screen.titles.last == "Hello, Ada")
    #expect(printAll(Future(value: ["x"])) == ["x"])
    #expect(await store.lengths(of: [Deferred(filledWith: "four")]).outcome() == .success([4]))

    let bad = Server()
    let badStore = FriendsStore(server: bad)
    let (none, cached) = (badStore.friendsOrNone(), badStore.cachedFriends([Friend(name: "Alan")]))
    Request(bad.request).finish([""])
    #expect(try await none.future.outcome().get() == [])
    #expect(try await cached.future.outcome().get().map(\.name) == ["Alan"])

    let cancelled = FriendsStore(server: Server())
    let lost = cancelled.friendsOrNone()
    screen.reload(from: cancelled)
    screen.close()
    await #expect(throws: StoreError.userCancelled) { try await lost.future.outcome().get() }
  }
}
