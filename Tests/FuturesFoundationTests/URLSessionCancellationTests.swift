import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite("URLSession, cancelled at any time", .unlessLookingForLeaks, .timeLimit(.minutes(20)))
struct URLSessionCancellationTests {
  @Test(
    "R15: cancelling a transfer returns, stops the transfer and fails the future, whatever the server does",
    .serialized,
    arguments: Attack.Answer.allCases
  )
  fileprivate func anyTime(answer: Attack.Answer) async {
    // In a separate process: a blocked cancellation would block the other tests too.
    await #expect(processExitsWith: .success) { [answer] in
      alarm(900)  // ends the process; only a blocked cancellation takes that long
      try await Attack(answer, count: TestTier.choose(standard: 60, thorough: 1_000)).run()
    }
  }
}

/// Transfers of all kinds, four at a time, that are cancelled at random times by threads without a task.
private final class Attack: NSObject, URLSessionTaskDelegate, Sendable {
  /// The answer of the server to each request.
  enum Answer: String, CaseIterable, Codable {
    /// Sends many chunks of one byte. They keep Foundation's queue busy until the transfer ends.
    case chunks
    /// Redirects to itself.
    case redirections
    /// Asks for other credentials each time.
    case challenges
    /// Sends nothing until the client closes the connection.
    case silence
  }

  private let answer: Answer
  private let count: Int
  private let openConnections = Locked(0)

  init(_ answer: Answer, count: Int) {
    self.answer = answer
    self.count = count
  }

  func run() async throws {
    let server = try LoopbackServer { [self] exchange in
      openConnections.withLock { $0 += 1 }
      respond(to: exchange)
      openConnections.withLock { $0 -= 1 }
    }
    let place = try TemporaryPlace()
    let session = URLSession(configuration: .ephemeral, delegate: self, delegateQueue: nil)
    let threads = (0..<4).map { number in
      Future<Void, any Error>(on: .newThread) { [self] in
        var random = SeededGenerator(seed: UInt64(number))
        for _ in 0..<count / 4 { try cancelOne(at: server, in: session, place, &random) }
      }
    }
    for thread in threads { try await thread.value }
    // If a request did not stop, this would wait for ever.
    while openConnections.withLock({ $0 }) > 0 { await Future.after(.milliseconds(1)).value }
  }

  private func respond(to exchange: LoopbackServer.Exchange) {
    switch answer {
    case .chunks:
      exchange.begin(headers: ["Transfer-Encoding: chunked"])
      let chunks = Data(String(repeating: "1\r\nx\r\n", count: 1_000).utf8)
      for _ in 0..<5 { exchange.send(chunks) }
      exchange.send(Data("0\r\n\r\n".utf8))
    case .redirections:
      exchange.begin("302 Found", headers: ["Location: /"], length: 0)
    case .challenges:
      exchange.begin("401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"realm\""], length: 0)
    case .silence:
      exchange.waitForClose()
    }
  }

  private func cancelOne(
    at server: LoopbackServer,
    in session: URLSession,
    _ place: TemporaryPlace,
    _ random: inout SeededGenerator
  ) throws {
    let request = server.request(method: "POST")
    let future =
      switch Int.random(in: 0..<3, using: &random) {
      case 0: session.dataFuture(for: request).map { _ in }
      case 1: session.downloadFuture(for: request, to: place.url).map { _ in }
      default: session.uploadFuture(for: request, from: Data(count: 1_000)).map { _ in }
      }
    _ = Future.after(.microseconds(Int.random(in: 0..<30_000, using: &random))).wait()
    future.cancel()
    switch future.peek() {
    case .failure(let error) where error is CancellationError: break
    // The end of the transfer came first.
    case .success where answer == .chunks: break
    case .failure(let error as URLError) where error.code == .httpTooManyRedirects && answer == .redirections: break
    case let result: throw Unexpected(result: "\(String(describing: result))")
    }
  }

  private struct Unexpected: Error { let result: String }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    let credential = URLCredential(user: UUID().uuidString, password: "password", persistence: .none)
    completionHandler(.useCredential, credential)
  }
}
