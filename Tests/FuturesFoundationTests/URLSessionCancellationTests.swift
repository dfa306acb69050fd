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

@Suite(.unlessLookingForLeaks, .timeLimit(.minutes(20)))
struct URLSessionCancellationTests {
  @Test(
    "R15: cancelling a transfer returns, stops the transfer and fails the future, whatever the server does",
    .serialized,
    arguments: Attack.Answer.allCases
  )
  fileprivate func anyTime(answer: Attack.Answer) async {
    // Runs in a separate process: a blocked cancellation would block the other tests too.
    await #expect(processExitsWith: .success) { [answer] in
      alarm(900)  // ends the process; only a blocked cancellation takes that long
      try await Attack(answer).run()
    }
  }

  #if os(Linux)
    @Test("R15: `cancel()` returns while Foundation's queue is blocked")
    func queueIsBlocked() async {
      // Runs in a separate process: all sessions share the queue.
      await #expect(processExitsWith: .success) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [BlockingProtocol.self]
        let session = URLSession(configuration: configuration)
        let future = session.dataFuture(for: URLRequest(url: URL(string: "blocking://host/")!))
        await BlockingProtocol.isBlocked.future.value
        future.cancel()
        guard !BlockingProtocol.isUnblocked.isResolved, case .failure(is CancellationError) = future.peek() else {
          throw Unexpected(result: String(describing: future.peek()))
        }
        BlockingProtocol.mayGoOn.succeed()
        await BlockingProtocol.isStopped.future.value
      }
    }
  #endif
}

private struct Unexpected: Error { let result: String }

#if os(Linux)
  /// A transfer that blocks Foundation's queue until the test lets it go on.
  private final class BlockingProtocol: URLProtocol {
    static let (isBlocked, mayGoOn) = (Promise<Void, Never>(), Promise<Void, Never>())
    static let (isUnblocked, isStopped) = (Promise<Void, Never>(), Promise<Void, Never>())

    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "blocking" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
      Self.isBlocked.succeed()
      // A limit, so that a faulty cancellation fails the test and does not block it.
      _ = Self.mayGoOn.future.wait(timeout: .seconds(10))
      Self.isUnblocked.succeed()
    }

    override func stopLoading() { Self.isStopped.succeed() }
  }
#endif

/// Transfers of all kinds, four at a time, that are cancelled at random times by threads without a task.
private final class Attack: NSObject, URLSessionTaskDelegate, Sendable {
  /// The answer of the server to each request.
  enum Answer: String, CaseIterable, Codable {
    /// Sends a hundred times a thousand chunks of one byte, with pauses in which Foundation processes a thousand.
    case chunks
    /// Sends the same chunks without pauses. They keep Foundation's queue busy until the transfer ends, for a second.
    case burst
    /// Redirects to itself.
    case redirections
    /// Asks for other credentials each time.
    case challenges
    /// Sends nothing until the client closes the connection.
    case silence

    /// The number of transfers.
    var count: Int {
      switch self {
      case .burst: TestTier.choose(standard: 4, thorough: 8)
      default: TestTier.choose(standard: 20, thorough: 200)
      }
    }
  }

  private let answer: Answer
  private let openConnections = Locked(0)

  init(_ answer: Answer) { self.answer = answer }

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
        var random = SplitMix64(seed: UInt64(number))
        for _ in 0..<answer.count / 4 { try cancelOne(at: server, in: session, place, &random) }
      }
    }
    for thread in threads { try await thread.value }
    // If a request did not stop, this would wait for ever.
    while openConnections.withLock({ $0 }) > 0 { await Future.after(.milliseconds(1)).value }
  }

  private func respond(to exchange: LoopbackServer.Exchange) {
    switch answer {
    case .chunks, .burst:
      exchange.begin(headers: ["Transfer-Encoding: chunked"])
      let chunks = Data(String(repeating: "1\r\nx\r\n", count: 1_000).utf8)
      for _ in 0..<100 {
        exchange.send(chunks)
        if answer == .chunks, exchange.isClosed(withinMilliseconds: 60) { return }
      }
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
    _ random: inout SplitMix64
  ) throws {
    let request = server.request(method: "POST")
    let future =
      switch Int.random(in: 0..<3, using: &random) {
      case 0: session.dataFuture(for: request).map { _ in }
      case 1: session.downloadFuture(for: request, to: place.url).map { _ in }
      default: session.uploadFuture(for: request, from: Data(count: 1_000)).map { _ in }
      }
    let longest = answer == .chunks ? 80_000 : 30_000
    _ = Future.after(.microseconds(Int.random(in: 0..<longest, using: &random))).wait()
    future.cancel()
    switch future.peek() {
    case .failure(let error) where error is CancellationError: break
    // The end of the transfer came first.
    case .success where answer == .chunks || answer == .burst: break
    case .failure(let error as URLError) where error.code == .httpTooManyRedirects && answer == .redirections: break
    case let result: throw Unexpected(result: "\(String(describing: result))")
    }
  }

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
