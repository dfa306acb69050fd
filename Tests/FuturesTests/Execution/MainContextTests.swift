import Dispatch
import Futures
import TestSupport
import Testing

@MainActor private final class ViewModel {
  var values: [Int] = []
}

@Suite(.timeLimit(.minutes(20)))
struct MainContextTests {
  @Test("R9: on: .main runs closures without annotations on the main actor, whichever thread resolves the future")
  @MainActor
  func deliversOnMainActor() async {
    let model = ViewModel()
    let promise = Promise<Int, TestError>()
    await withCheckedContinuation { continuation in
      promise.future.whenResolved(on: .main) { result in
        MainActor.preconditionIsolated()
        model.values.append((try? result.get()) ?? -1)
      }
      promise.future.whenSucceeded(on: .main) { value in model.values.append(value + 1) }
      promise.future.whenFailed(on: .main) { _ in model.values.append(99) }
      promise.future.whenSucceeded(on: .mainImmediate) { value in
        MainActor.preconditionIsolated()
        model.values.append(value + 2)
        continuation.resume()
      }
      DispatchQueue.global().async { promise.succeed(1) }
    }
    #expect(model.values == [1, 2, 3])
  }

  @Test("R9: on: .main always goes through the main queue, .mainImmediate only outside the main actor")
  @MainActor
  func immediateWhereAlreadyThere() async {
    let model = ViewModel()
    let future = Future<Int, TestError>.succeeded(1)
    await withCheckedContinuation { continuation in
      future.whenResolved(on: .main) { _ in
        model.values.append(2)
        continuation.resume()
      }
      future.whenSucceeded(on: .mainImmediate) { model.values.append($0) }
      future.whenFailed(on: .mainImmediate) { _ in model.values.append(99) }
      #expect(model.values == [1])
    }
    #expect(model.values == [1, 2])
  }

  @Test("R7: a callback for the main actor can be removed until it starts")
  @MainActor
  func removedMainCallbackNeverRuns() async {
    let model = ViewModel()
    let registration = Future<Int, Never>.succeeded(1).whenResolved(on: .main) { _ in model.values.append(1) }
    #expect(registration.remove())
    await withCheckedContinuation { continuation in
      Future<Int, Never>.succeeded(1).whenResolved(on: .main) { _ in continuation.resume() }
    }
    #expect(model.values.isEmpty)
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
}
