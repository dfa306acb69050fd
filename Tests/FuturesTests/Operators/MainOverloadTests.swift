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

  /// Records a run of the closure.
  func run() {
    MainActor.preconditionIsolated()
    runs += 1
  }

  /// Resolves the sources; the source that cannot fail ignores an error.
  nonisolated func resolve(_ result: Result<Int, TestError>) {
    source.resolve(result)
    if case .success(let value) = result { infallibleSource.succeed(value) }
  }

  func report(_ fraction: Double) {
    source.progress.report(fraction: fraction)
    infallibleSource.progress.report(fraction: fraction)
  }

  func reportInner(_ fraction: Double) {
    inner.progress.report(fraction: fraction)
    infallibleInner.progress.report(fraction: fraction)
  }

  func succeedInner() {
    inner.succeed(1)
    infallibleInner.succeed(1)
  }
}

/// A derived future of any type.
private struct Derived {
  let isResolved: () -> Bool
  let fraction: () -> Double

  init<Value, Failure>(_ future: Future<Value, Failure>) {
    isResolved = { future.isResolved }
    fraction = { future.currentProgress.fractionCompleted }
  }
}

/// A transform with `on: .main`.
private struct Overload: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Whether the closure takes values; otherwise it takes errors.
  var takesValues = true
  let derive: @MainActor @Sendable (Trial, MainContext, _ share: Double) -> Derived

  init(_ name: String, _ derive: @escaping @MainActor @Sendable (Trial, MainContext, Double) -> Derived) {
    (testDescription, self.derive) = (name, derive)
  }

  static let ofValues = [
    Overload("map") { trial, context, _ in Derived(trial.source.future.map(on: context) { _ in trial.run() }) },
    Overload("throwing map") { trial, context, _ in
      Derived(trial.source.future.map(on: context) { _ throws(TestError) in trial.run() })
    },
  ]

  static let splitting = [
    Overload("flatMap") { trial, context, share in
      Derived(
        trial.source.future.flatMap(on: context, progressShare: share) { _ in
          trial.run()
          return trial.inner.future
        }
      )
    },
    Overload("throwing flatMap") { trial, context, share in
      Derived(
        trial.source.future.flatMap(on: context, progressShare: share) {
          _ throws(TestError) -> Future<Int, TestError> in
          trial.run()
          return trial.inner.future
        }
      )
    },
    Overload("flatMap to a future that cannot fail") { trial, context, share in
      Derived(
        trial.source.future.flatMap(on: context, progressShare: share) { _ in
          trial.run()
          return trial.infallibleInner.future
        }
      )
    },
  ]

  static let ofInfallible = Overload("flatMap of a future that cannot fail") { trial, context, share in
    Derived(
      trial.infallibleSource.future.flatMap(on: context, progressShare: share) { _ in
        trial.run()
        return trial.inner.future
      }
    )
  }

  static let ofErrors = [
    Overload("mapError") { trial, context, _ in
      Derived(
        trial.source.future.mapError(on: context) { error in
          trial.run()
          return error
        }
      )
    },
    Overload("flatMapError") { trial, context, _ in
      Derived(
        trial.source.future.flatMapError(on: context) { _ in
          trial.run()
          return trial.inner.future
        }
      )
    },
    Overload("throwing flatMapError") { trial, context, _ in
      Derived(
        trial.source.future.flatMapError(on: context) { _ throws(TestError) -> Future<Int, TestError> in
          trial.run()
          return trial.inner.future
        }
      )
    },
    Overload("recover") { trial, context, _ in
      Derived(
        trial.source.future.recover(on: context) { error in
          trial.run()
          return error.number
        }
      )
    },
    Overload("throwing recover") { trial, context, _ in
      Derived(
        trial.source.future.recover(on: context) { error throws(TestError) in
          trial.run()
          return error.number
        }
      )
    },
  ].map { overload in
    var overload = overload
    overload.takesValues = false
    return overload
  }

  static let fallible = ofValues + splitting + ofErrors
}

@Suite("Each transform on the main actor")
@MainActor
struct MainOverloadTests {
  private let trial = Trial()

  /// Suspends until all work that is in the main queue now has run.
  private func mainQueueTurn() async {
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
  }

  private func result(_ isSuccess: Bool) -> Result<Int, TestError> { isSuccess ? .success(1) : .failure(TestError(7)) }

  @Test(
    "R9: .main always goes through the main queue, from the main actor and from other threads",
    arguments: Overload.fallible + [.ofInfallible],
    [false, true]
  )
  private func main(overload: Overload, isElsewhere: Bool) async {
    trial.succeedInner()
    let derived = overload.derive(trial, .main, 0.5)
    let (trial, result) = (trial, result(overload.takesValues))
    if isElsewhere { onThread { trial.resolve(result) } } else { trial.resolve(result) }
    #expect(trial.runs == 0)
    #expect(!derived.isResolved())
    await mainQueueTurn()
    #expect(trial.runs == 1)
    #expect(derived.isResolved())
  }

  @Test(
    "R9: .mainImmediate runs at once on the main actor, and goes through the main queue from other threads",
    arguments: Overload.fallible + [.ofInfallible],
    [false, true]
  )
  private func mainImmediate(overload: Overload, isElsewhere: Bool) async {
    trial.succeedInner()
    let derived = overload.derive(trial, .mainImmediate, 0.5)
    let (trial, result) = (trial, result(overload.takesValues))
    if isElsewhere { onThread { trial.resolve(result) } } else { trial.resolve(result) }
    #expect(trial.runs == (isElsewhere ? 0 : 1))
    #expect(derived.isResolved() == !isElsewhere)
    await mainQueueTurn()
    #expect(trial.runs == 1)
    #expect(derived.isResolved())
  }

  @Test("R9: a result that the closure does not take passes on at once, on any thread", arguments: Overload.fallible)
  private func passedOn(overload: Overload) {
    let derived = overload.derive(trial, .main, 0.5)
    let (trial, result) = (trial, result(!overload.takesValues))
    onThread { trial.resolve(result) }
    #expect(derived.isResolved())
    #expect(trial.runs == 0)
  }

  @Test(
    "R19: flatMap gives its source the share of the progress, clamped to 0...1",
    arguments: Overload.splitting + [.ofInfallible]
  )
  private func share(overload: Overload) {
    // If the source has all of the share, the second future counts for the whole again.
    for (share, first, second) in [(0.2, 0.1, 0.6), (0.75, 0.375, 0.875), (7, 0.5, 0.5), (-1, 0, 0.5), (.nan, 0, 0.5)] {
      let trial = Trial()
      let derived = overload.derive(trial, .mainImmediate, share)
      trial.report(0.5)
      #expect(abs(derived.fraction() - first) < 1e-9, "share \(share)")
      trial.resolve(.success(1))
      trial.reportInner(0.5)
      #expect(abs(derived.fraction() - second) < 1e-9, "share \(share)")
      #expect(!derived.isResolved())
      trial.succeedInner()
      #expect(derived.isResolved())
    }
  }

  @Test("R19: the other transforms pass the progress on", arguments: Overload.ofValues + Overload.ofErrors)
  private func progress(overload: Overload) {
    let derived = overload.derive(trial, .mainImmediate, 0.2)
    trial.report(0.5)
    #expect(derived.fraction() == 0.5)
    trial.resolve(result(overload.takesValues))
    trial.succeedInner()
    #expect(derived.isResolved())
  }

  @Test("R19: Future(on:flattening:) has the progress of the future that its work returns")
  func flatteningProgress() {
    let inner = trial.inner
    let future = Future(on: .mainImmediate, flattening: { inner.future })
    inner.progress.report(fraction: 0.5)
    #expect(future.currentProgress.fractionCompleted == 0.5)
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
      {
        source.timeout(
          after: duration,
          on: context,
          failingWith: {
            trial.run()
            return TestError(9)
          }()
        )
      },
      {
        source.timeout(
          after: duration,
          on: context,
          fallback: {
            trial.run()
            return 9
          }()
        )
      },
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
