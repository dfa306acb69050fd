import AllocationCounter
import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

struct SequencingTests {
  /// The way in which the work on an item ends; in a `ready` case it has ended when the item starts.
  enum Ending: CaseIterable, Sendable {
    case success, failure, dropped, readySuccess, readyFailure, readyDropped

    var isReady: Bool { self == .readySuccess || self == .readyFailure || self == .readyDropped }

    var result: Result<Void, TestError>? {
      switch self {
      case .success, .readySuccess: .success(())
      case .failure, .readyFailure: .failure(TestError())
      case .dropped, .readyDropped: nil
      }
    }
  }

  /// A minimal model of a correct queue.
  struct Model {
    let endings: [Ending]
    let limit: Int
    var started: [Int] = []
    var underWay: Set<Int> = []
    var broken = 0
    var failed: Int?

    var isOver: Bool { failed != nil || underWay.isEmpty && (started.count == endings.count || broken == limit) }

    var result: Result<[Int], TestError>? {
      if let failed { return .failure(TestError(failed)) }
      return isOver && broken == 0 ? .success(Array(endings.indices)) : nil
    }

    mutating func start() {
      while failed == nil, underWay.count + broken < limit, started.count < endings.count {
        let item = started.count
        started.append(item)
        underWay.insert(item)
        if endings[item].isReady { end(item) }
      }
    }

    mutating func end(_ item: Int) {
      underWay.remove(item)
      guard failed == nil else { return }
      switch endings[item].result {
      case .success?: break
      case .failure?: failed = item
      case nil: broken += 1
      }
      start()
    }
  }

  @Test(
    "R4, R5, R11, R12: the queue behaves like its model, in every order of every ending of four items",
    arguments: [1, 2, 3, 4, Int.max]
  )
  func everyOrder(limit: Int) {
    let kinds = Ending.allCases
    let orders = permutations(of: [0, 1, 2, 3])
    for number in 0..<1296 {
      let endings = [1, 6, 36, 216].map { kinds[number / $0 % 6] }
      let later = Set(endings.indices.filter { !endings[$0].isReady })
      // The order of items that are ready at once does not matter.
      for order in Set(orders.map { $0.filter(later.contains) }) {
        guard run(endings, order, limit: limit) else { return }
      }
    }
  }

  /// Ends the running items in `order`.
  /// - Returns: Whether each step agreed with the model.
  private func run(_ endings: [Ending], _ order: [Int], limit: Int) -> Bool {
    var model = Model(endings: endings, limit: limit)
    model.start()
    let work = Work()
    let (captured, derived) = withTracked { object in
      Future.concurrent(Array(endings.indices), limit: limit) { item in
        object.use()
        let future = work.start(item)
        if endings[item].isReady { work.end(item, endings[item].result) }
        return future
      }
    }
    let (observer, _) = withTracked { object in derived.whenResolved(on: .immediate) { _ in object.use() } }
    func check(_ step: Int) -> Bool {
      guard work.started == model.started, derived.peek() == model.result,
        captured.isReleased == model.isOver, observer.isReleased == model.isOver
      else {
        Issue.record(
          """
          \(endings) in order \(order) after \(step), at most \(limit): started \(work.started), not \(model.started); \
          \(String(describing: derived.peek())), not \(String(describing: model.result)); \
          over: \(model.isOver), released: \(captured.isReleased), \(observer.isReleased)
          """
        )
        return false
      }
      return true
    }
    guard check(0) else { return false }
    var step = 0
    while let item = order.first(where: { model.underWay.contains($0) && work.isUnderWay($0) }) {
      step += 1
      model.end(item)
      work.end(item, endings[item].result)
      guard check(step) else { return false }
    }
    #expect(model.isOver)
    return model.isOver
  }

  @Test(
    "R12, R16: a cancellation that has no case cancels the running items in the order of their start, and later ones",
    arguments: [1, 20]
  )
  func itemAfterSilentCancellation(limit: Int) {
    let cancelled = Recorder<Int>()
    let promises = (0..<40).map { _ in Promise<Int, TestError>() }
    for (item, promise) in promises.enumerated() { promise.onCancel { cancelled.record(item) } }
    let derived = Future.concurrent(0..<40, limit: limit) { promises[$0].future }
    derived.cancel()
    for item in 0..<40 {
      #expect(cancelled.events == Array(0..<min(item + limit, 40)), "item \(item)")
      #expect(!derived.isResolved, "item \(item)")
      promises[item].succeed(item)
    }
    #expect(derived.peek() == .success(Array(0..<40)))
  }

  // MARK: - Lifetimes

  @Test("R5: items are released after their start", arguments: [1, 2])
  func itemsReleased(limit: Int) {
    let work = Work()
    let items = Recorder<WeakReference<Tracked>>()
    let derived: Future<[Int], TestError>
    do {
      let objects = (0..<6).map { _ in Tracked() }
      for object in objects { items.record(WeakReference(object)) }
      derived = Future.concurrent(objects, limit: limit) { object in
        object.use()
        let all = items.events
        return work.start(all.firstIndex { $0.object === object }!)
      }
    }
    for item in 0..<3 {
      #expect(items.events.map(\.isReleased) == (0..<6).map { $0 < limit + item }, "item \(item)")
      work.end(item, .success(()))
    }
    work.end(3, .failure(TestError()))
    #expect(items.events.allSatisfy { $0.isReleased })
    #expect(derived.isResolved)
  }

  @Test(
    "R2b, R12: an item that makes another one fail while it starts does not keep the closure, and is not started if lazy",
    arguments: [false, true]
  )
  func failureWhileStarting(isLazy: Bool) {
    let pending = Promise<Int, TestError>()
    let log = Recorder<Int>()
    let (captured, _) = withTracked { object in
      let failing = Promise<Int, TestError>()
      let derived = Future.concurrent(0..<2, limit: 2) { item in
        object.use()
        if item == 0 { return failing.future }
        failing.fail(TestError())
        guard isLazy else { return pending.future }
        return .lazy { promise in
          log.record(item)
          promise.succeed(item)
        }
      }
      #expect(derived.peek() == .failure(TestError()))
    }
    #expect(captured.isReleased && log.events.isEmpty)
    withExtendedLifetime(pending) {}
  }
}

struct SequencingDepthTests {
  @Test("R6: many items that are resolved at once take no stack", arguments: [1, Int.max])
  func doneAtOnce(limit: Int) {
    onThread {
      let ready = Future<Int, TestError>.concurrent(0..<DepthTests.count, limit: limit) { .succeeded($0) }
      let resolved = Future<Int, TestError>.concurrent(0..<DepthTests.count, limit: limit) { item in
        Future { $0.succeed(item) }
      }
      for derived in [ready, resolved] { #expect(derived.peek() == .success(Array(0..<DepthTests.count))) }
    }
  }

  @Test("R6: many items that are resolved one after another take no stack, and leave no memory behind")
  func doneLater() {
    onThread {
      let held = HeldContext()
      let blocks = Recorder<Int64>()
      let derived = Future<Int, TestError>.concurrent(0..<DepthTests.count, limit: 2) { item in
        if item == 1_000 || item == DepthTests.count - 1 { blocks.record(AllocationCounts.ofThread().liveBlocks) }
        let promise = Promise<Int, TestError>()
        held.context.submit { promise.succeed(item) }
        return promise.future
      }
      held.runAll()
      #expect(derived.peek() == .success(Array(0..<DepthTests.count)))
      #expect(blocks.events.count == 2 && blocks.events[1] - blocks.events[0] < 10)
    }
  }

  @Test(
    "R11: items that two threads resolve are started once, one at a time, at most `limit`",
    arguments: [1, 2, 7, 64]
  )
  func threadsResolveItems(limit: Int) {
    let count = TestTier.choose(standard: 2_000, thorough: 10_000)
    let starts = Locked((isStarting: false, underWay: 0, items: [Int](), mistakes: 0))
    let open = Locked<[(Int, Promise<Int, TestError>)]>([])
    let available = DispatchSemaphore(value: 0)
    let derived = Future<Int, TestError>.concurrent(0..<count, limit: limit) { item in
      starts.withLock {
        $0.underWay += 1
        if $0.isStarting || $0.underWay > limit { $0.mistakes += 1 }
        $0.isStarting = true
        $0.items.append(item)
      }
      let promise = Promise<Int, TestError>()
      open.withLock { $0.append((item, promise)) }
      starts.withLock { $0.isStarting = false }
      available.signal()
      return promise.future
    }
    derived.whenResolved(on: .immediate) { _ in for _ in 0..<2 { available.signal() } }
    let resolve = { @Sendable in
      while true {
        // Waits that long only if a wake-up was lost, so that the test fails instead of hanging.
        guard available.wait(timeout: .now() + 30) == .success else { return }
        guard let (item, promise) = open.withLock({ $0.popLast() }) else { return }
        starts.withLock { $0.underWay -= 1 }
        promise.succeed(item * 2)
      }
    }
    race([resolve, resolve])
    #expect(derived.peek() == .success((0..<count).map { $0 * 2 }))
    #expect(starts.withLock { $0.items } == Array(0..<count))
    #expect(starts.withLock { $0.mistakes } == 0)
  }
}

/// The work on numbered items, which the test ends.
private final class Work: Sendable {
  private let starts = Recorder<Int>()
  private let promises = Locked<[Int: Promise<Int, TestError>]>([:])

  var started: [Int] { starts.events }

  func start(_ item: Int) -> Future<Int, TestError> {
    starts.record(item)
    let promise = Promise<Int, TestError>()
    promises.withLock { $0[item] = promise }
    return promise.future
  }

  func isUnderWay(_ item: Int) -> Bool { promises.withLock { $0[item] != nil } }

  /// Ends the work on `item`, if it was started; `nil` drops its promise.
  func end(_ item: Int, _ result: Result<Void, TestError>?) {
    var promise = promises.withLock { $0.removeValue(forKey: item) }
    switch result {
    case .success?: promise?.succeed(item)
    case .failure?: promise?.fail(TestError(item))
    case nil: _ = brokenPromises(madeIn: #fileID) { promise = nil }
    }
  }
}
