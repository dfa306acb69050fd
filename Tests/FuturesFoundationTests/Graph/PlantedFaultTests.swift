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

/// An API that keeps its callbacks, or forgets them.
private final class OldAPI: Sendable {
  private let kept = Locked<[@Sendable (Int) -> Void]>([])

  func load(_ completion: @escaping @Sendable (Int) -> Void) { kept.withLock { $0.append(completion) } }
  func forget() { kept.withLock { $0 = [] } }
}

/// Faults of programs that hang: for each, the text of the graph names the guilty line.
enum PlantedFault: String, CaseIterable, Codable {
  case droppedCallback, forgottenResume, lostCancellation, tokenNeverCancelled, requestWithoutTimeout
  case semaphoreInTransform

  /// Plants the fault, and checks the text of the graph.
  func plant() async throws {
    FuturesDiagnostics.tracksPendingFutures = true
    switch self {
    case .droppedCallback: Self.droppedCallback()
    case .forgottenResume: Self.forgottenResume()
    case .lostCancellation: Self.lostCancellation()
    case .tokenNeverCancelled: Self.tokenNeverCancelled()
    case .requestWithoutTimeout: try await Self.requestWithoutTimeout()
    case .semaphoreInTransform: await Self.semaphoreInTransform()
    }
  }
}

@Suite(.unlessLookingForLeaks)
struct PlantedFaultTests {
  @Test("The graph of a program that hangs names the guilty line", .serialized, arguments: PlantedFault.allCases)
  func graphNamesGuiltyLine(fault: PlantedFault) async {
    // Runs in a separate process, because the graph shows the pending work of the whole process.
    await #expect(processExitsWith: .success) { [fault] in try await fault.plant() }
  }
}

extension PlantedFault {
  fileprivate static func droppedCallback() {
    FuturesDiagnostics.setHandler { _ in }
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

  fileprivate static func forgottenResume() {
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

  fileprivate static func lostCancellation() {
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

  fileprivate static func tokenNeverCancelled() {
    let source = CancellationTokenSource()
    let token = source.token
    let line = #line + 1
    let server = Future<Void, Never>.immediate(name: "server") { await token.cancelled() }
    let text = graphText()
    #expect(text.contains("promise \"CancellationToken.cancelled()\" at \(#fileID):\(line)"), "\(text)")
    #expect(text.contains("task \"server\" at \(#fileID):\(line)"), "\(text)")
    _ = (server, source)
  }

  fileprivate static func requestWithoutTimeout() async throws {
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

  fileprivate static func semaphoreInTransform() async {
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
}
