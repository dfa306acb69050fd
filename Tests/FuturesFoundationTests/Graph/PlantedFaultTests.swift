import Dispatch
import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import FuturesTesting
import ProgramSupport
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

private func graphText() -> String { FuturesDiagnostics.graph.description }

/// Returns the text of the first graph that contains the phrase, or the text of the last of a million graphs.
private func graphText(with phrase: String) async -> String {
  var text = ""
  for _ in 0..<1_000_000 where !text.contains(phrase) {
    await Task.yield()
    text = graphText()
  }
  return text
}

/// An API that keeps its callbacks, or forgets them.
private final class OldAPI: Sendable {
  private let kept = Locked<[@Sendable (Int) -> Void]>([])

  func load(_ completion: @escaping @Sendable (Int) -> Void) { kept.withLock { $0.append(completion) } }
  func forget() { kept.withLock { $0 = [] } }
}

/// Nine faults of programs that hang: for each, the text of the graph names the guilty line.
///
/// Each test runs in a separate process, because the graph shows the pending work of the whole process.
@Suite("Diagnostics: nine planted faults", .unlessLookingForLeaks)
struct PlantedFaultTests {
  @Test("1. A dropped callback: the graph names the promise that was released unresolved")
  func droppedCallback() async {
    await #expect(processExitsWith: .success) { await Faults.droppedCallback() }
  }

  @Test("2. A forgotten resume in one branch: the graph names the call of withCallback and the task that it suspends")
  func forgottenResume() async {
    await #expect(processExitsWith: .success) { try await Faults.forgottenResume() }
  }

  @Test("3. Two tasks that await each other: the graph names the circle, and the lines that started the tasks")
  func tasksInACircle() async {
    await #expect(processExitsWith: .success) { await Faults.tasksInACircle() }
  }

  @Test("4. A lost cancellation: the graph names the cancelled work that has not ended")
  func lostCancellation() async {
    await #expect(processExitsWith: .success) { Faults.lostCancellation() }
  }

  @Test("5. A starved queue: the graph names the queue, and the promise whose callback waits for it")
  func starvedQueue() async {
    await #expect(processExitsWith: .success) { Faults.starvedQueue() }
  }

  @Test("6. A token that is never cancelled: the graph names the wait for it")
  func tokenNeverCancelled() async {
    await #expect(processExitsWith: .success) { await Faults.tokenNeverCancelled() }
  }

  @Test("7. A request without a timeout: the graph names the URL and the line")
  func requestWithoutTimeout() async {
    await #expect(processExitsWith: .success) { try await Faults.requestWithoutTimeout() }
  }

  @Test("8. A semaphore in a transform: the graph names the promise whose transform has not returned")
  func semaphoreInTransform() async {
    await #expect(processExitsWith: .success) { await Faults.semaphoreInTransform() }
  }

  @Test("9. A circle of follow: the graph names the circle, with both promises")
  func circleOfFollow() async {
    await #expect(processExitsWith: .success) { Faults.circleOfFollow() }
  }
}

/// The bodies of the tests, outside the macro: within a macro, `#line` is always the macro's first line.
private enum Faults {
  static func droppedCallback() async {
    FuturesDiagnostics.setHandler { _ in }
    FuturesDiagnostics.tracksPendingFutures = true
    let api = OldAPI()
    let line = #line + 1
    let user = Future<Int, Never>("user") { promise in api.load(promise.valueHandler) }
    let screen = Future<Int, Never>.immediate(name: "screen") { await user.map { $0 + 1 }.value }
    api.forget()
    let text = graphText()
    #expect(text.contains("promise \"user\" at \(#fileID):\(line), broken: it was dropped unresolved"), "\(text)")
    #expect(text.contains("await in the task \"screen\""), "\(text)")
    #expect(text.contains("      └─ task \"screen\" at \(#fileID):\(line + 1)"), "\(text)")
    _ = screen
  }

  static func forgottenResume() async throws {
    FuturesDiagnostics.tracksPendingFutures = true
    let kept = Locked<[Callback<Int>]>([])
    let line = #line + 2
    let feed = Future<Int, any Error>.immediate(name: "feed") {
      try await withCallback("cache") { callback in
        if kept.withLock({ $0.count == 1 }) {
          callback.resume(returning: 1)
        } else {
          kept.withLock { $0.append(callback) }
        }
      }
    }
    let text = graphText()
    #expect(text.contains("withCallback \"cache\" at \(#fileID):\(line), pending for"), "\(text)")
    #expect(text.contains("└─ task \"feed\" at \(#fileID):\(line - 1)"), "\(text)")
    _ = feed
  }

  static func tasksInACircle() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let other = Promise<Future<Int, Never>, Never>("the other task")
    let line = #line + 1
    let first = Future<Int, Never>.immediate(name: "first") { await other.future.value.value }
    let second = Future<Int, Never>.immediate(name: "second") { await first.value }
    // The first task continues on another thread, so the test asks for graphs until the circle is there. Each `yield`
    // gives the first task, which has the same priority, its turn.
    other.succeed(second)
    let text = await graphText(with: "A circle")
    #expect(text.contains("A circle, in which nothing ever ends"), "\(text)")
    #expect(text.contains("task \"first\" at \(#fileID):\(line) waits for"), "\(text)")
    #expect(text.contains("task \"second\" at \(#fileID):\(line + 1) waits for"), "\(text)")
  }

  static func lostCancellation() {
    FuturesDiagnostics.tracksPendingFutures = true
    let (export, line) = (Promise<Int, Never>("export"), #line)
    let stage = export.future.map { $0 }
    stage.cancel()
    export.future.cancel()
    let text = graphText()
    #expect(
      text.contains("promise \"export\" at \(#fileID):\(line), pending for 0.0"),
      "\(text)"
    )
    #expect(text.contains("cancelled, but has not ended since"), "\(text)")
  }

  static func starvedQueue() {
    FuturesDiagnostics.tracksPendingFutures = true
    let queue = DispatchQueue(label: "app.database")
    let gate = DispatchSemaphore(value: 0)
    queue.async { gate.wait() }
    let (rows, line) = (Promise<Int, Never>("rows"), #line)
    rows.future.map(on: .queue(queue)) { $0 + 1 }.whenResolved(on: .immediate) { _ in }
    rows.future.whenResolved(on: .queue(queue)) { _ in }
    rows.succeed(1)
    let text = graphText()
    let origin =
      "submitted to the queue \"app.database\", with the result of the promise \"rows\" at \(#fileID):\(line), not started"
    #expect(text.contains("transform (Int → Int) \(origin)"), "\(text)")
    #expect(text.contains("callback \(origin)"), "\(text)")
    gate.signal()
  }

  static func tokenNeverCancelled() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let source = CancellationTokenSource()
    let token = source.token
    let line = #line + 1
    let server = Future<Void, Never>.immediate(name: "server") { await token.cancelled() }
    let text = graphText()
    #expect(text.contains("promise \"CancellationToken.cancelled()\" at \(#fileID):\(line)"), "\(text)")
    #expect(text.contains("task \"server\" at \(#fileID):\(line)"), "\(text)")
    _ = (server, source)
  }

  static func requestWithoutTimeout() async throws {
    FuturesDiagnostics.tracksPendingFutures = true
    let arrived = DispatchSemaphore(value: 0)
    let server = try LoopbackServer { exchange in
      arrived.signal()
      exchange.waitForClose()
    }
    let url = URL(string: "http://127.0.0.1:\(server.port)/feed")!
    let (feed, line) = (URLSession.shared.dataFuture(for: URLRequest(url: url)), #line)
    await Future<Void, Never>(on: .newThread) { arrived.wait() }.value
    let text = graphText()
    #expect(text.contains("request \"GET \(url)\" at \(#fileID):\(line), pending for"), "\(text)")
    feed.cancel()
  }

  static func semaphoreInTransform() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let (blocked, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let (page, line) = (Promise<Int, Never>("page"), #line)
    let decoded = page.future.map { value in
      blocked.signal()
      gate.wait()
      return value
    }
    page.future.whenResolved(on: .immediate) { _ in }
    startThread { page.succeed(1) }
    await Future<Void, Never>(on: .newThread) { blocked.wait() }.value
    let text = graphText()
    let place = "promise \"page\" at \(#fileID):\(line)"
    #expect(text.contains("\(place), resolved, and a callback or transform of its future has not returned"), "\(text)")
    gate.signal()
    await #expect(decoded.value == 1)
  }

  static func circleOfFollow() {
    FuturesDiagnostics.tracksPendingFutures = true
    let (first, line) = (Promise<Int, Never>("first"), #line)
    let second = Promise<Int, Never>("second")
    first.follow(second.future.map { $0 })
    second.follow(first.future)
    let text = graphText()
    #expect(text.contains("A circle, in which nothing ever ends"), "\(text)")
    #expect(text.contains("promise \"first\" at \(#fileID):\(line) waits for"), "\(text)")
    #expect(text.contains("promise \"second\" at \(#fileID):\(line + 1) waits for"), "\(text)")
  }
}
