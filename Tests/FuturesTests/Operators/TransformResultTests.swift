import Futures
import TestSupport
import Testing

/// A transform with its results as text, and the results that it takes to its context.
private struct Row: Sendable, CustomTestStringConvertible {
  enum Hops { case never, values, errors, always }

  let testDescription: String
  /// The result for the value 1, and the result for the error 2.
  let expected: (ofValue: String, ofError: String)
  let hops: Hops
  let derive: @Sendable (Future<Int, TestError>, ExecutionContext) -> @Sendable () -> String?

  init<Value, Failure>(
    _ name: String,
    _ ofValue: String,
    _ ofError: String,
    _ hops: Hops,
    _ derive: @escaping @Sendable (Future<Int, TestError>, ExecutionContext) -> Future<Value, Failure>
  ) {
    (testDescription, expected, self.hops) = (name, (ofValue, ofError), hops)
    self.derive = { source, context in
      let future = derive(source, context)
      return {
        switch future.peek() {
        case .success(let value)?: "\(value)"
        case .failure(let error)?: (error as? TestError).map { "error \($0.number)" } ?? "\(error)"
        case nil: nil
        }
      }
    }
  }

  private typealias Outcome = Result<Int, TestError>

  static let all = [
    Row("map", "2", "error 2", .values) { $0.map(on: $1) { $0 + 1 } },
    Row("map that throws", "error 7", "error 2", .values) {
      $0.map(on: $1) { _ throws(TestError) -> Int in throw TestError(7) }
    },
    Row("flatMap", "2", "error 2", .values) { $0.flatMap(on: $1) { .succeeded($0 + 1) } },
    Row("flatMap to a failure", "error 7", "error 2", .values) {
      $0.flatMap(on: $1) { _ in Future<Int, TestError>.failed(TestError(7)) }
    },
    Row("flatMap that throws", "error 7", "error 2", .values) {
      $0.flatMap(on: $1) { _ throws(TestError) -> Future<Int, TestError> in throw TestError(7) }
    },
    Row("flatMap to a future that cannot fail", "a1", "error 2", .values) {
      $0.flatMap(on: $1) { value -> Future<String, Never> in .succeeded("a\(value)") }
    },
    Row("mapError", "1", "OtherError 2", .errors) { $0.mapError(on: $1) { OtherError(number: $0.number) } },
    Row("flatMapError", "1", "12", .errors) {
      $0.flatMapError(on: $1) { Future<Int, Never>.succeeded($0.number + 10) }
    },
    Row("flatMapError to a failure", "1", "OtherError 2", .errors) {
      $0.flatMapError(on: $1) { Future<Int, OtherError>.failed(OtherError(number: $0.number)) }
    },
    Row("flatMapError that throws", "1", "OtherError 2", .errors) {
      $0.flatMapError(on: $1) { error throws(OtherError) -> Future<Int, OtherError> in
        throw OtherError(number: error.number)
      }
    },
    Row("recover", "1", "12", .errors) { $0.recover(on: $1) { $0.number + 10 } },
    Row("recover that throws", "1", "OtherError 2", .errors) {
      $0.recover(on: $1) { error throws(OtherError) in throw OtherError(number: error.number) }
    },
    Row("tap", "1", "error 2", .always) { $0.tap(on: $1) { _ in } },
    Row("receive", "1", "error 2", .always) { $0.receive(on: $1) },
    Row("materialize", "\(Outcome.success(1))", "\(Outcome.failure(TestError(2)))", .never) { source, _ in
      source.materialize()
    },
    Row("eraseFailure", "1", "error 2", .never) { source, _ in source.eraseFailure() },
    Row("ignoreValue", "()", "error 2", .never) { source, _ in source.ignoreValue() },
  ]
}

private struct OtherError: Error, CustomStringConvertible {
  let number: Int
  var description: String { "OtherError \(number)" }
}

struct TransformResultTests {
  @Test(
    "Each transform runs on its context, and other results pass on without a hop",
    arguments: Row.all,
    TransformingTests.Source.allCases
  )
  private func results(row: Row, source: TransformingTests.Source) {
    for (isSuccess, isHeld) in [(true, true), (true, false), (false, true), (false, false)] {
      let result: Result<Int, TestError> = isSuccess ? .success(1) : .failure(TestError(2))
      let (held, promise) = (HeldContext(), Promise<Int, TestError>())
      if source == .promiseBefore { promise.resolve(result) }
      let derived = row.derive(
        source == .ready ? .resolved(result) : promise.future,
        isHeld ? held.context : .immediate
      )
      promise.resolve(result)
      let hops = isHeld && (row.hops == .always || row.hops == (isSuccess ? .values : .errors))
      let expected = isSuccess ? row.expected.ofValue : row.expected.ofError
      #expect(held.count == (hops ? 1 : 0), "\(result), held: \(isHeld)")
      #expect(derived() == (hops ? nil : expected), "\(result), held: \(isHeld)")
      held.runAll()
      #expect(derived() == expected, "\(result), held: \(isHeld)")
    }
  }
}
