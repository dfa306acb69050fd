import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("A cache of futures")
struct FutureCacheTests {
  private typealias Cache = FutureCache<String, Int, TestError>

  /// Loads that the test resolves.
  private struct Loads: Sendable {
    let started = Recorder<Promise<Int, TestError>>()

    func start() -> Future<Int, TestError> {
      let load = Promise<Int, TestError>()
      started.record(load)
      return load.future
    }

    var count: Int { started.events.count }
    subscript(index: Int) -> Promise<Int, TestError> { started.events[index] }
  }

  private let loads = Loads()
  private let manual = ManualContext()

  @Test("A caller that asks while the load delivers its value gets the value")
  func askedDuringDelivery() {
    let cache = Cache()
    let asked = Recorder<Result<Int, TestError>?>()
    let loads = loads
    let work = loads.start().tap(on: .immediate) { _ in
      asked.record(cache.future(for: "a", loads.start).peek())
    }
    cache.future(for: "a") { work }.whenResolved(on: .immediate) { _ in
      asked.record(cache.future(for: "a", loads.start).peek())
    }
    loads[0].succeed(1)
    // The first caller joins the load, which has not ended.
    #expect(asked.events == [nil, .success(1)])
    #expect(loads.count == 1)
  }

  @Test("A value expires on the clock of the context, and its timer goes with it")
  func expiry() {
    let cache = Cache(keepingFor: .seconds(60), timer: manual.context)
    _ = cache.future(for: "a", loads.start)
    manual.advance(by: .seconds(100))
    loads[0].succeed(1)
    manual.advance(by: .milliseconds(59_999))
    #expect(cache.future(for: "a", loads.start).peek() == .success(1))
    manual.advance(by: .milliseconds(1))
    #expect(cache.peek("a") == nil)
    _ = cache.future(for: "a", loads.start)
    #expect(loads.count == 2)
    loads[1].succeed(2)
    cache.remove("a")
    #expect(manual.pendingCount == 0)
  }

  @Test("The lifetime can depend on the value; zero keeps nothing")
  func lifetimeOfValue() {
    let cache = Cache(timer: manual.context) { value in .seconds(value) }
    for value in [0, 2] {
      _ = cache.future(for: "\(value)", loads.start)
      loads.started.events.last?.succeed(value)
    }
    #expect(cache.peek("0") == nil)
    #expect(cache.peek("2") == 2)
    manual.advance(by: .seconds(2))
    #expect(cache.peek("2") == nil)
  }

  @Test("After `remove`, a running load still serves its callers, and a new caller starts a new load, which is kept")
  func removedDuringLoad() {
    let cache = Cache()
    let old = cache.future(for: "a", loads.start)
    cache.remove("a")
    let new = cache.future(for: "a", loads.start)
    #expect(loads.count == 2)
    loads[1].succeed(2)
    loads[0].succeed(1)
    #expect([old.peek(), new.peek()] == [.success(1), .success(2)])
    #expect(cache.peek("a") == 2)
    cache.removeAll()
    #expect(cache.peek("a") == nil)
  }

  @Test("`remove(_:where:)` drops the stale value only, and leaves a load alone")
  func removedIfStale() {
    let cache = Cache(keepingFor: .seconds(60), timer: manual.context)
    let first = cache.future(for: "a", loads.start)
    cache.remove("a") { _ in true }
    loads[0].succeed(1)
    #expect(first.peek() == .success(1))
    cache.remove("a") { $0 == 0 }
    #expect(cache.peek("a") == 1)
    cache.remove("a") { $0 == 1 }
    #expect(cache.peek("a") == nil)
    _ = cache.future(for: "a", loads.start)
    loads[1].succeed(2)
    cache.remove("a") { $0 == 1 }
    #expect(cache.peek("a") == 2)
    // The timer of the first value has gone with the value.
    #expect(manual.pendingCount == 1)
  }

  @Test("When all callers have left, the load is cancelled; a caller that comes meanwhile starts a new load")
  func cancelled() {
    let cache = FutureCache<String, Int, any Error>()
    let log = Recorder<String>()
    let later = Recorder<Future<Int, any Error>>()
    let second = Promise<Int, any Error>()
    let held = Promise<Int, any Error>()
    held.onCancel {
      log.record("cancelled first")
      later.record(
        cache.future(for: "a") {
          log.record("second")
          return second.future
        }
      )
    }
    let callers = (1...2).map { _ in
      cache.future(for: "a") {
        log.record("first")
        return held.future
      }
    }
    callers[0].cancel()
    #expect(log.events == ["first"])
    callers[1].cancel()
    #expect(log.events == ["first", "cancelled first", "second"])
    let joined = cache.future(for: "a") { .succeeded(3) }
    second.succeed(2)
    #expect(later.events[0].loaded == 2)
    #expect(joined.loaded == 2)
    #expect(cache.peek("a") == 2)
  }

  @Test("R17: a load that all callers have left is not kept, although its failure type cannot represent cancellation")
  func cancelledWithoutCancelledCase() {
    let cache = FutureCache<String, Int, Never>()
    let load = Promise<Int, Never>()
    let first = cache.future(for: "a") { load.future }
    first.cancel()
    let second = cache.future(for: "a") { .succeeded(2) }
    load.succeed(1)
    #expect(first.peek() == .success(1))
    #expect(second.peek() == .success(2))
    #expect(cache.peek("a") == 2)
  }

  @Test("A load that is dropped, or never resolves, does not keep its key")
  func droppedLoad() {
    let cache = FutureCache<String, Int, any Error>()
    let first = cache.future(for: "a") { Promise<Int, any Error>("load").future }
    #expect(throws: BrokenPromise.self) { _ = try first.peek()?.get() }
    #expect(cache.future(for: "a") { .succeeded(2) }.loaded == 2)
  }

  @Test("A value is released when it expires, is removed, or the cache goes away")
  func released() {
    final class Image: Sendable {}
    let cache = FutureCache<SingleKey, Image, Never>(keepingFor: .seconds(1), timer: manual.context)
    for drop in [{ manual.advance(by: .seconds(1)) }, { cache.remove() }, { cache.remove { _ in true } }] {
      let (image, _) = withTracked(Image()) { image in cache.future { .succeeded(image) } }
      #expect(!image.isReleased)
      #expect(cache.peek() === image.object)
      drop()
      #expect(image.isReleased)
    }
    let (image, _) = withTracked(Image()) { image in
      let other = FutureCache<SingleKey, Image, Never>(keepingFor: .seconds(1), timer: manual.context)
      _ = other.future { .succeeded(image) }
    }
    #expect(image.isReleased)
    #expect(manual.pendingCount == 0)
  }

  @Test("A load that waits for its own key: when the other callers leave, it is cancelled, and the key is free")
  func ownKey() {
    let cache = FutureCache<String, Int, any Error>()
    let before = Promise<Int, any Error>()
    let first = cache.future(for: "a") { before.future.flatMap { _ in cache.future(for: "a") { .succeeded(1) } } }
    before.succeed(1)
    let second = cache.future(for: "a") { .succeeded(2) }
    first.cancel()
    #expect(second.peek() == nil)
    second.cancel()
    #expect(cache.future(for: "a") { .succeeded(3) }.loaded == 3)
  }

  #if DEBUG
    @Test("R4: a wait for a load of a released cache traps in debug builds, and the sentence says to keep the cache")
    func releasedCacheSentence() async throws {
      let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        var cache: FutureCache<SingleKey, Int, Never>? = FutureCache("token")
        let load = Promise<Int, Never>()
        cache?.future { load.future }.whenResolved(on: .immediate) { _ in }
        cache = nil
      }
      let output = String(decoding: result.standardErrorContent, as: UTF8.self)
      #expect(output.contains("The FutureCache \"token\" was released before its future"), "\(output)")
      #expect(output.contains("Keep that object while its futures are pending."), "\(output)")
    }

    @Test("A debug build says that a load asks for its own key: at once, or when its other callers have left")
    func ownKeySentence() async throws {
      let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
        let cache = FutureCache<String, Int, any Error>("token")
        _ = cache.future(for: "a") { cache.future(for: "a", fileID: "App/Token.swift", line: 7) { .never } }
        let before = Promise<Int, any Error>()
        let caller = cache.future(for: "b") { before.future.flatMap { _ in cache.future(for: "b") { .never } } }
        before.succeed(1)
        caller.cancel()
        // Callers that do not wait for themselves cause no sentence.
        let others = (0..<3).map { _ in cache.future(for: "c") { .never } }
        for other in others { other.cancel() }
      }
      let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        .filter { $0.contains("swift-futures: ") }
      #expect(lines.count == 2)
      #expect(lines.first?.contains("key a of \"token\" asks for its own key (App/Token.swift:7)") == true)
      #expect(lines.last?.contains("key b of \"token\" waited for its own key") == true)
    }
  #endif

  @Test("Racing threads never load twice at the same time, and a kept value is never loaded again")
  func racingThreads() {
    for _ in 0..<200 {
      let cache = FutureCache<SingleKey, Int, any Error>()
      let running = Locked(0)
      let loaded = Locked(0)
      let ask: @Sendable () -> Void = {
        let future = cache.future {
          running.withLock { count in
            count += 1
            #expect(count == 1)
          }
          return Future<Int, any Error>(on: .global()) {
            running.withLock { $0 -= 1 }
            loaded.withLock { $0 += 1 }
            return 1
          }
        }
        _ = future.wait()
      }
      race([ask, ask, ask, ask])
      #expect(loaded.withLock { $0 } == 1)
    }
  }
}

/// A random sequence of calls of a cache, beside a model without any of its steps.
@Suite("A cache of futures, as a model")
struct FutureCacheModelTests {
  private enum End: Equatable { case pending, value(Int), failed, cancelled }

  /// The state of a key in the cache.
  private enum Slot { case load(Int), value(Int, until: Int) }

  @Test("R16, R17: random calls give the results of a model: one load for its callers, one value until it expires")
  func random() {
    var generator = SplitMix64(seed: 55)
    for round in 0..<TestTier.choose(standard: 100, thorough: 10_000) {
      let manual = ManualContext()
      let cache = FutureCache<Int, Int, any Error>(keepingFor: .seconds(3), timer: manual.context)
      let (loads, stopped) = (Recorder<Promise<Int, any Error>>(), Recorder<Int>())
      var (now, slots, ends) = (0, [Int: Slot](), [End]())
      var futures: [Future<Int, any Error>] = []
      var callers: [[Int]] = []  // of each load
      for step in 0..<60 {
        let key = Int.random(in: 0..<2, using: &generator)
        let picked = callers.indices.randomElement(using: &generator)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1:
          futures.append(
            cache.future(for: key) {
              let (load, number) = (Promise<Int, any Error>(), loads.events.count)
              load.onCancel { stopped.record(number) }
              loads.record(load)
              return load.future
            }
          )
          if case .value(let value, let end) = slots[key], now < end {
            ends.append(.value(value))
          } else {
            if case .load? = slots[key] {
            } else {
              slots[key] = .load(callers.count)
              callers.append([])
            }
            if case .load(let load)? = slots[key] { callers[load].append(ends.count) }
            ends.append(.pending)
          }
        case 2:
          guard let caller = futures.indices.randomElement(using: &generator), ends[caller] == .pending else { break }
          futures[caller].cancel()
          ends[caller] = .cancelled
          for load in callers.indices where callers[load].contains(caller) {
            callers[load].removeAll { $0 == caller }
            if callers[load].isEmpty { slots = slots.filter { if case .load(load) = $1 { false } else { true } } }
          }
        case 3, 4:
          guard let load = picked, !callers[load].isEmpty else { break }
          let fails = Int.random(in: 0..<4, using: &generator) == 0
          if fails { loads.events[load].fail(TestError()) } else { loads.events[load].succeed(step) }
          for caller in callers[load] { ends[caller] = fails ? .failed : .value(step) }
          callers[load] = []
          for (key, slot) in slots {
            if case .load(load) = slot { slots[key] = fails ? nil : .value(step, until: now + 3) }
          }
        case 5:
          manual.advance(by: .seconds(1))
          now += 1
        default:
          cache.remove(key)
          slots[key] = nil
        }
        let found = futures.map { future -> End in
          switch future.peek() {
          case .success(let value)?: .value(value)
          case .failure(let error)?: error is CancellationError ? .cancelled : .failed
          case nil: .pending
          }
        }
        guard found != ends || loads.events.count != callers.count else { continue }
        Issue.record(
          "Round \(round), step \(step): \(found), \(loads.events.count) loads; not \(ends), \(callers.count)."
        )
        return
      }
    }
  }
}

extension Future {
  /// The value of a resolved future.
  fileprivate var loaded: Value? { try? peek()?.get() }
}
