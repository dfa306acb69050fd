internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R4: awaiting a future whose promise was dropped", .timeLimit(.minutes(20)))
struct AwaitBrokenPromiseTests {
  /// Returns a future, the line that made its promise, and an object that drops the promise.
  func breakable<Failure: Error>(
    _ label: String?,
    _ type: Failure.Type
  ) -> (future: Future<Int, Failure>, line: UInt, promise: Dropping<Promise<Int, Failure>>) {
    let (promise, line): (Promise<Int, Failure>, UInt) = (Promise(label), #line)
    return (promise.future, line, Dropping(promise))
  }

  @Test(
    "R4: with `any Error`, the await throws BrokenPromise with label, file and line, also of a stage",
    arguments: [nil, "upload"]
  )
  func awaitThrowsBrokenPromise(label: String?) async {
    let (future, line, promise) = breakable(label, (any Error).self)
    let stage = future.map { $0 }.flatMap { .succeeded($0) }
    let waiting = [future, stage].map { future in Task.immediate { try await future.value } }
    promise.drop()
    let late = Task.immediate { try await future.value }
    for (index, task) in (waiting + [late]).enumerated() {
      let error = await #expect(throws: BrokenPromise.self, "task \(index)") { try await task.value }
      #expect(error?.label == label, "task \(index)")
      #expect(error?.fileID == #fileID, "task \(index)")
      #expect(error?.line == line, "task \(index)")
    }
  }

  @Test("R4: with the failure type `BrokenPromise`, the await throws it")
  func awaitThrowsTypedBrokenPromise() async {
    let (future, line, promise) = breakable("typed", BrokenPromise.self)
    let waiting = Task.immediate { await future.result }
    promise.drop()
    for result in [await waiting.value, await future.result] {
      let error = #expect(throws: BrokenPromise.self) { try result.get() }
      #expect(error?.label == "typed")
      #expect(error?.line == line)
    }
  }
}
