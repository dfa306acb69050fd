import Futures
import FuturesTesting
import TestSupport
import Testing

// Algebraic laws. Each test builds both sides of a law over the same generated inputs. None, some or all inputs are
// resolved before. The test resolves the others in every order. After each resolution both sides must have the same
// state.
struct LawTests {
  typealias Outcome = Result<Int, TestError>
  typealias Input = Future<Int, TestError>
  fileprivate typealias Side<V: Sendable, F: Error> = @Sendable (_ inputs: [Input]) -> Future<V, F>

  static let seeds: Range<Int> = 0..<TestTier.choose(standard: 3, thorough: 12)

  /// Checks that `left` and `right` behave alike: over separate inputs, over the same inputs, and inside callbacks.
  private func same<V: Equatable & Sendable, F: Error & Equatable>(
    _ seed: Int,
    inputs: Int = 3,
    _ left: @escaping Side<V, F>,
    _ right: @escaping Side<V, F>,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    for scenario in Scenario.all(seed: seed, inputs: inputs) {
      let apart = try scenario.states([left]) + scenario.states([right])
      try #require(apart[0] == apart[1], "\(scenario)", sourceLocation: location)
      let together = try scenario.states([left, right])
      try #require(together == apart, "over the same inputs, \(scenario)", sourceLocation: location)
      let nested = try scenario.states([left, right], nesting: 16)
      try #require(nested == apart, "inside callbacks, \(scenario)", sourceLocation: location)
    }
  }

  private func arrows(_ seed: Int) -> (Arrow, Arrow, Arrow) {
    var random = SplitMix64(seed: UInt64(seed))
    return (Arrow(&random), Arrow(&random), Arrow(&random))
  }

  private func functions(_ seed: Int) -> (Function, Function) {
    var random = SplitMix64(seed: ~UInt64(seed))
    return (Function(&random), Function(&random))
  }
}

// MARK: - Values

extension LawTests {
  @Test("map: identity and composition", arguments: seeds)
  func map(seed: Int) throws {
    let (m, (f, g)) = (arrows(seed).0, functions(seed))
    try same(seed, { m($0).map { $0 } }, { m($0) })
    try same(seed, { m($0).map { f($0) }.map { g($0) } }, { m($0).map { g(f($0)) } })
  }

  @Test("map equals flatMap to a future that has succeeded, or failed where the transform throws", arguments: seeds)
  func mapIsFlatMap(seed: Int) throws {
    let (m, (f, _)) = (arrows(seed).0, functions(seed))
    try same(seed, { m($0).map { f($0) } }, { m($0).flatMap { .succeeded(f($0)) } })
    let throwing: @Sendable (Int) throws(TestError) -> Int = { value throws(TestError) in
      guard value.isMultiple(of: 2) else { throw TestError(value) }
      return f(value)
    }
    let catching: @Sendable (Int) -> Input = { value in .catching { () throws(TestError) in try throwing(value) } }
    try same(seed, { m($0).map(throwing) }, { m($0).flatMap(catching) })
  }

  @Test("flatMap: left identity and right identity", arguments: seeds)
  func flatMapIdentity(seed: Int) throws {
    let (m, f, _) = arrows(seed)
    try same(seed, { Input.succeeded(7).flatMap(f.over($0)) }, { f.over($0)(7) })
    try same(seed, { m($0).flatMap { .succeeded($0) } }, { m($0) })
  }

  @Test("flatMap: associativity", arguments: seeds)
  func flatMapAssociativity(seed: Int) throws {
    let (m, f, g) = arrows(seed)
    try same(
      seed,
      { inputs in m(inputs).flatMap(f.over(inputs)).flatMap(g.over(inputs)) },
      { inputs in m(inputs).flatMap { f.over(inputs)($0).flatMap(g.over(inputs)) } }
    )
  }
}

// MARK: - Failures

extension LawTests {
  @Test("mapError: identity and composition", arguments: seeds)
  func mapError(seed: Int) throws {
    let (m, (f, g)) = (arrows(seed).0, functions(seed))
    try same(seed, { m($0).mapError { $0 } }, { m($0) })
    try same(seed, { m($0).mapError { f($0) }.mapError { g($0) } }, { m($0).mapError { g(f($0)) } })
  }

  @Test("flatMapError: left identity, right identity, and equality of mapError", arguments: seeds)
  func flatMapErrorIdentity(seed: Int) throws {
    let ((m, f, _), (g, _)) = (arrows(seed), functions(seed))
    try same(seed, { Input.failed(TestError(7)).flatMapError(f.handling($0)) }, { f.handling($0)(TestError(7)) })
    try same(seed, { m($0).flatMapError { .failed($0) } }, { m($0) })
    try same(seed, { m($0).mapError { g($0) } }, { m($0).flatMapError { .failed(g($0)) } })
  }

  @Test("flatMapError: associativity", arguments: seeds)
  func flatMapErrorAssociativity(seed: Int) throws {
    let (m, f, g) = arrows(seed)
    try same(
      seed,
      { inputs in m(inputs).flatMapError(f.handling(inputs)).flatMapError(g.handling(inputs)) },
      { inputs in m(inputs).flatMapError { f.handling(inputs)($0).flatMapError(g.handling(inputs)) } }
    )
  }

  @Test("materialize can be undone, and equals map and recover", arguments: seeds)
  func materializeIsReversible(seed: Int) throws {
    let m = arrows(seed).0
    try same(seed, { m($0).materialize().flatMap { Input.resolved($0) } }, { m($0) })
    try same(seed, { m($0).materialize() }, { m($0).map { Outcome.success($0) }.recover { .failure($0) } })
  }

  @Test("recover and setFailureType undo each other, and agree with flatMapError and flatMap", arguments: seeds)
  func recoverUndoesSetFailureType(seed: Int) throws {
    let ((m, g, _), (f, _)) = (arrows(seed), functions(seed))
    @Sendable func safe(_ inputs: [Input]) -> Future<Int, Never> { m(inputs).recover { f($0.number) } }
    try same(seed, { safe($0).setFailureType(to: TestError.self).recover { $0.number } }, { safe($0) })
    try same(seed, { safe($0).setFailureType() }, { m($0).flatMapError { Input.succeeded(f($0.number)) } })
    // The overloads of flatMap from, and to, a future that cannot fail.
    try same(seed, { safe($0).flatMap(g.over($0)) }, { safe($0).setFailureType().flatMap(g.over($0)) })
    try same(
      seed,
      { inputs in g(inputs).flatMap { value in safe(inputs).map { $0 &+ value } } },
      { inputs in g(inputs).flatMap { value in safe(inputs).map { $0 &+ value }.setFailureType(to: TestError.self) } }
    )
  }
}

// MARK: - Generated inputs

/// A function of numbers, and of errors; two such functions do not commute.
private struct Function: Sendable {
  private let factor: Int
  private let summand: Int

  init(_ random: inout SplitMix64) {
    factor = .random(in: 2..<10, using: &random)
    summand = .random(in: 1..<100, using: &random)
  }

  func callAsFunction(_ value: Int) -> Int { value &* factor &+ summand }
  func callAsFunction(_ error: TestError) -> TestError { TestError(self(error.number)) }
}

/// A function from a number to a future, which is ready or depends on the inputs, in one form for even and one for odd
/// numbers.
private struct Arrow: Sendable {
  private enum Form: Sendable {
    case succeeded, failed
    case input(Int)
    case mapped(Int)
    case chained(Int, Int)
  }

  private let forms: [Form]
  private let function: Function

  init(_ random: inout SplitMix64) {
    forms = (0..<2).map { _ in
      let (first, second) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
      return switch Int.random(in: 0..<8, using: &random) {
      case 0: .succeeded
      case 1: .failed
      case 2...3: .input(first)
      case 4...5: .mapped(first)
      default: .chained(first, second)
      }
    }
    function = Function(&random)
  }

  func callAsFunction(_ inputs: [LawTests.Input]) -> LawTests.Input { over(inputs)(0) }

  func handling(_ inputs: [LawTests.Input]) -> @Sendable (TestError) -> LawTests.Input {
    { error in over(inputs)(error.number) }
  }

  func over(_ inputs: [LawTests.Input]) -> @Sendable (Int) -> LawTests.Input {
    { value in
      let result = function(value)
      switch forms[value & 1] {
      case .succeeded: return .succeeded(result)
      case .failed: return .failed(TestError(result))
      case .input(let index): return inputs[index]
      case .mapped(let index):
        return inputs[index].map { $0 ^ result }.mapError { TestError($0.number ^ result) }
      case .chained(let first, let second):
        return inputs[first]
          .flatMap { value in inputs[second].map { $0 &+ value ^ result } }
          .flatMapError { error in
            inputs[second].mapError { TestError($0.number &+ error.number ^ result) }
          }
      }
    }
  }
}

/// The outcomes of the inputs, and the order of their resolutions.
private struct Scenario: Sendable {
  let outcomes: [LawTests.Outcome]

  /// Whether an input that is resolved from the start has no promise.
  let isReadyMade: [Bool]

  /// The order of the resolutions; the first `countBefore` of them come before the futures are made.
  let order: [Int]
  let countBefore: Int

  /// All orders, and all values of `countBefore`, for one set of outcomes.
  static func all(seed: Int, inputs: Int) -> [Scenario] {
    var random = SplitMix64(seed: ~UInt64(seed))
    let outcomes = (0..<inputs).map { _ in
      let number = Int.random(in: 0..<1000, using: &random)
      let isFailure = Int.random(in: 0..<3, using: &random) == 0
      return isFailure ? LawTests.Outcome.failure(TestError(number)) : .success(number)
    }
    let isReadyMade = outcomes.map { _ in Bool.random(using: &random) }
    return permutations(of: Array(outcomes.indices)).flatMap { order in
      (0...inputs).map {
        Scenario(outcomes: outcomes, isReadyMade: isReadyMade, order: order, countBefore: $0)
      }
    }
  }

  /// The results, at each step, of the futures that `sides` make of the inputs; throws if their observers get others.
  ///
  /// Everything runs inside `nesting` callbacks. Deep inside, deliveries are deferred.
  func states<V: Equatable & Sendable, F: Error & Equatable>(
    _ sides: [LawTests.Side<V, F>],
    nesting: Int = 0
  ) throws -> [[Result<V, F>?]] {
    let promises = outcomes.map { _ in Promise<Int, TestError>() }
    @Sendable func resolve(_ index: Int) { promises[index].resolve(outcomes[index]) }
    order.prefix(countBefore).forEach(resolve)
    let inputs = promises.indices.map { index in
      isReadyMade[index] && promises[index].isResolved
        ? .resolved(outcomes[index]) : promises[index].future
    }
    let futures = Recorder<Future<V, F>>()
    let notified = sides.map { _ in Recorder<Result<V, F>>() }
    nestDeliveries(nesting) {
      for (side, notified) in zip(sides, notified) {
        let future = side(inputs)
        future.whenResolved(on: .immediate) { notified.record($0) }
        futures.record(future)
      }
    }
    var states: [[Result<V, F>?]] = sides.map { _ in [] }
    for step in countBefore...order.count {
      if step > countBefore { nestDeliveries(nesting) { resolve(order[step - 1]) } }
      for (index, future) in futures.events.enumerated() {
        states[index].append(future.peek())
        try #require(notified[index].events == [future.peek()].compactMap(\.self), "R1, R2: \(self)")
      }
    }
    return states
  }
}
