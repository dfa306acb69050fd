import Futures
import TestSupport
import Testing

/// Functions in the style of old code: their closures are neither `@Sendable` nor isolated.
@MainActor
private struct OldSignatures {
  let future: Future<Int, any Error>

  func result(completion: @escaping (Result<Int, any Error>) -> Void) {
    future.forward(on: .mainImmediate, to: completion)
  }

  func valueOrError(completion: @escaping (Int?, (any Error)?) -> Void) {
    future.forward(on: .mainImmediate, to: completion)
  }

  func valuesOrError(completion: @escaping (Int?, String?, (any Error)?) -> Void) {
    future.map { ($0, "\($0)") }.forward(on: .mainImmediate, to: completion)
  }

  func error(completion: @escaping ((any Error)?) -> Void) {
    future.ignoreValue().forward(on: .mainImmediate, to: completion)
  }

  func value(completion: @escaping (Int) -> Void) {
    future.recover { _ in 0 }.forward(on: .mainImmediate, to: completion)
  }

  func pair(success: @escaping (Int) -> Void, failure: @escaping (any Error) -> Void) {
    future.forward(on: .mainImmediate, onSuccess: success, onFailure: failure)
  }

  /// Returns the arguments with which each function calls back.
  func all() -> [String] {
    // Not `Sendable`, like the captures of old closures.
    final class Log { var lines: [String] = [] }
    let log = Log()
    func text<Value>(_ value: Value?) -> String { value.map { "\($0)" } ?? "-" }
    result { log.lines.append(text(try? $0.get())) }
    valueOrError { log.lines.append("\(text($0)) \(text($1))") }
    valuesOrError { log.lines.append("\(text($0)) \(text($1)) \(text($2))") }
    error { log.lines.append(text($0)) }
    value { log.lines.append(text($0)) }
    pair(success: { log.lines.append(text($0)) }, failure: { log.lines.append(text($0)) })
    return log.lines
  }
}

@Suite("Forwarding to the closures of old code, on the main actor")
@MainActor
struct PlainForwardingTests {
  @Test("A value reaches every shape")
  func valueReachesEveryShape() {
    #expect(OldSignatures(future: .succeeded(1)).all() == ["1", "1 -", "1 1 -", "-", "1", "1"])
  }

  @Test("An error reaches every shape that takes one")
  func errorReachesEveryShape() {
    let error = "\(TestError(2))"
    #expect(
      OldSignatures(future: .failed(TestError(2))).all()
        == ["-", "- \(error)", "- - \(error)", error, "0", error]
    )
  }

  @Test("Closures with an annotation, and closure literals, still select their overload")
  func otherClosuresFindTheirFunction() {
    var seen: [String] = []
    let future = Future<Int, any Error>.succeeded(1)
    let onMain: @MainActor (Int?, (any Error)?) -> Void = { value, _ in seen.append("\(value ?? 0)") }
    future.forward(on: .mainImmediate, to: onMain)
    future.forward(on: .mainImmediate) { value, _ in seen.append("\(value ?? 0)") }
    future.forward(on: .mainImmediate) { result in seen.append("\((try? result.get()) ?? 0)") }
    future.forward(on: .immediate) { (value: Int?, _: (any Error)?) in #expect(value == 1) }
    #expect(seen == ["1", "1", "1"])
  }
}
