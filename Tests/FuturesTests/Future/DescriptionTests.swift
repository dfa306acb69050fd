import Futures
import TestSupport
import Testing

struct DescriptionTests {
  private func text(_ subject: Any) -> String { "\(subject)" }

  private func children(_ subject: Any) -> [String: String] {
    let children = Mirror(reflecting: subject).children
    return Dictionary(uniqueKeysWithValues: children.map { ($0.label ?? "", "\($0.value)") })
  }

  @Test("The description of a future shows its result, or its state and its label")
  func future() {
    #expect(text(Future.succeeded(3)) == "Future(succeeded: 3)")
    #expect(text(Future<Int, TestError>.failed(TestError(1))) == "Future(failed: TestError(number: 1))")
    let promise = Promise<Int, any Error>("avatar")
    #expect(text(promise.future) == "Future(pending, \"avatar\")")
    #expect(text(promise.future.map { $0 }) == "Future(pending)")
    promise.succeed(4)
    #expect(text(promise.future) == "Future(succeeded: 4)")
    #expect(text(Future<Int, any Error>.never) == "Future(pending)")
    #expect(text(Future<Int, Never> { _ in }) == "Future(broken)")
  }

  @Test("A future that follows another has the same description")
  func follower() {
    let (promise, follower) = (Promise<Int, any Error>("avatar"), Promise<Int, any Error>())
    promise.follow(follower.future.map { $0 })
    #expect(text(promise.future) == "Future(pending, \"avatar\")")
    follower.succeed(5)
    #expect(text(promise.future) == "Future(succeeded: 5)")
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

  @Test("The description of a promise shows the content of its future's description")
  func promise() {
    let promise = Promise<Int, any Error>("avatar")
    #expect(text(promise) == "Promise(pending, \"avatar\")")
    #expect(children(promise) == ["state": "pending", "label": "Optional(\"avatar\")"])
    promise.fail(TestError(2))
    #expect(text(promise) == "Promise(failed: TestError(number: 2))")
  }

  @Test("A mirror shows the result, not the storage")
  func mirror() {
    #expect(children(Future.succeeded(3)) == ["result": "success(3)"])
    let promise = Promise<Int, Never>()
    #expect(children(promise.future) == ["state": "pending", "label": "nil"])
    promise.succeed(4)
    #expect(children(promise.future) == ["result": "success(4)"])
    #expect(children(promise) == ["result": "success(4)"])
    let source = CancellationTokenSource()
    #expect(children(source) == ["isCancelled": "false"])
    #expect(children(source.token) == ["isCancelled": "false"])
  }

  @Test("The descriptions of a token and its source show whether they were cancelled")
  func token() {
    let source = CancellationTokenSource()
    #expect(text(source) == "CancellationTokenSource(not cancelled)")
    #expect(text(source.token) == "CancellationToken(not cancelled)")
    source.cancel()
    #expect(text(source) == "CancellationTokenSource(cancelled)")
    #expect(text(source.token) == "CancellationToken(cancelled)")
    #expect(text(CancellationToken.none) == "CancellationToken(none)")
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

  @Test("The error of a dropped promise names the label, the file and the line")
  func brokenPromise() {
    let line: UInt = #line + 1
    let future = Future<Int, any Error>("avatar") { _ in }
    let promise = "The promise \"avatar\" made at FuturesTests/DescriptionTests.swift:\(line)"
    #expect(text(future) == "Future(failed: \(promise) was dropped without being resolved.)")
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

  @Test("A mirror of a value shows a struct, and that of an object a class; a mirror of a failure shows the error")
  func mirrorStyles() {
    let (promise, source) = (Promise<Int, TestError>(), CancellationTokenSource())
    promise.fail(TestError(1))
    let styles = [promise.future, promise, source.token, source].map { Mirror(reflecting: $0 as Any).displayStyle }
    #expect(styles == [.struct, .class, .struct, .class])
    #expect(children(promise.future) == ["result": "failure(TestSupport.TestError(number: 1))"])
    #expect(children(Future<Int, Never> { _ in }) == ["state": "broken", "label": "nil"])
    source.cancel()
    #expect(children(source) == ["isCancelled": "true"])
    #expect(children(source.token) == ["isCancelled": "true"])
  }
}
