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

@Suite("Transforms on the main actor")
@MainActor
struct MainTransformTests {
  private let model = ViewModel()

  /// Suspends until all work that is in the main queue now has run.
  private func mainQueueTurn() async {
    await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
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
}
