import Futures
import FuturesTesting
import TestSupport
import Testing

// Promises/A+, version 1.1 (https://promisesaplus.com), as far as it applies to typed futures. Each test has the number of
// its clauses. `fulfilled` is succeeded, `rejected` is failed, the `reason` is the error. `then(onFulfilled, nil)` is `map`,
// `flatMap` and `whenSucceeded`, `then(nil, onRejected)` is `mapError`, `flatMapError`, `recover` and `whenFailed`.
//
// Skipped:
// - 2.2.1 (arguments that are no functions are ignored), 2.2.5 (no `this`): the type system prevents that. Missing
//   arguments are 2.2.7.3 and 2.2.7.4, which have tests.
// - 2.3.3.2, 2.3.3.3.4.1 (reading or calling `then` throws): the requirement of `FutureProtocol` cannot throw.
//
// Reinterpreted:
// - 2.2.4 (callbacks run with a clean stack): here a context decides. `.immediate` runs inline by contract. Any other
//   context decides when and where. The test checks that a callback never runs before its context runs it.
// - 2.3.1 (a promise that resolves as itself is rejected with a TypeError): a typed failure cannot hold that; it traps.
// - 2.3.3 (thenables): foreign futures, by `Future(other)`. Only `flatMap` flattens: a value that happens to be a
//   future stays a value (2.3.3.4, 2.3.4), at any depth.
// - 2.3.3.3.4.2 (`then` throws before it calls anything): the other future drops its completion, a broken promise (R12).
@Suite("Promises/A+")
struct PromisesAPlusTests {
  typealias Outcome = Result<Int, TestError>

  static let outcomes: [Outcome] = [.success(1), .failure(TestError(2))]

  /// The time at which the future of a test gets its result.
  enum Source: CaseIterable, Sendable {
    case ready, promiseBefore, promiseAfter, later

    /// Returns a future, and a closure that resolves the future if it is pending.
    func make(_ outcome: Outcome) -> (future: Future<Int, TestError>, settle: () -> Void) {
      switch self {
      case .ready: return (.resolved(outcome), {})
      case .promiseBefore:
        let promise = Promise<Int, TestError>()
        promise.resolve(outcome)
        return (promise.future, {})
      case .promiseAfter:
        let promise = Promise<Int, TestError>()
        return (promise.future, { promise.resolve(outcome) })
      case .later:
        let manual = ManualContext()
        let future = Future<Int, TestError>(on: manual.context) { () throws(TestError) in try outcome.get() }
        return (future, { manual.runAll() })
      }
    }

    var isPending: Bool { self == .promiseAfter || self == .later }
  }

  /// The forms of `then` with one argument.
  enum Then: CaseIterable, Sendable {
    case map, flatMap, whenSucceeded, mapError, flatMapError, recover, whenFailed

    /// The outcome after which the callback runs, and one after which it does not.
    var outcomes: (own: Outcome, other: Outcome) {
      switch self {
      case .map, .flatMap, .whenSucceeded: (.success(1), .failure(TestError(2)))
      case .mapError, .flatMapError, .recover, .whenFailed: (.failure(TestError(2)), .success(1))
      }
    }

    func attach(
      to future: Future<Int, TestError>,
      on context: ExecutionContext = .immediate,
      _ callback: @escaping @Sendable (Outcome) -> Void
    ) {
      let tell: @Sendable (Outcome) -> TestError = { outcome in
        callback(outcome)
        return TestError()
      }
      switch self {
      case .map: _ = future.map(on: context) { tell(.success($0)) }
      case .flatMap: _ = future.flatMap(on: context) { Future<Int, TestError>.failed(tell(.success($0))) }
      case .whenSucceeded: future.whenSucceeded(on: context) { callback(.success($0)) }
      case .mapError: _ = future.mapError(on: context) { tell(.failure($0)) }
      case .flatMapError: _ = future.flatMapError(on: context) { Future<Int, TestError>.failed(tell(.failure($0))) }
      case .recover: _ = future.recover(on: context) { tell(.failure($0)).number }
      case .whenFailed: future.whenFailed(on: context) { callback(.failure($0)) }
      }
    }
  }

  /// A future of another library.
  struct Foreign<Failure: Error>: FutureProtocol {
    let start: @Sendable (_ completion: @escaping @Sendable (Result<Int, Failure>) -> Void) -> Void

    func forward(to completion: @escaping @Sendable (Result<Int, Failure>) -> Void) { start(completion) }
  }
}

// MARK: - 2.1 States

extension PromisesAPlusTests {
  @Test("2.1.1.1: a pending future can be fulfilled or rejected", arguments: Source.allCases, outcomes)
  func pendingFutureCanBeFulfilledOrRejected(source: Source, outcome: Outcome) {
    let (future, settle) = source.make(outcome)
    #expect(future.isResolved == !source.isPending)
    #expect(future.peek() == (source.isPending ? nil : outcome))
    settle()
    #expect(future.isResolved)
    #expect(future.peek() == outcome)
  }

  @Test("2.1.2.1, 2.1.3.1, R1: a resolved future never changes its state", arguments: outcomes, outcomes)
  func noOtherState(first: Outcome, second: Outcome) {
    let log = Recorder<Outcome>()
    let future: Future<Int, TestError>
    do {
      let promise = Promise<Int, TestError>()
      future = promise.future
      future.whenResolved(on: .immediate) { log.record($0) }
      #expect(promise.resolve(first))
      #expect(!promise.resolve(second.map { $0 + 5 }))
      promise.follow(.resolved(second.map { $0 + 6 }))
      #expect(future.peek() == first)
    }  // the release of the promise changes nothing either
    future.whenResolved(on: .immediate) { log.record($0) }
    #expect(log.events == [first, first])
  }

  @Test("2.1.2.2, 2.1.3.2: every consumer gets the very same value or reason", arguments: [true, false])
  func sameValue(isFulfilled: Bool) {
    struct Reason: Error { let object: Tracked }
    let promise = Promise<Tracked, Reason>()
    let objects = Recorder<Tracked>()
    func observe() {
      promise.future.whenResolved(on: .immediate) { result in
        switch result {
        case .success(let object): objects.record(object)
        case .failure(let reason): objects.record(reason.object)
        }
      }
    }
    observe()
    let object = Tracked()
    promise.resolve(isFulfilled ? .success(object) : .failure(Reason(object: object)))
    observe()
    observe()
    #expect(objects.events.count == 3)
    #expect(objects.events.allSatisfy { $0 === object })
  }
}

// MARK: - 2.2 then

extension PromisesAPlusTests {
  @Test(
    "2.2.2.1, 2.2.2.2, 2.2.3.1, 2.2.3.2: a callback runs after its resolution, not before, with the value or reason",
    arguments: Source.allCases,
    Then.allCases
  )
  func calledAfter(source: Source, then: Then) {
    let log = Recorder<Outcome>()
    let (future, settle) = source.make(then.outcomes.own)
    then.attach(to: future) { log.record($0) }
    #expect(log.events == (source.isPending ? [] : [then.outcomes.own]))
    settle()
    #expect(log.events == [then.outcomes.own])
  }

  @Test("2.2.2.2, 2.2.3.2: a callback never runs after the other resolution", arguments: Source.allCases, Then.allCases)
  func notCalledAfterOther(source: Source, then: Then) {
    let log = Recorder<Outcome>()
    let (future, settle) = source.make(then.outcomes.other)
    then.attach(to: future) { log.record($0) }
    settle()
    then.attach(to: future) { log.record($0) }
    #expect(log.events.isEmpty)
  }

  @Test(
    "2.2.2.3, 2.2.3.3, R2: a callback runs once, despite further resolutions and attachments",
    arguments: Then.allCases
  )
  func calledOnce(then: Then) {
    let promise = Promise<Int, TestError>()
    let log = Recorder<String>()
    then.attach(to: promise.future) { _ in
      log.record("first")
      promise.resolve(then.outcomes.own)
    }
    promise.resolve(then.outcomes.own)
    promise.resolve(then.outcomes.own)
    promise.resolve(then.outcomes.other)
    then.attach(to: promise.future) { _ in log.record("second") }
    #expect(log.events == ["first", "second"])
  }

  @Test(
    "2.2.4: a context decides when its callbacks run, even for a resolved future",
    arguments: Source.allCases,
    Then.allCases
  )
  func contextDecides(source: Source, then: Then) {
    let manual = ManualContext()
    let log = Recorder<Outcome>()
    let (future, settle) = source.make(then.outcomes.own)
    then.attach(to: future, on: manual.context) { log.record($0) }
    settle()
    #expect(log.events.isEmpty)
    #expect(manual.runAll() == 1)
    #expect(log.events == [then.outcomes.own])
  }

  @Test(
    "2.2.6.1, 2.2.6.2, R2: callbacks run in the order of attachment, also when one attaches another",
    arguments: Source.allCases,
    outcomes
  )
  func callbacksRunInOrderOfAttachment(source: Source, outcome: Outcome) {
    let (attached, ran) = (Recorder<String>(), Recorder<String>())
    let (future, settle) = source.make(outcome)
    @Sendable func attach(_ name: String, as then: Then, _ also: @escaping @Sendable () -> Void = {}) {
      attached.record(name)
      then.attach(to: future) { _ in
        ran.record(name)
        also()
      }
    }
    let forms = Then.allCases.filter { $0.outcomes.own == outcome }
    for then in forms {
      attach("\(then)", as: then) { for inner in forms { attach("\(inner) in \(then)", as: inner) } }
    }
    settle()
    for then in forms { attach("\(then) afterwards", as: then) }
    #expect(ran.events.count == forms.count * (forms.count + 2))
    #expect(ran.events == attached.events)
  }

  @Test("2.2.6: a value or error of one branch does not reach the other branches", arguments: Source.allCases)
  func branchesDoNotAffectEachOther(source: Source) {
    let (future, settle) = source.make(.success(1))
    let returning = future.map { $0 + 1 }
    let throwing = future.map { (value) throws(TestError) -> Int in throw TestError(value) }
    let failing = future.flatMap { Future<Int, TestError>.failed(TestError($0 + 10)) }
    let succeeding = future.flatMap { .succeeded($0 + 20) }
    settle()
    #expect(returning.peek() == .success(2))
    #expect(throwing.peek() == .failure(TestError(1)))
    #expect(failing.peek() == .failure(TestError(11)))
    #expect(succeeding.peek() == .success(21))
  }

  @Test("2.2.7.1: the value that a callback returns fulfils the derived future", arguments: Source.allCases, outcomes)
  func returnedValueFulfilsDerivedFuture(source: Source, outcome: Outcome) {
    let (future, settle) = source.make(outcome)
    let handled = future.map { $0 + 10 }.recover { $0.number + 20 }
    let mapped = future.map { $0 + 10 }.mapError { TestError($0.number + 20) }
    settle()
    #expect(handled.peek() == (outcome == .success(1) ? .success(11) : .success(22)))
    #expect(mapped.peek() == (outcome == .success(1) ? .success(11) : .failure(TestError(22))))
  }

  @Test("2.2.7.2: the error that a callback throws rejects the derived future", arguments: Source.allCases)
  func thrownErrorRejectsDerivedFuture(source: Source) {
    let (fulfilled, fulfil) = source.make(.success(1))
    let (rejected, reject) = source.make(.failure(TestError(2)))
    let derived: [Future<Int, TestError>] = [
      fulfilled.map { (value) throws(TestError) -> Int in throw TestError(value) },
      fulfilled.flatMap { (value) throws(TestError) -> Future<Int, TestError> in throw TestError(value) },
      rejected.recover { (error) throws(TestError) -> Int in throw TestError(error.number + 10) },
      rejected.flatMapError { (error) throws(TestError) -> Future<Int, TestError> in
        throw TestError(error.number + 20)
      },
    ]
    fulfil()
    reject()
    #expect(derived.map { $0.peek() } == [1, 1, 12, 22].map { .failure(TestError($0)) })
  }

  @Test("2.2.7.3, 2.2.7.4: an outcome without a matching callback passes on", arguments: Source.allCases, outcomes)
  func passedOn(source: Source, outcome: Outcome) {
    let (future, settle) = source.make(outcome)
    let forValues = future.map { "\($0)" }.flatMap { Future<String, TestError>.succeeded($0) }
    let forErrors = future.mapError { TestError($0.number + 10) }.flatMapError { .failed($0) }
    settle()
    #expect(forValues.peek() == outcome.map { "\($0)" })
    #expect(forErrors.peek() == outcome.mapError { TestError($0.number + 10) })
  }
}

// MARK: - 2.3 The resolution procedure

extension PromisesAPlusTests {
  @Test("2.3.1, R2a: resolving a future with itself traps with a message")
  func resolvingWithItselfTraps() async {
    await #expect(processExitsWith: .failure) {
      let promise = Promise<Int, Never>()
      let derived = Recorder<Future<Int, Never>>()
      derived.record(promise.future.flatMap { _ in derived.events[0] })
      promise.succeed(1)
    }
  }

  @Test(
    "2.3.2.1, 2.3.2.2, 2.3.2.3: a derived future is pending while its adopted future is, then resolves like it",
    arguments: Source.allCases,
    Source.allCases
  )
  func derivedFutureAdoptsInnerFuture(outer: Source, inner: Source) {
    for outcome in Self.outcomes {
      let (fulfilled, fulfil) = outer.make(.success(0))
      let (rejected, reject) = outer.make(.failure(TestError(0)))
      let (adopted, settle) = inner.make(outcome)
      let promise = Promise<Int, TestError>()
      let derived = [
        fulfilled.flatMap { _ in adopted },
        rejected.flatMapError { _ in adopted },
        fulfilled.flatMap { _ in adopted.map { $0 }.mapError { $0 } },  // a future without another reference
        promise.future,
      ]
      if !outer.isPending { promise.follow(adopted) }
      fulfil()
      reject()
      if outer.isPending { promise.follow(adopted) }
      #expect(derived.map { $0.isResolved } == derived.map { _ in !inner.isPending }, "\(outcome)")
      settle()
      #expect(derived.map { $0.peek() } == derived.map { _ in outcome }, "\(outcome)")
    }
  }

  @Test(
    "2.3.3.1, 2.3.3.3.1, 2.3.3.3.2: a foreign future is asked once, and adopted",
    arguments: Source.allCases,
    outcomes
  )
  func foreignFutureIsAskedOnce(source: Source, outcome: Outcome) {
    let asked = Recorder<String>()
    let (other, settle) = source.make(outcome)
    let foreign = Foreign<TestError> { completion in
      asked.record("asked")
      other.whenResolved(on: .immediate, completion)
    }
    let future = Future(foreign)
    let derived = Future<Int, TestError>.succeeded(0).flatMap { _ in future }
    #expect(future.isResolved == !source.isPending)
    settle()
    #expect(future.peek() == outcome)
    #expect(derived.peek() == outcome)
    #expect(asked.events == ["asked"])
  }

  @Test("2.3.3.3.3: of many calls of a foreign future, the first counts", arguments: Source.allCases, outcomes)
  func foreignCallsTwice(source: Source, first: Outcome) {
    for second in [first.map { $0 + 1 }, .success(8), .failure(TestError(9))] as [Outcome] {
      let (other, settle) = source.make(first)
      let future = Future(
        Foreign<TestError> { completion in
          other.whenResolved(on: .immediate) { result in
            completion(result)
            completion(second)
          }
        }
      )
      let log = Recorder<Outcome>()
      future.whenResolved(on: .immediate) { log.record($0) }
      settle()
      #expect(log.events == [first], "\(first), then \(second)")
      #expect(future.peek() == first, "\(first), then \(second)")
    }
  }

  @Test("2.3.3.3.4.2, R12: a foreign future that drops its completion is a broken promise", arguments: [false, true])
  func foreignDropsCompletion(callsFirst: Bool) {
    let future = Future(Foreign<any Error> { completion in if callsFirst { completion(.success(1)) } })
    switch future.peek() {
    case .success(let value)?: #expect(callsFirst && value == 1)
    case .failure(let error)?: #expect(!callsFirst && error is BrokenPromise)
    case nil: Issue.record("A foreign future that can never call has left its future pending.")
    }
  }

  @Test(
    "2.3.3.4, 2.3.4: map fulfils with the value of its transform, also if that is a future",
    arguments: Source.allCases
  )
  func notFlattened(source: Source) throws {
    let (future, settle) = source.make(.success(1))
    let inner = Promise<Int, TestError>()
    let nested = future.map { _ in inner.future }
    settle()
    let value = try #require(try nested.peek()?.get())
    #expect(!value.isResolved)
    let flattened = nested.flatMap { $0 }
    #expect(!flattened.isResolved)
    inner.fail(TestError(3))
    #expect(value.peek() == .failure(TestError(3)))
    #expect(flattened.peek() == .failure(TestError(3)))
  }
}
