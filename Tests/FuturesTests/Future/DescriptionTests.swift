import Futures
import TestSupport
import Testing

struct DescriptionTests {
  private func text(_ subject: Any) -> String { "\(subject)" }

  private func children(_ subject: Any) -> [String: String] {
    let children = Mirror(reflecting: subject).children
    return Dictionary(uniqueKeysWithValues: children.map { ($0.label ?? "", "\($0.value)") })
  }

  @Test("A description shows the result, or the state and the label; a follower has that of its future")
  func states() {
    let (pending, failed) = (Promise<Int, any Error>("avatar"), Promise<Int, any Error>("avatar"))
    failed.fail(TestError(2))
    let follower = Promise<Int, any Error>("follower")
    follower.follow(failed.future.map { $0 })
    let (source, cancelled) = (CancellationTokenSource(), CancellationTokenSource())
    cancelled.cancel()
    let table: [(subject: Any, description: String)] = [
      (Future.succeeded(3), "Future(succeeded: 3)"), (failed.future, "Future(failed: TestError(number: 2))"),
      (pending.future, "Future(pending, \"avatar\")"), (pending.future.map { $0 }, "Future(pending)"),
      (Future<Int, any Error>.never, "Future(pending)"), (Future<Int, Never> { _ in }, "Future(broken)"),
      (follower.future, "Future(failed: TestError(number: 2))"), (pending, "Promise(pending, \"avatar\")"),
      (failed, "Promise(failed: TestError(number: 2))"), (source, "CancellationTokenSource(not cancelled)"),
      (source.token, "CancellationToken(not cancelled)"), (cancelled, "CancellationTokenSource(cancelled)"),
      (cancelled.token, "CancellationToken(cancelled)"), (CancellationToken.none, "CancellationToken(none)"),
    ]
    for (subject, description) in table { #expect(text(subject) == description) }
    pending.succeed(1)
  }

  @Test("R2b: describing or reflecting a lazy future does not start it")
  func lazy() {
    let starts = Recorder<Int>()
    let future = Future<Int, any Error>.lazy { promise in
      starts.record(1)
      promise.succeed(1)
    }
    #expect(text(future) == "Future(not started)")
    #expect(children(future) == ["state": "not started", "label": "nil"])
    #expect(starts.events.isEmpty)
    future.whenResolved(on: .immediate) { _ in }
    #expect(text(future) == "Future(succeeded: 1)")
  }

  @Test("A mirror shows the result or the state, and not the storage")
  func mirrors() {
    let (pending, failed) = (Promise<Int, TestError>("avatar"), Promise<Int, TestError>())
    failed.fail(TestError(1))
    let source = CancellationTokenSource()
    let failure = ["result": "failure(TestSupport.TestError(number: 1))"]
    let state = ["state": "pending", "label": "Optional(\"avatar\")"]
    let table: [(subject: Any, children: [String: String], style: Mirror.DisplayStyle)] = [
      (Future.succeeded(3), ["result": "success(3)"], .struct), (failed.future, failure, .struct),
      (failed, failure, .class), (pending.future, state, .struct), (pending, state, .class),
      (Future<Int, Never> { _ in }, ["state": "broken", "label": "nil"], .struct),
      (source, ["isCancelled": "false"], .class), (source.token, ["isCancelled": "false"], .struct),
    ]
    for (subject, expected, style) in table {
      #expect(children(subject) == expected)
      #expect(Mirror(reflecting: subject).displayStyle == style, "\(expected)")
    }
    pending.succeed(1)
  }

  @Test("The description of a progress shows the fraction and the units; 100% only after success")
  func progress() {
    let promise = Promise<Int, any Error>()
    let progress = promise.progress
    progress.report(completed: 5, of: nil)
    #expect(text(promise.future.currentProgress) == "FutureProgress(5 of unknown)")
    progress.report(completed: 29, of: 100)
    #expect(text(promise.future.currentProgress) == "FutureProgress(29%, 29 of 100)")
    progress.report(completed: 100, of: 100)
    #expect(text(promise.future.currentProgress) == "FutureProgress(99%, 100 of 100)")
    promise.succeed(1)
    #expect(text(promise.future.currentProgress) == "FutureProgress(100%, 100 of 100)")
  }

  @Test("An error's description says what happened, to which promise, and where")
  func errors() {
    func broken(_ label: String?, _ cause: BrokenPromise.Cause) -> BrokenPromise {
      BrokenPromise(label: label, fileID: "App/View.swift", line: 7, cause: cause)
    }
    func violation(_ label: String?) -> CallbackContractViolation {
      CallbackContractViolation(label: label, fileID: "App/View.swift", line: 7)
    }
    let table: [(error: any Error, description: String)] = [
      (
        broken("avatar", .promiseDropped),
        "The promise \"avatar\" made at App/View.swift:7 was dropped without being resolved."
      ),
      (broken(nil, .promiseDropped), "The promise made at App/View.swift:7 was dropped without being resolved."),
      (
        broken("avatar", .workDropped),
        "An execution context dropped the work of a future derived from the promise \"avatar\" made at App/View.swift:7."
      ),
      (
        BrokenPromise(label: nil, fileID: "", line: 0, cause: .workDropped),
        "An execution context dropped the work of a derived future."
      ),
      (
        violation("avatar"),
        "The callback \"avatar\" wrapped at App/View.swift:7 gave neither a value nor an error."
      ),
      (violation(nil), "The callback wrapped at App/View.swift:7 gave neither a value nor an error."),
      (TimeoutError(duration: .seconds(5)), "The future was not resolved within 5.0 seconds."),
      (
        CompositeError(errors: [TestError(1), TestError(2)]),
        "2 futures failed: TestError(number: 1); TestError(number: 2)"
      ),
    ]
    for (error, description) in table { #expect(text(error) == description) }
  }
}
