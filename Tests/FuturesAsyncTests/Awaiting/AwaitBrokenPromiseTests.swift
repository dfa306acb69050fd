internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Sets a handler that records the label of each broken promise, and "other" for any other misuse.
func recordBrokenPromises() -> Recorder<String> {
  let recorder = Recorder<String>()
  FuturesDiagnostics.setHandler { misuse in
    if case .brokenPromise(let broken) = misuse {
      recorder.record("\(broken.label ?? "no label") \(broken.fileID)")
    } else {
      recorder.record("other")
    }
  }
  return recorder
}

/// Returns a future, and an object that drops the future's promise.
func breakable<Failure: Error>(
  _ label: String?,
  _ type: Failure.Type,
  line: UInt = #line
) -> (Future<Int, Failure>, Dropping<Promise<Int, Failure>>) {
  let promise = Promise<Int, Failure>(label, line: line)
  return (promise.future, Dropping(promise))
}

/// Ends a process without a search for leaks, which would report the tasks that are suspended for ever.
func exitWithTasksThatWaitForEver() -> Never {
  _exit(0)
}

@Suite(.timeLimit(.minutes(20)))
struct AwaitBrokenPromiseTests {
  @Test(
    "R4: an await throws BrokenPromise with label, file and line, if the failure type can hold it, also of a stage",
    arguments: [nil, "upload"]
  )
  func awaitThrowsBrokenPromise(label: String?) async {
    func check<Failure: Error>(_ type: Failure.Type) async {
      let (future, promise) = breakable(label, type, line: 7)
      let stage = future.map { $0 }.flatMap { .succeeded($0) }
      let waiting = [future, stage].map { future in Task.immediate { await future.result } }
      promise.drop()
      for result in [await waiting[0].value, await waiting[1].value, await future.result] {
        let error = #expect(throws: BrokenPromise.self) { try result.get() }
        #expect(error?.label == label)
        #expect(error?.fileID == #fileID)
        #expect(error?.line == 7)
      }
    }
    await check((any Error).self)
    await check(BrokenPromise.self)
  }

  @Test("R4: an await of a broken promise, or of its stage, is reported if the failure type cannot hold the break")
  func eachWaitIsReported() async {
    // A separate process: a process has one handler, and other tests drop promises, too.
    await #expect(processExitsWith: .success) {
      let recorder = recordBrokenPromises()
      let (future, promise) = breakable("source", Never.self)
      Task.immediate { await future.value }
      #expect(recorder.events.isEmpty)
      promise.drop()
      #expect(recorder.events == ["source \(#fileID)"])
      let stage = future.map { $0 }.flatMap { .succeeded($0) }
      Task.immediate { await stage.value }
      #expect(recorder.events == ["source \(#fileID)", "source \(#fileID)"])
      #expect(future.peek() == nil)
      // R22: a cancelled task stops waiting, because this failure type has a cancelled case.
      let (typed, typedPromise) = breakable("typed", Interruption.self)
      let before = Task.immediate { await typed.result }
      typedPromise.drop()
      let after = Task.immediate { await typed.result }
      #expect(recorder.events.count == 4)
      for task in [before, after] {
        task.cancel()
        #expect(await task.value == .failure(.wasCancelled))
      }
      exitWithTasksThatWaitForEver()
    }
  }
}
