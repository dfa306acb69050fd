internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite("R4: awaiting a future whose promise was dropped", .timeLimit(.minutes(20)))
struct AwaitBrokenPromiseTests {
  /// A future, the line on which its promise was made, and what drops that.
  func breakable<Failure: Error>(
    _ label: String?,
    _ type: Failure.Type
  ) -> (future: Future<Int, Failure>, line: UInt, promise: Dropping<Promise<Int, Failure>>) {
    let (promise, line): (Promise<Int, Failure>, UInt) = (Promise(label), #line)
    return (promise.future, line, Dropping(promise))
  }

  @Test("R4: `any Error`: it throws BrokenPromise with label, file and line", arguments: [nil, "upload"])
  func anyError(label: String?) async {
    let (future, line, promise) = breakable(label, (any Error).self)
    let waiting = Task.immediate { try await future.value }
    promise.drop()
    let late = Task.immediate { try await future.value }
    for task in [waiting, late] {
      let error = await #expect(throws: BrokenPromise.self) { try await task.value }
      #expect(error?.label == label)
      #expect(error?.fileID == #fileID)
      #expect(error?.line == line)
    }
  }

  @Test("R4: `BrokenPromise`: it throws that")
  func typed() async {
    let (future, line, promise) = breakable("typed", BrokenPromise.self)
    let waiting = Task.immediate { await future.result }
    promise.drop()
    for result in [await waiting.value, await future.result] {
      let error = #expect(throws: BrokenPromise.self) { try result.get() }
      #expect(error?.label == "typed")
      #expect(error?.line == line)
    }
  }

  @Test("R4: a stage of a broken future is awaited with the same error")
  func derived() async {
    let (future, line, promise) = breakable("source", (any Error).self)
    let stage = future.map { $0 }.flatMap { .succeeded($0) }
    let waiting = Task.immediate { try await stage.value }
    promise.drop()
    let error = await #expect(throws: BrokenPromise.self) { try await waiting.value }
    #expect(error?.label == "source")
    #expect(error?.line == line)
  }

  @Test("R4: the caller is on its own actor when it gets BrokenPromise", arguments: Home.allCases)
  func isolation(home: Home) async {
    let (future, _, promise) = breakable("far", (any Error).self)
    let isHome = await run(on: home.make()) { actor in
      do {
        _ = try await future.value
        return false
      } catch {
        return error is BrokenPromise && isReallyOn(actor)
      }
    } then: { _ in
      promise.drop()
    }
    #expect(isHome)
  }
}
