import AllocationCounter
import Futures
import FuturesTesting
import TestSupport
import Testing

/// The result of a combinator, in one type for all combinators.
private enum Answer: Equatable {
  case value(Int), values([Int]), optionals([Int?]), results([Result<Int, TestError>])
  case error(TestError), errors([TestError])
}

/// Each combinator, with a model of its result.
enum Combinator: CaseIterable, Sendable {
  case zip, all, allSettled, allOrErrors, allOptional, allSucceeding, race, firstSuccess, reduce

  /// The combinators that one input can decide alone, with the deciding result.
  static let decidable: [(combinator: Combinator, decision: Result<Int, TestError>)] = [
    (.zip, .failure(TestError(1))), (.all, .failure(TestError(1))), (.reduce, .failure(TestError(1))),
    (.race, .success(1)), (.race, .failure(TestError(1))), (.firstSuccess, .success(1)),
  ]

  /// Combines two numbers so that the order of all of them matters.
  static let next: @Sendable (Int, Int) -> Int = { $0 &* 31 &+ $1 }

  fileprivate func combine(_ futures: [Future<Int, TestError>]) -> Future<Answer, Never> {
    switch self {
    case .zip:
      precondition(futures.count == 4)
      return Future.zip(futures[0], futures[1], futures[2], futures[3])
        .map { .values([$0.0, $0.1, $0.2, $0.3]) }.recover { .error($0) }
    case .all: return Future.all(futures).map { .values($0) }.recover { .error($0) }
    case .allSettled: return Future.allSettled(futures).map { .results($0) }
    case .allOrErrors: return Future.allOrErrors(futures).map { .values($0) }.recover { .errors($0.errors) }
    case .allOptional: return Future.allOptional(futures).map { .optionals($0) }
    case .allSucceeding: return Future.allSucceeding(futures).map { .values($0) }
    case .race: return Future.race(futures).map { .value($0) }.recover { .error($0) }
    case .firstSuccess: return Future.firstSuccess(futures).map { .value($0) }.recover { .errors($0.errors) }
    case .reduce: return Future.reduce(1, futures, Self.next).map { .value($0) }.recover { .error($0) }
    }
  }

  /// The model of the combinator's result.
  /// - Parameters:
  ///   - arrivals: The inputs that have resolved or broken so far, in that order.
  ///   - results: The results of the inputs; `nil` for an input that breaks.
  /// - Returns: The result of the combinator; `nil` if it has none yet, or never gets one.
  fileprivate func answer(after arrivals: some Collection<Int>, of results: [Result<Int, TestError>?]) -> Answer? {
    for result in arrivals.lazy.compactMap({ results[$0] }) {
      switch (self, result) {
      case (.race, .success(let value)), (.firstSuccess, .success(let value)): return .value(value)
      case (.race, .failure(let error)), (.all, .failure(let error)), (.zip, .failure(let error)),
        (.reduce, .failure(let error)):
        return .error(error)
      default: continue
      }
    }
    guard arrivals.count == results.count, !results.contains(nil) else { return nil }
    let all = results.map { $0! }
    let optionals = all.map { try? $0.get() }
    let errors = all.compactMap { if case .failure(let error) = $0 { error } else { nil } }
    switch self {
    case .zip, .all, .allSucceeding: return .values(optionals.compactMap { $0 })
    case .reduce: return .value(optionals.compactMap { $0 }.reduce(1, Self.next))
    case .allSettled: return .results(all)
    case .allOrErrors: return errors.isEmpty ? .values(optionals.compactMap { $0 }) : .errors(errors)
    case .allOptional: return .optionals(optionals)
    case .firstSuccess: return .errors(errors)
    case .race: return nil
    }
  }
}

struct GatheringTests {
  /// All ways in which four inputs can end: with a value, with an error, or dropped.
  static let endings: [[Result<Int, TestError>?]] = (0..<81).map { number in
    [1, 3, 9, 27].enumerated().map { index, power in
      [.success(index), .failure(TestError(index)), nil][number / power % 3]
    }
  }

  // Serialized: a test that records broken promises also records the broken promises of other threads. That adds blocks
  // to these counts.
  @Test(
    "R4, R5, R11, R12: every combinator behaves like its model, in many orders of every ending of four inputs",
    .serialized,
    arguments: Combinator.allCases
  )
  func everyOrder(combinator: Combinator) {
    let everyOrder = permutations(of: [0, 1, 2, 3])
    let orders = TestTier.choose(standard: stride(from: 0, to: 24, by: 5).map { everyOrder[$0] }, thorough: everyOrder)
    let left = leastBlocksLeft(count: orders.count, warmUp: 2) { number in
      for results in Self.endings {
        for order in orders.prefix(number) {
          // The order of the inputs that end before the combination does not matter.
          for count in 0...4 where order.prefix(count).elementsEqual(order.prefix(count).sorted()) {
            guard run(combinator, results, order, resolvedBefore: count) else { return }
          }
        }
      }
    }
    #expect(left <= 0)
  }

  /// Ends the inputs in `order`; the first `count` of them end before the combination.
  /// - Returns: Whether each step agreed with the model.
  private func run(
    _ combinator: Combinator,
    _ results: [Result<Int, TestError>?],
    _ order: [Int],
    resolvedBefore count: Int
  ) -> Bool {
    var promises: [Promise<Int, TestError>?] = results.map { _ in Promise() }
    func end(_ index: Int) {
      if let result = results[index] {
        promises[index]?.resolve(result)
        promises[index] = nil
      } else {
        _ = FuturesTesting.brokenPromises(madeIn: #fileID) { promises[index] = nil }
      }
    }
    var futures = promises.map { $0!.future }
    for index in order.prefix(count) {
      end(index)
      // Every second input is a future that never had a promise.
      if index.isMultiple(of: 2), let result = results[index] { futures[index] = .resolved(result) }
    }
    let derived = combinator.combine(futures)
    futures = []
    let arrivals = order.prefix(count).sorted() + order.dropFirst(count)
    let answers = Locked<[Answer]>([])
    let (captured, _) = withTracked { object in
      derived.whenSucceeded(on: .immediate) { answer in
        object.use()
        answers.withLock { $0.append(answer) }
      }
    }
    for arrived in count...4 {
      if arrived > count { end(order[arrived - 1]) }
      let expected = combinator.answer(after: arrivals.prefix(arrived), of: results)
      guard derived.peek() == expected.map({ .success($0) }), answers.withLock({ $0 }) == (expected.map { [$0] } ?? []),
        captured.isReleased != (expected == nil && arrived < 4)
      else {
        let (actual, delivered) = (String(describing: derived.peek()), answers.withLock { $0 })
        Issue.record("\(combinator) of \(results) in order \(order), \(count) before, \(arrived) so far: \(actual)")
        Issue.record("expected \(expected as Any), delivered \(delivered), released: \(captured.isReleased)")
        return false
      }
    }
    return true
  }

  // MARK: - Kinds of inputs

  @Test("R11: no inputs resolve at once")
  func noInputsResolveAtOnce() {
    let none: [Future<Int, TestError>] = []
    #expect(Future.all(none).peek() == .success([]))
    #expect(Future.allSettled(none).peek() == .success([]))
    #expect(try! Future.allOrErrors(none).peek()?.get() == [])
    #expect(Future.allOptional(none).peek() == .success([]))
    #expect(Future.allSucceeding(none).peek() == .success([]))
    #expect(Future.concurrent([Int](), limit: 1) { _ in Future<Int, TestError>.never }.peek() == .success([]))
    let settled = Future.concurrentSettled([Int](), limit: 1) { _ in Future<Int, any Error>.never }
    #expect(settled.peek()?.get().isEmpty == true)
    #expect(Future.reduce("initial", none) { "\($0)\($1)" }.peek() == .success("initial"))
    #expect(Future<Void, TestError>.zip().isResolved)
  }

  @Test("A future that is given several times counts each time", arguments: Combinator.allCases)
  func sameFuture(combinator: Combinator) {
    let (success, failure) = (Result<Int, TestError>.success(7), Result<Int, TestError>.failure(TestError(8)))
    for (result, other) in [(success, failure), (failure, success), (success, success)] {
      let (promise, last) = (Promise<Int, TestError>(), Promise<Int, TestError>())
      let futures = [promise.future, promise.future, last.future, promise.future]
      func check(_ derived: Future<Answer, Never>, after arrivals: [Int]) {
        let answer = combinator.answer(after: arrivals, of: [result, result, other, result])
        #expect(derived.peek() == answer.map { .success($0) }, "\(combinator), \(result), \(other)")
      }
      let derived = combinator.combine(futures)
      promise.resolve(result)
      check(derived, after: [0, 1, 3])
      last.resolve(other)
      check(derived, after: [0, 1, 3, 2])
      check(combinator.combine(futures), after: [0, 1, 2, 3])
    }
  }

  @Test("R2b, R12: lazy inputs start in order, and none starts after the deciding input", arguments: [false, true])
  func lazyInputs(isDecidedBefore: Bool) {
    for (combinator, decision) in Combinator.decidable {
      let started = Recorder<Int>()
      let futures = (0..<4).map { index in
        Future<Int, TestError>.lazy { promise in
          started.record(index)
          if index == 1 { promise.resolve(decision) } else { withExtendedLifetime(promise) {} }
        }
      }
      let inputs = isDecidedBefore ? Array(futures[0...2]) + [.resolved(decision)] : futures
      let derived = combinator.combine(inputs)
      let answer = combinator.answer(after: [0], of: [decision])
      #expect(started.events == (isDecidedBefore ? [] : [0, 1]), "\(combinator)")
      #expect(derived.peek() == answer.map { .success($0) }, "\(combinator)")
    }
  }

  // MARK: - zip

  @Test("R11: zip of different types gives them in their order; zip of one future is that future")
  func zipOfDifferentTypes() throws {
    let (a, b, c) = (Promise<Int, TestError>(), Promise<String, TestError>(), Promise<Double?, TestError>())
    let pending = Future.zip(a.future, b.future, .succeeded(true), c.future)
    c.succeed(nil)
    a.succeed(1)
    #expect(!pending.isResolved)
    b.succeed("two")
    for zipped in [pending, Future.zip(a.future, .succeeded("two"), .succeeded(true), c.future)] {
      #expect(try #require(zipped.peek()).get() == (1, "two", true, nil))
    }
    let (promise, failing) = (Promise<Int, TestError>(), Promise<Int, TestError>())
    let (one, failed): (Future<Int, TestError>, Future<Int, TestError>) = (.zip(promise.future), .zip(failing.future))
    #expect(one.peek() == nil)
    promise.succeed(1)
    failing.fail(TestError(2))
    #expect(one.peek() == .success(1) && failed.peek() == .failure(TestError(2)))
  }
}

struct GatheringLifetimeTests {
  @Test("R12: 10,000 lost races and failed joins leave nothing in the inputs that stay pending")
  func leavesInputs() {
    for (combinator, decision) in Combinator.decidable {
      let pending = Promise<Int, TestError>()
      func run(_ count: Int) {
        for round in 0..<count {
          let deciding = Promise<Int, TestError>()
          var futures = [pending.future, pending.future, pending.future]
          futures.insert(deciding.future, at: round % 4)
          if round % 8 < 4 { deciding.resolve(decision) }
          let derived = combinator.combine(futures)
          deciding.resolve(decision)
          #expect(derived.isResolved, "round \(round)")
        }
      }
      #expect(leastBytesLeft(count: TestTier.choose(standard: 1_000, thorough: 10_000), run) <= 0, "\(combinator)")
    }
  }

  @Test(
    "R11: an input costs the same number of blocks and allocations, however many inputs there are",
    arguments: Combinator.allCases.filter { $0 != .zip }
  )
  func linearGrowth(combinator: Combinator) {
    let many = TestTier.choose(standard: 5_000, thorough: 100_000)
    var (small, large) = (cost(of: combinator, count: 10), [Int64]())
    // A measurement can include an allocation that the Swift runtime makes once.
    for _ in 0..<5 where small != large {
      small = cost(of: combinator, count: 1_000)
      large = cost(of: combinator, count: many)
    }
    #expect(small == large)
    #if !DEBUG
      // Without optimisation, closures take more blocks.
      #expect(zip(small, [1, 1, 0]).allSatisfy { $0 <= $1 })
    #endif
  }

  /// Returns the blocks and the allocations of each input, and the allocations of each completion.
  ///
  /// Integers: the division drops the few allocations of arrays that double.
  private func cost(of combinator: Combinator, count: Int) -> [Int64] {
    let promises = (0..<count).map { _ in Promise<Int, TestError>() }
    let futures = promises.map(\.future)
    let before = AllocationCounts.ofThread()
    let derived = combinator.combine(futures)
    let pending = AllocationCounts.ofThread()
    // The last input decides, if that is possible.
    let isFailure = combinator == .firstSuccess
    for (index, promise) in promises.enumerated().reversed() {
      promise.resolve(isFailure ? .failure(TestError(index)) : .success(index))
    }
    let after = withExtendedLifetime((promises, futures)) { AllocationCounts.ofThread() }
    #expect(derived.isResolved)
    return [
      (pending.liveBlocks - before.liveBlocks) / Int64(count),
      (pending.allocations - before.allocations) / Int64(count),
      (after.allocations - pending.allocations) / Int64(count),
    ]
  }

  @Test(
    "R6: a chain of joins and races takes no stack, resolved or released unresolved",
    arguments: [false, true]
  )
  func chainOfJoinsTakesNoStack(resolves: Bool) {
    onThread {
      var promise: Promise<Int, TestError>? = Promise()
      var future = promise!.future
      for _ in 0..<DepthTests.count / 10 {
        future = Future.all([future, .succeeded(1)]).map { $0[0] + $0[1] }
        future = Future.race([future, .never])
        future = Future.zip(future, .succeeded(1)).map { $0.0 + $0.1 }
      }
      if resolves { promise!.succeed(0) }
      promise = nil
      #expect(future.peek() == (resolves ? .success(DepthTests.count / 10 * 2) : nil))
    }
  }
}
