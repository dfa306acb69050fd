import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import ProgramSupport
import TestSupport
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A transfer of each kind, as a future of the status and of the bytes that arrived.
private enum Transfer: CaseIterable, Sendable {
  case data, download, upload

  struct Outcome: Sendable, Equatable {
    let status: Int
    let body: Data
    /// Whether a transform ran inside a task, which R8 forbids.
    var isInTask = withUnsafeCurrentTask { $0 != nil }
  }

  func start(_ request: URLRequest, to place: TemporaryPlace, in session: URLSession = .shared) -> Future<
    Outcome, any Error
  > {
    switch self {
    case .data:
      return session.dataFuture(for: request).map { Outcome(status: $1.status, body: $0) }
    case .download:
      return session.downloadFuture(for: request, to: place.url).map { response in
        Outcome(status: response.status, body: place.contents ?? Data("no file".utf8))
      }
    case .upload:
      var request = request
      request.httpMethod = "POST"
      return session.uploadFuture(for: request, from: Data(count: 100_000)).map { Outcome(status: $1.status, body: $0) }
    }
  }
}

extension URLResponse {
  fileprivate var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}

@Suite(.unlessLookingForLeaks, .timeLimit(.minutes(20)))
struct URLSessionTests {
  private let place: TemporaryPlace

  init() throws { place = try TemporaryPlace() }

  /// The error that a future fails with.
  private func error<Value>(of future: Future<Value, any Error>) async -> (any Error)? {
    if case .failure(let error) = await future.result { error } else { nil }
  }

  @Test(
    "R8: the response and its body arrive outside any task, whatever the status, the length and the size",
    arguments: Transfer.allCases
  )
  private func arrives(transfer: Transfer) async throws {
    for (status, body) in [(200, "body"), (404, "body"), (500, "body"), (200, "")] {
      let server = try LoopbackServer { $0.answer("\(status) Whatever", Data(body.utf8)) }
      // Not started in this task: if the answer came first, `map` would run here.
      let start = Future<Void, any Error>.succeeded(())
      let future = start.flatMap(on: .global()) { transfer.start(server.request(), to: place) }
      let outcome = try await future.value
      #expect(outcome == .init(status: status, body: Data(body.utf8), isInTask: false))
    }
    let server = try LoopbackServer { exchange in
      exchange.begin()  // without a length
      for _ in 0..<100 { exchange.send(Data(repeating: 1, count: 1_000)) }
    }
    let outcome = try await transfer.start(server.request(), to: place).value
    #expect(outcome.body == Data(repeating: 1, count: 100_000))
  }

  private static var response: URLResponse {
    URLResponse(url: URL(filePath: "/"), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
  }

  @Test(
    "R15, R17: a cancelled download returns its response if its file is already stored, and stores nothing otherwise"
  )
  func cancellationAndStoring() throws {
    let (stored, cancelled, failed, response) = (StoredFile(), StoredFile(), StoredFile(), Self.response)
    var isMoved = false
    try stored.store(response) { isMoved = true }
    #expect(isMoved && stored.cancel() === response)
    #expect(cancelled.cancel() == nil)
    #expect(throws: CancellationError.self) { try cancelled.store(response) { Issue.record("the file was moved") } }
    #expect(throws: CocoaError.self) { try failed.store(response) { throw CocoaError(.fileWriteNoPermission) } }
    #expect(failed.cancel() == nil)
  }

  @Test("A cut body, an unreachable server and an unsupported URL fail with URLError", arguments: Transfer.allCases)
  private func fails(transfer: Transfer) async throws {
    let cutting = try LoopbackServer { exchange in
      exchange.begin(length: 1_000)
      exchange.send(Data(count: 10))
    }
    #expect(await error(of: transfer.start(cutting.request(), to: place)) is URLError)
    #expect(place.count == 0)
    let unreachable = try LoopbackServer(listening: false) { _ in }
    let refused = await error(of: transfer.start(unreachable.request(), to: place))
    #expect((refused as? URLError)?.code == .cannotConnectToHost)
    let nonsense = await error(of: transfer.start(URLRequest(url: URL(string: "nonsense:")!), to: place))
    #expect((nonsense as? URLError)?.code == .unsupportedURL)
  }

  @Test(
    "R18: the progress counts the received bytes, of the number that the server promised",
    arguments: [true, false]
  )
  func received(isDownload: Bool) async throws {
    let (first, second) = (Promise<Void, Never>(), Promise<Void, Never>())
    let server = try LoopbackServer { exchange in
      exchange.begin(length: 3_000)
      exchange.send(Data(count: 1_000))
      _ = first.future.wait()
      exchange.send(Data(count: 1_000))
      _ = second.future.wait()
      exchange.send(Data(count: 1_000))
    }
    let kind: Transfer = isDownload ? .download : .data
    let future = kind.start(server.request(), to: place)
    for await progress in future.progress {
      if progress.completedUnitCount > 0, !progress.isFinished { #expect(progress.totalUnitCount == 3_000) }
      if progress.completedUnitCount == 1_000 { first.succeed() }
      if progress.completedUnitCount == 2_000 { second.succeed() }
    }
    #expect(first.isResolved && second.isResolved)
    #expect(future.currentProgress.isFinished)
    #expect(future.currentProgress.completedUnitCount == 3_000)
  }

  @Test("R18: the progress counts no sent bytes of a request with a body, and knows no total without a length")
  func receivedWithoutLength() async throws {
    let mayEnd = Promise<Void, Never>()
    let server = try LoopbackServer { exchange in
      exchange.begin()
      exchange.send(Data(count: 1_000))
      _ = mayEnd.future.wait()
    }
    var request = server.request(method: "POST")
    request.httpBody = Data(count: 300)
    let counts = Recorder<Int64>()
    let future = URLSession.shared.dataFuture(for: request)
    future.whenProgressed(on: .immediate) { counts.record($0.completedUnitCount) }
    for await progress in future.progress where progress.completedUnitCount == 1_000 {
      if !progress.isFinished { #expect(progress.totalUnitCount == nil) }
      mayEnd.succeed()
    }
    #expect(try await future.value.0.count == 1_000)
    #expect(!counts.events.contains(300))
  }

  @Test("R18: the progress of an upload counts the sent bytes, but not the received ones")
  func sent() async throws {
    let mayEnd = Promise<Void, Never>()
    let server = try LoopbackServer { exchange in
      exchange.begin(length: 4)
      _ = mayEnd.future.wait()
      exchange.send(Data("back".utf8))
    }
    let body = Data(count: 300_000)
    let future = URLSession.shared.uploadFuture(for: server.request(method: "PUT"), from: body)
    for await progress in future.progress where progress.completedUnitCount == 300_000 {
      #expect(progress.totalUnitCount == 300_000)
      mayEnd.succeed()
    }
    #expect(try await future.value.0 == Data("back".utf8))
    #expect(future.currentProgress.completedUnitCount == 300_000)
  }

  @Test("The graph names the request of a transfer that has no answer, and the line of its call")
  func graph() async {
    // In a separate process, because the graph shows the pending work of the whole process.
    await #expect(processExitsWith: .success) {
      FuturesDiagnostics.tracksPendingFutures = true
      let arrived = Promise<Void, Never>()
      let server = try LoopbackServer { exchange in
        arrived.succeed()
        exchange.waitForClose()
      }
      let (feed, line) = (URLSession.shared.dataFuture(for: server.request("/feed")), #line)
      await arrived.future.value
      let text = FuturesDiagnostics.graph.description
      #expect(text.contains("request \"GET \(server.url("/feed"))\" at \(#fileID):\(line), pending for"), "\(text)")
      feed.cancel()
    }
  }

  @Test(
    "R17: cancelling stops the transfer and fails at once; a session that is invalidated fails it with URLError",
    arguments: Transfer.allCases,
    [false, true]
  )
  private func cancel(transfer: Transfer, isInvalidated: Bool) async throws {
    let (isUnderWay, isClosed) = (Promise<Void, Never>(), Promise<Void, Never>())
    let server = try LoopbackServer { exchange in
      exchange.begin(length: 1_000)
      exchange.send(Data(count: 10))
      isUnderWay.succeed()
      exchange.waitForClose()
      isClosed.succeed()
    }
    let session = URLSession(configuration: .ephemeral)
    let future = transfer.start(server.request(), to: place, in: session)
    await isUnderWay.future.value
    if isInvalidated {
      session.invalidateAndCancel()
      #expect((await error(of: future) as? URLError)?.code == .cancelled)
    } else {
      future.cancel()
      #expect(future.peek()?.error is CancellationError)
    }
    await isClosed.future.value
    // The session also removes a partial file, once it has noticed the cancellation. Otherwise this would wait for
    // ever.
    while place.count > 0 { await Future.after(.milliseconds(1)).value }
  }

  @Test("The session's delegate answers redirections and challenges", arguments: Transfer.allCases, ["/", "/answered"])
  private func delegate(transfer: Transfer, path: String) async throws {
    let server = try LoopbackServer { exchange in
      if exchange.path == "/" {
        exchange.begin("302 Found", headers: ["Location: /other"], length: 0)
      } else if path == "/answered", !exchange.head.contains("Authorization: Basic") {
        exchange.begin("401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"realm\""], length: 0)
      } else {
        exchange.answer("200 OK", Data(exchange.path.utf8))
      }
    }
    let session = URLSession(configuration: .ephemeral, delegate: AnsweringDelegate(), delegateQueue: nil)
    let outcome = try await transfer.start(server.request(path), to: place, in: session).value
    #expect(outcome == .init(status: 200, body: Data("/answered".utf8), isInTask: false))
  }

  @Test(
    "If the configuration allows it, the session's cookies are sent, also those of a redirection, to their host only",
    arguments: Transfer.allCases,
    [true, false]
  )
  private func cookies(transfer: Transfer, setsCookies: Bool) async throws {
    let server = try LoopbackServer { exchange in
      let target = exchange.path == "/" ? "/other" : exchange.path.hasPrefix("//") ? "http:" + exchange.path : nil
      if let target {
        exchange.begin("302 Found", headers: ["Set-Cookie: name=value", "Location: \(target)"], length: 0)
      } else {
        exchange.answer("200 OK", Data((exchange.head.contains("Cookie: ") ? "sent" : "not sent").utf8))
      }
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpShouldSetCookies = setsCookies
    let cookie = HTTPCookie(properties: [.name: "other", .value: "value", .domain: "127.0.0.1", .path: "/"])
    if !setsCookies { configuration.httpCookieStorage?.setCookie(try #require(cookie)) }
    let session = URLSession(configuration: configuration)
    let redirected = try await transfer.start(server.request(), to: place, in: session).value
    #expect(redirected.body == Data((setsCookies ? "sent" : "not sent").utf8))
    guard setsCookies else { return }
    let next = try await transfer.start(server.request("/next"), to: place, in: session).value
    let otherHost = server.request("//localhost:\(server.url().port!)/other")
    let away = try await transfer.start(otherHost, to: place, in: session).value
    #expect(next.body == Data("sent".utf8) && away.body == Data("not sent".utf8))
  }

  @Test("R15: a cancelled transfer ignores a later answer of the session's delegate", arguments: Transfer.allCases)
  private func lateAnswer(transfer: Transfer) async throws {
    let server = try LoopbackServer { $0.begin("302 Found", headers: ["Location: /other"], length: 0) }
    let delegate = AnsweringDelegate(hesitates: true)
    let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    let future = transfer.start(server.request(), to: place, in: session)
    let answer = await delegate.question.future.value
    future.cancel()
    #expect(future.peek()?.error is CancellationError)
    answer()
    // If Foundation trapped, the trap would come before the answer to the next request.
    let other = try LoopbackServer { $0.answer("200 OK", Data("body".utf8)) }
    #expect(try await transfer.start(other.request(), to: place).value.status == 200)
  }

  private struct Refused: Error {}

  /// The end of a download, with the status of the response.
  private enum End: Int, CaseIterable, Sendable { case stored = 200, refused = 404, cut = 0 }

  @Test(
    "A failed or refused download keeps an existing file, and another replaces it, without another file beside it",
    arguments: End.allCases
  )
  private func replaces(end: End) async throws {
    try Data("old".utf8).write(to: place.url)
    let server = try LoopbackServer { exchange in
      guard end != .cut else { return exchange.begin(length: 10) }
      exchange.answer("\(end.rawValue) Status", Data("new".utf8))
    }
    let (place, contents) = (place, Recorder<Data?>())
    let download = URLSession.shared.downloadFuture(for: server.request(), to: place.url) { response in
      contents.record(place.contents)
      guard response.status == 200 else { throw Refused() }
    }
    let failure = await error(of: download)
    #expect((failure is Refused) == (end == .refused) && (failure is URLError) == (end == .cut))
    #expect(place.contents == Data((end == .stored ? "new" : "old").utf8) && place.count == 1)
    if end != .cut { #expect(contents.events == [Data("old".utf8)]) }
  }

  @Test("A download that cannot be stored fails with the error of the storing", arguments: ["nowhere/file", "."])
  func cannotStore(path: String) async throws {
    let isClosed = Promise<Void, Never>()
    let server = try LoopbackServer { exchange in
      exchange.begin(length: 1_000)
      exchange.send(Data(count: path == "." ? 1_000 : 10))
      exchange.waitForClose()
      isClosed.succeed()
    }
    let destination = place.url.deletingLastPathComponent().appendingPathComponent(path)
    #expect(await error(of: URLSession.shared.downloadFuture(for: server.request(), to: destination)) is CocoaError)
    #expect(place.count == 0)
    // A file that cannot be opened ends the transfer at its first bytes.
    await isClosed.future.value
  }

  #if os(Linux)
    @Test("A download creates and opens its temporary file in one step, and never removes the file that it replaces")
    func opensOnce() async throws {
      try Data("old".utf8).write(to: place.url)
      let server = try LoopbackServer { $0.answer("200 OK", Data("new".utf8)) }
      let descriptor = inotify_init1(0)
      defer { close(descriptor) }
      let folder = place.url.deletingLastPathComponent()
      let mask = UInt32(IN_CREATE | IN_OPEN | IN_DELETE)
      #expect(inotify_add_watch(descriptor, folder.path, mask) >= 0)
      _ = try await URLSession.shared.downloadFuture(for: server.request(), to: place.url).value
      // Each event has four words and a name: its second word tells what happened, its fourth the bytes of the name.
      var words = [UInt32](repeating: 0, count: 1_024)
      let count = read(descriptor, &words, 4_096) / 4
      var (events, next) = ([Int32](), 0)
      while next < count {
        events.append(Int32(bitPattern: words[next + 1]))
        next += 4 + Int(words[next + 3]) / 4
      }
      // A failure between two steps would leave a file. Not `IN_CLOSE_WRITE`: a process that another test has started closes its copies
      // of the descriptors at any time.
      #expect(events.drop { $0 != Int32(IN_CREATE) } == [Int32(IN_CREATE), Int32(IN_OPEN)])
      #expect(place.contents == Data("new".utf8))
    }

    @Test(
      "Transfers do not search the cache, because Foundation traps if they are cancelled meanwhile; the session keeps it",
      arguments: Transfer.allCases
    )
    private func noCache(transfer: Transfer) async throws {
      let server = try LoopbackServer { $0.answer("200 OK", Data()) }
      let (cache, configuration) = (
        SearchedCache(memoryCapacity: 0, diskCapacity: 0, diskPath: nil), URLSessionConfiguration.ephemeral
      )
      configuration.urlCache = cache
      let session = URLSession(configuration: configuration)
      _ = try await transfer.start(server.request(), to: place, in: session).value
      #expect(!cache.isSearched.withLock { $0 })
      #expect(session.configuration.urlCache === cache)
    }

    @Test("A download whose cancellation Foundation loses stores nothing", arguments: ["", "new"])
    func lostCancellation(body: String) async throws {
      let folder = place.url.deletingLastPathComponent()
      // Each change of the folder changes this date.
      let past = Date(timeIntervalSince1970: 0)
      try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: folder.path)
      weak var session: URLSession?
      do {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [UnstoppableProtocol.self]
        let original = URLSession(configuration: configuration)
        session = original
        let request = URLRequest(url: URL(string: "unstoppable://host/\(body)")!)
        let future = original.downloadFuture(for: request, to: place.url)
        future.cancel()
        #expect(future.peek()?.error is CancellationError)
      }
      // A transfer that has ended releases the session.
      while session != nil { await Future.after(.milliseconds(1)).value }
      #expect(place.count == 0)
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
      #expect(attributes[.modificationDate] as? Date == past)
    }

    @Test("A transfer releases its own session, and with it the user's session", arguments: Transfer.allCases)
    private func releasesSession(transfer: Transfer) async throws {
      let server = try LoopbackServer { $0.answer("200 OK", Data("new".utf8)) }
      weak var session: URLSession?
      do {
        let original = URLSession(configuration: .ephemeral)
        session = original
        _ = try await transfer.start(server.request(), to: place, in: original).value
      }
      // The session releases its delegate after the transfer has ended. If it did not, this would wait for ever.
      while session != nil { await Future.after(.milliseconds(1)).value }
    }
  #endif
}

/// A delegate that redirects to "/answered", and answers challenges; or that leaves a redirection to the test.
private final class AnsweringDelegate: NSObject, URLSessionTaskDelegate {
  private let hesitates: Bool
  /// Succeeds with a function that answers a redirection.
  let question = Promise<@Sendable () -> Void, Never>()

  init(hesitates: Bool = false) { self.hesitates = hesitates }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    var answer = request
    answer.url = request.url?.deletingLastPathComponent().appendingPathComponent("answered")
    question.succeed { [answer] in completionHandler(answer) }
    if !hesitates { completionHandler(answer) }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.useCredential, URLCredential(user: "user", password: "password", persistence: .none))
  }
}

#if os(Linux)
  /// A transfer that a cancellation does not stop: the whole response arrives, and then the transfer ends.
  ///
  /// The body is the path of the URL.
  private final class UnstoppableProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { request.url?.scheme == "unstoppable" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() {}

    override func stopLoading() {
      guard let client, let url = request.url else { return }
      let body = Data(url.path.utf8.dropFirst())
      let response = URLResponse(url: url, mimeType: nil, expectedContentLength: body.count, textEncodingName: nil)
      client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
      if !body.isEmpty { client.urlProtocol(self, didLoad: body) }
      client.urlProtocolDidFinishLoading(self)
    }
  }

  /// A cache that records whether it was searched.
  private final class SearchedCache: URLCache, @unchecked Sendable {
    let isSearched = Locked(false)

    override func getCachedResponse(
      for dataTask: URLSessionDataTask,
      completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
      isSearched.withLock { $0 = true }
      completionHandler(nil)
    }
  }
#endif
