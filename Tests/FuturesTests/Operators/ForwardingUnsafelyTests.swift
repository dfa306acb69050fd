import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// An object that a completion of old code captures: not `Sendable`, and used on one queue.
private final class OldObject {
  var log: [String] = []
}

@Suite("Completions without annotations")
struct ForwardingUnsafelyTests {
  @Test("Each shape of an old completion gets the outcome once, on its context")
  func shapes() {
    let context = ManualContext()
    let object = OldObject()
    func result(_ completion: @escaping (Result<Int, any Error>) -> Void) {
      Future<Int, any Error>.succeeded(1).forwardUnsafely(on: context.context, to: completion)
    }
    func valueOrError(_ completion: @escaping (Int?, (any Error)?) -> Void) {
      Future<Int, any Error>.failed(TestError(2)).forwardUnsafely(on: context.context, to: completion)
    }
    func twoValues(_ completion: @escaping (Int?, String?, (any Error)?) -> Void) {
      Future<(Int, String), any Error>.succeeded((3, "c")).forwardUnsafely(on: context.context, to: completion)
    }
    result { object.log.append("\((try? $0.get()) ?? 0)") }
    valueOrError { object.log.append("\($0 ?? 0) \($1 as? TestError == TestError(2))") }
    twoValues { object.log.append("\($0 ?? 0) \($1 ?? "") \($2 == nil)") }
    #expect(object.log.isEmpty)
    context.runAll()
    #expect(object.log == ["1", "0 true", "3 c true"])
  }

  @Test("R17: a cancelled token gives an old completion the cancelled failure, and the completion is released")
  func cancelled() {
    let source = CancellationTokenSource()
    let promise = Promise<Int, any Error>()
    weak var released: OldObject?
    do {
      let object = OldObject()
      released = object
      func old(_ completion: @escaping (Result<Int, any Error>) -> Void) {
        promise.future.forwardUnsafely(on: .immediate, cancelledBy: source.token, to: completion)
      }
      old { if case .failure(let error) = $0 { object.log.append("\(error is CancellationError)") } }
      source.cancel()
      #expect(object.log == ["true"])
    }
    #expect(released == nil)
    #expect(!promise.succeed(1))
  }
}
