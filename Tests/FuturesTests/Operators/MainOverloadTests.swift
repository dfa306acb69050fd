import Dispatch
import Futures
import TestSupport
import Testing

/// The sources of a derived future, and the runs of its closure.
@MainActor
private final class Trial {
  let source = Promise<Int, TestError>()
  /// The source for the overload that needs a future that cannot fail.
  let infallibleSource = Promise<Int, Never>()
  let inner = Promise<Int, TestError>()
  let infallibleInner = Promise<Int, Never>()
  private(set) var runs = 0

  /// Records a run of the closure, and returns its result.
  func run<Result>(_ result: Result = ()) -> Result {
    MainActor.preconditionIsolated()
    runs += 1
    return result
  }

  /// Resolves the sources; the source that cannot fail ignores an error.
  nonisolated func resolve(_ result: Result<Int, TestError>) {
    source.resolve(result)
    if case .success(let value) = result { infallibleSource.succeed(value) }
  }

  func succeedInner() {
    inner.succeed(1)
    infallibleInner.succeed(1)
  }
}

/// A transform with `on: .main`.
private struct Overload: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Whether the closure takes values; otherwise it takes errors.
  let takesValues: Bool
  let derive: @MainActor @Sendable (Trial, MainContext) -> AnyFuture

  init(
    _ name: String,
    takesValues: Bool = true,
    _ derive: @escaping @MainActor @Sendable (Trial, MainContext) -> AnyFuture
  ) {
    (testDescription, self.takesValues, self.derive) = (name, takesValues, derive)
  }

  static let ofValues = [
    Overload("map") { trial, context in AnyFuture(trial.source.future.map(on: context) { _ in trial.run() }) },
    Overload("throwing map") { trial, context in
      AnyFuture(trial.source.future.map(on: context) { _ throws(TestError) in trial.run() })
    },
    Overload("flatMap") { trial, context in
      AnyFuture(trial.source.future.flatMap(on: context) { _ in trial.run(trial.inner.future) })
    },
    Overload("throwing flatMap") { trial, context in
      AnyFuture(trial.source.future.flatMap(on: context) { _ throws(TestError) in trial.run(trial.inner.future) })
    },
    Overload("flatMap to a future that cannot fail") { trial, context in
      AnyFuture(trial.source.future.flatMap(on: context) { _ in trial.run(trial.infallibleInner.future) })
    },
  ]

  static let ofInfallible = Overload("flatMap of a future that cannot fail") { trial, context in
    AnyFuture(trial.infallibleSource.future.flatMap(on: context) { _ in trial.run(trial.inner.future) })
  }

  static let ofErrors = [
    Overload("mapError", takesValues: false) { trial, context in
      AnyFuture(trial.source.future.mapError(on: context) { trial.run($0) })
    },
    Overload("flatMapError", takesValues: false) { trial, context in
      AnyFuture(trial.source.future.flatMapError(on: context) { _ in trial.run(trial.inner.future) })
    },
    Overload("throwing flatMapError", takesValues: false) { trial, context in
      AnyFuture(trial.source.future.flatMapError(on: context) { _ throws(TestError) in trial.run(trial.inner.future) })
    },
    Overload("recover", takesValues: false) { trial, context in
      AnyFuture(trial.source.future.recover(on: context) { trial.run($0.number) })
    },
    Overload("throwing recover", takesValues: false) { trial, context in
      AnyFuture(trial.source.future.recover(on: context) { error throws(TestError) in trial.run(error.number) })
    },
  ]

  // These take values and errors; a callback resolves the future.
  static let effects = [
    Overload("tap") { trial, context in AnyFuture(trial.source.future.tap(on: context) { _ in trial.run() }) },
    Overload("receive") { trial, context in
      AnyFuture(trial.source.future.receive(on: context).map { _ in MainActor.assumeIsolated { trial.run() } })
    },
    Overload("whenResolved") { trial, context in
      let promise = Promise<Void, Never>()
      trial.source.future.whenResolved(on: context) { _ in promise.succeed(trial.run()) }
      return AnyFuture(promise.future)
    },
    Overload("whenSucceeded, beside whenFailed") { trial, context in
      let promise = Promise<Void, Never>()
      trial.source.future.whenSucceeded(on: context) { _ in promise.succeed(trial.run()) }
      trial.source.future.whenFailed(on: context) { _ in trial.run() }
      return AnyFuture(promise.future)
    },
    Overload("whenFailed, beside whenSucceeded", takesValues: false) { trial, context in
      let promise = Promise<Void, Never>()
      trial.source.future.whenFailed(on: context) { _ in promise.succeed(trial.run()) }
      trial.source.future.whenSucceeded(on: context) { _ in trial.run() }
      return AnyFuture(promise.future)
    },
  ]

  static let fallible = ofValues + ofErrors
}

@MainActor
struct MainOverloadTests {
  private let trial = Trial()

  private func result(_ isSuccess: Bool) -> Result<Int, TestError> { isSuccess ? .success(1) : .failure(TestError(7)) }

  @Test(
    "R9: .main always goes through the main queue, .mainImmediate only from other threads than the main actor's",
    arguments: Overload.fallible + Overload.effects + [.ofInfallible],
    [(false, false), (false, true), (true, false), (true, true)]
  )
  private func context(overload: Overload, place: (isImmediate: Bool, isElsewhere: Bool)) async {
    trial.succeedInner()
    let derived = overload.derive(trial, place.isImmediate ? .mainImmediate : .main)
    let (trial, result) = (trial, result(overload.takesValues))
    if place.isElsewhere { onThread { trial.resolve(result) } } else { trial.resolve(result) }
    let isAtOnce = place.isImmediate && !place.isElsewhere
    #expect(trial.runs == (isAtOnce ? 1 : 0))
    #expect(derived.isResolved() == isAtOnce)
    await mainQueueTurn()
    #expect(trial.runs == 1)
    #expect(derived.isResolved())
  }

  @Test("R9: a result that the closure does not take passes on at once, on any thread", arguments: Overload.fallible)
  private func passedOn(overload: Overload) {
    let derived = overload.derive(trial, .main)
    let (trial, result) = (trial, result(!overload.takesValues))
    onThread { trial.resolve(result) }
    #expect(derived.isResolved())
    #expect(trial.runs == 0)
  }

  @Test("R7: a callback for the main actor can be removed until it starts")
  func removedMainCallbackNeverRuns() async {
    let registration = Future<Int, Never>.succeeded(1).whenResolved(on: .main) { _ in Issue.record("It ran.") }
    #expect(registration.remove())
    await mainQueueTurn()
  }

  @Test("mainQueue takes any closure, and runs it on the main queue")
  func mainQueueTakesAnyClosure() async {
    await withCheckedContinuation { continuation in
      Future<Int, Never>.succeeded(1).whenResolved(on: .mainQueue) { _ in
        dispatchPrecondition(condition: .onQueue(.main))
        continuation.resume()
      }
    }
  }

  @Test("A transform that throws, without an annotation, fails the derived future with its error")
  func throwing() {
    let future = Future<Int, any Error>.succeeded(2)
    let mapped = future.map(on: .mainImmediate) { value in
      if value == 2 { throw TestError(value) }
      return value
    }
    let flatMapped = future.flatMap(on: .mainImmediate) { value in
      if value == 2 { throw TestError(value) }
      return Future<Int, any Error>.succeeded(value)
    }
    for derived in [mapped, flatMapped] { #expect(throws: TestError(2)) { try derived.peek()?.get() } }
  }

  @Test("R2: transforms and callbacks run in the order of attachment")
  func order() async {
    let log = Recorder<Int>()
    let promise = Promise<Int, Never>()
    for number in 0..<20 {
      _ = promise.future.map(on: .main) { _ in log.record(2 * number) }
      promise.future.whenSucceeded(on: .main) { _ in log.record(2 * number + 1) }
    }
    onThread { promise.succeed(1) }
    await mainQueueTurn()
    #expect(log.events == Array(0..<40))
  }

  @Test("Future(on:) runs its work on the main actor, and resolves with its value, its error or its future")
  func work() async {
    let trial = trial
    let value = Future(on: .main) { trial.run() }
    let failed = Future<Int, TestError>(on: .main) { () throws(TestError) in throw TestError(3) }
    let flattened = Future(on: .main, flattening: { trial.inner.future })
    let cancelled = Future<Void, any Error>(on: .main) { trial.run() }
    cancelled.cancel()
    #expect(Future(on: .mainImmediate) { 2 }.peek() == .success(2))
    #expect(!value.isResolved && trial.runs == 0)
    await mainQueueTurn()
    #expect(value.isResolved && trial.runs == 1)
    #expect(failed.peek() == .failure(TestError(3)))
    #expect(!flattened.isResolved)
    trial.inner.succeed(1)
    #expect(flattened.peek() == .success(1))
  }

  // MARK: - Time

  /// Waits for a future, and returns whether its callback ran on the main queue.
  private func resolvesOnMainQueue<Value, Failure>(
    _ future: Future<Value, Failure>,
    after start: () -> Void = {}
  ) async -> Bool {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    let isOnMainQueue = Promise<Bool, Never>()
    future.whenResolved(on: .immediate) { _ in isOnMainQueue.succeed(DispatchQueue.getSpecific(key: key) == true) }
    start()
    return await withCheckedContinuation { continuation in
      isOnMainQueue.future.whenSucceeded(on: .main) { continuation.resume(returning: $0) }
    }
  }

  @Test("R9: delay, after and timeout resolve on the main queue", arguments: [false, true])
  func delays(isImmediate: Bool) async {
    let context = isImmediate ? MainContext.mainImmediate : .main
    let source = trial.source
    let delayed = source.future.delay(by: .nanoseconds(1), on: context)
    #expect(await resolvesOnMainQueue(delayed) { onThread { source.succeed(1) } })
    #expect(await resolvesOnMainQueue(Future.after(.milliseconds(1), on: context)))
    let late = Future<Int, any Error>.never.timeout(after: .nanoseconds(1), on: context)
    #expect(await resolvesOnMainQueue(late))
    #expect(throws: TimeoutError.self) { try late.peek()?.get() }
  }

  @Test(
    "R9, R12: a timeout evaluates its error or its value on the main actor, in time or at once",
    arguments: [false, true],
    [Duration.zero, .nanoseconds(1)]
  )
  func timeouts(isImmediate: Bool, duration: Duration) async {
    let context = isImmediate ? MainContext.mainImmediate : .main
    let (trial, source) = (trial, trial.source.future)
    let forms: [@Sendable () -> Future<Int, TestError>] = [
      { source.timeout(after: duration, on: context, failingWith: trial.run(TestError(9))) },
      { source.timeout(after: duration, on: context, fallback: trial.run(9)) },
    ]
    let results = [Result<Int, TestError>.failure(TestError(9)), .success(9)]
    for (form, result) in zip(forms, results) {
      // On the main actor, a timeout of zero runs its closure at once.
      let here = form()
      #expect(here.isResolved == (duration == .zero))
      let futures = Recorder<Future<Int, TestError>>()
      onThread { futures.record(form()) }
      for future in [here] + futures.events {
        #expect(await resolvesOnMainQueue(future))
        #expect(future.peek() == result)
      }
    }
    #expect(trial.runs == 4)
  }
}
