import Dispatch
import Futures
import TestSupport
import Testing

@MainActor private final class ViewModel {
  var prefix = "#"
  var calls: [String] = []

  func note(_ text: String) -> String {
    MainActor.preconditionIsolated()
    calls.append(text)
    return prefix + text
  }
}

private typealias Strings = Future<String, TestError>

@Suite("Transforms on the main actor")
@MainActor
struct MainTransformTests {
  private let model = ViewModel()

  /// Returns one future for each transform, of a value and of an error; each transform records its name when it runs.
  private func transforms(of future: Future<Int, TestError>, on context: MainContext) -> [Future<String, TestError>] {
    let model = model
    let never = future.recover(on: context) { _ in
      _ = model.note("recover")
      return -1
    }
    return [
      future.map(on: context) { model.note("map \($0)") },
      future.map(on: context) { value throws(TestError) in
        let text = model.note("throwing map \(value)")
        if value == 2 { throw TestError(2) }
        return text
      },
      future.flatMap(on: context) { Strings.succeeded(model.note("flatMap \($0)")) },
      future.flatMap(on: context) { value throws(TestError) -> Strings in
        let text = model.note("throwing flatMap \(value)")
        if value == 2 { throw TestError(2) }
        return .succeeded(text)
      },
      future.flatMap(on: context) { Future<String, Never>.succeeded(model.note("flatMap that cannot fail \($0)")) },
      never.flatMap(on: context) { Strings.succeeded(model.note("flatMap of one that cannot fail \($0)")) },
      future.mapError(on: context) { error in
        _ = model.note("mapError \(error.number)")
        return TestError(error.number + 1)
      }.map { "\($0)" },
      future.flatMapError(on: context) { error in
        _ = model.note("flatMapError \(error.number)")
        return Future<Int, TestError>.succeeded(0)
      }.map { "\($0)" },
      future.flatMapError(on: context) { error throws(TestError) -> Future<Int, TestError> in
        _ = model.note("throwing flatMapError \(error.number)")
        throw TestError(error.number + 1)
      }.map { "\($0)" },
      future.recover(on: context) { error throws(TestError) -> Int in
        _ = model.note("throwing recover \(error.number)")
        throw TestError(error.number + 1)
      }.map { "\($0)" },
    ]
  }

  private func outcomes(_ futures: [Future<String, TestError>]) -> [String] {
    futures.map { future in
      switch future.peek() {
      case .success(let text)?: text
      case .failure(let error)?: "error \(error.number)"
      case nil: "pending"
      }
    }
  }

  private let ofValue = [
    "#map 1", "#throwing map 1", "#flatMap 1", "#throwing flatMap 1", "#flatMap that cannot fail 1",
    "#flatMap of one that cannot fail 1", "1", "1", "1", "1",
  ]
  private let callsOfValue = [
    "map 1", "throwing map 1", "flatMap 1", "throwing flatMap 1", "flatMap that cannot fail 1",
    "flatMap of one that cannot fail 1",
  ]
  private let ofError = [
    "error 7", "error 7", "error 7", "error 7", "error 7", "#flatMap of one that cannot fail -1", "error 8", "0",
    "error 8", "error 8",
  ]
  private let callsOfError = [
    "recover", "mapError 7", "flatMapError 7", "throwing flatMapError 7", "throwing recover 7",
    "flatMap of one that cannot fail -1",
  ]

  /// Suspends until all work that is in the main queue now has run.
  private func mainQueueTurn() async {
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
  }

  @Test("R9: each transform runs on the main actor, through the main queue, whichever thread resolved the future")
  func pending() async {
    for (result, outcome, calls) in [
      (Result<Int, TestError>.success(1), ofValue, callsOfValue), (.failure(TestError(7)), ofError, callsOfError),
    ] {
      let promise = Promise<Int, TestError>()
      let futures = transforms(of: promise.future, on: .main)
      onThread { promise.resolve(result) }
      #expect(model.calls == [])
      for _ in 0..<3 { await mainQueueTurn() }
      #expect(outcomes(futures) == outcome)
      #expect(model.calls.sorted() == calls.sorted())
      model.calls = []
    }
  }

  @Test("R9: .main goes through the main queue for a resolved future; results that a transform passes on do not wait")
  func resolved() async {
    let value = transforms(of: .succeeded(1), on: .main)
    #expect(model.calls == [])
    #expect(outcomes(value) == Array(repeating: "pending", count: 6) + ["1", "1", "1", "1"])
    for _ in 0..<3 { await mainQueueTurn() }
    #expect(outcomes(value) == ofValue)
  }

  @Test("R9: .mainImmediate runs each transform at once on the main actor")
  func immediate() {
    #expect(outcomes(transforms(of: .succeeded(1), on: .mainImmediate)) == ofValue)
    #expect(model.calls == callsOfValue)
    model.calls = []
    #expect(outcomes(transforms(of: .failed(TestError(7)), on: .mainImmediate)) == ofError)
    #expect(model.calls.sorted() == callsOfError.sorted())
  }

  @Test("R9: .mainImmediate goes through the main queue from other threads")
  func immediateFromElsewhere() async {
    let model = model
    let derived = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let future = Future<Int, TestError>.succeeded(1)
        continuation.resume(returning: future.map(on: .mainImmediate) { model.note("\($0)") })
      }
    }
    await mainQueueTurn()
    #expect(derived.peek() == .success("#1"))
  }

  @Test("A transform that throws fails the derived future with its error")
  func throwing() {
    let model = model
    let future = Future<Int, any Error>.succeeded(2)
    let mapped = future.map(on: .mainImmediate) { value in
      if value == 2 { throw TestError(value) }
      return model.note("\(value)")
    }
    let flatMapped = future.flatMap(on: .mainImmediate) { value in
      if value == 2 { throw TestError(value) }
      return Future<String, any Error>.succeeded(model.note("\(value)"))
    }
    for derived in [mapped, flatMapped] {
      #expect(throws: TestError(2)) { try derived.peek()?.get() }
    }
  }

  @Test("R2: transforms and callbacks run in the order of attachment")
  func order() async {
    let model = model
    let promise = Promise<Int, Never>()
    var derived: [Future<String, Never>] = []
    for number in 0..<20 {
      derived.append(promise.future.map(on: .main) { _ in model.note("\(number)") })
      promise.future.whenSucceeded(on: .main) { _ in _ = model.note("callback \(number)") }
    }
    onThread { promise.succeed(1) }
    await mainQueueTurn()
    #expect(model.calls == (0..<20).flatMap { ["\($0)", "callback \($0)"] })
    #expect(derived.allSatisfy { $0.isResolved })
  }

  @Test("R17: the queued transform of a cancelled stage never runs, and is released")
  func cancelledWhileQueued() async {
    let model = model
    weak var captured: Tracked?
    let future = Future<Int, any Error>.succeeded(1)
    let stages: [Future<String, any Error>]
    do {
      let object = Tracked()
      captured = object
      stages = [
        future.map(on: .main) { value in
          object.use()
          return model.note("map \(value)")
        },
        future.flatMap(on: .main) { value in
          object.use()
          return .succeeded(model.note("flatMap \(value)"))
        },
        Future(on: .main) {
          object.use()
          return model.note("work")
        },
      ]
    }
    #expect(captured != nil)
    for stage in stages { stage.cancel() }
    #expect(captured == nil)
    for _ in 0..<2 { await mainQueueTurn() }
    #expect(model.calls == [])
    for stage in stages { #expect(throws: CancellationError.self) { try stage.peek()?.get() } }
  }

  @Test("R16: cancelling the stage cancels a source that has no other consumer")
  func cancellationReachesTheSource() {
    let model = model
    let (promise, log) = (Promise<Int, any Error>(), Recorder<String>())
    promise.onCancel { log.record("cancelled") }
    promise.future.map(on: .main) { model.note("\($0)") }.cancel()
    #expect(log.events == ["cancelled"])
  }

  @Test("R19: flatMap on the main actor splits the progress by the given share")
  func progress() {
    let (first, second) = (Promise<Int, Never>(), Promise<Int, Never>())
    let derived = first.future.flatMap(on: .mainImmediate, progressShare: 0.2) { _ in second.future }
    first.progress.report(fraction: 0.5)
    #expect(derived.currentProgress.fractionCompleted == 0.1)
    first.succeed(1)
    second.progress.report(fraction: 0.5)
    #expect(abs(derived.currentProgress.fractionCompleted - 0.6) < 1e-9)
    withExtendedLifetime(second) {}
  }

  @Test("Future(on:) runs its work on the main actor, and resolves with its value, its error or its future")
  func work() async {
    let model = model
    let value = Future(on: .main) { model.note("value") }
    let failed = Future<Int, TestError>(on: .main) { () throws(TestError) in throw TestError(3) }
    let inner = Promise<Int, TestError>()
    let flattened = Future(on: .main, flattening: { inner.future })
    #expect(Future(on: .mainImmediate) { model.note("at once") }.peek() == .success("#at once"))
    #expect(model.calls == ["at once"])
    await mainQueueTurn()
    #expect(value.peek() == .success("#value"))
    #expect(failed.peek() == .failure(TestError(3)))
    #expect(!flattened.isResolved)
    inner.succeed(1)
    #expect(flattened.peek() == .success(1))
  }

  // MARK: - Time

  @Test("R12: timeouts on the main actor evaluate their result there, at once or through the main queue")
  func timeouts() async {
    let model = model
    let promise = Promise<String, any Error>()
    let atOnce = promise.future.timeout(after: .zero, on: .main, fallback: model.note("at once"))
    #expect(atOnce.peek().map { try? $0.get() } == "#at once")
    let other = Promise<String, any Error>()
    let future = other.future
    let elsewhere = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        let timedOut = future.timeout(after: .zero, on: .mainImmediate, fallback: model.note("queued"))
        continuation.resume(returning: timedOut)
      }
    }
    await mainQueueTurn()
    #expect(elsewhere.peek().map { try? $0.get() } == "#queued")
    let pending = Promise<String, any Error>()
    let failing = pending.future.timeout(after: .nanoseconds(1), on: .main)
    await withCheckedContinuation { continuation in failing.whenResolved(on: .main) { _ in continuation.resume() } }
    #expect(throws: TimeoutError.self) { try failing.peek()?.get() }
    withExtendedLifetime((promise, other, pending)) {}
  }

  @Test("delay and after resolve on the main actor")
  func delays() async {
    let model = model
    for context in [MainContext.main, .mainImmediate] {
      let delayed = Future<Int, Never>.succeeded(1).delay(by: .nanoseconds(1), on: context)
      let after = Future.after(.nanoseconds(1), on: context)
      await withCheckedContinuation { continuation in
        Future.zip(delayed, after).tap(on: .immediate) { _ in
          MainActor.assumeIsolated { _ = model.note("resolved") }
        }.whenResolved(on: .immediate) { _ in continuation.resume() }
      }
    }
    #expect(model.calls == ["resolved", "resolved"])
  }
}
