import Foundation
import Synchronization

@testable import Newsreader

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The only file of the suite that uses the app, and that a step can change.
enum AppUnderTest {
  static let ways = [
    Way(description: "callbacks") { CallbackApp(parts: Parts($0)) }
  ]
}

/// The app's objects, in the world of a test.
struct Parts: Sendable {
  let client: HTTPClient
  let feeds: FeedService
  let articles: ArticleLoader
  let images: ImageCache
  let enclosures: Enclosures
  let sync: SyncClient
  let unread = UnreadCount()

  init(_ world: World) {
    func client(_ host: String) -> HTTPClient {
      HTTPClient(base: URL(string: "https://\(host)")!, transport: world.server)
    }
    self.client = client("news")
    feeds = FeedService(client: self.client)
    articles = ArticleLoader(
      client: self.client,
      mirrors: [client("mirror1"), client("mirror2")],
      scheduler: world.time
    )
    images = ImageCache(client: self.client, scheduler: world.time)
    enclosures = Enclosures(client: self.client, disk: world.disk)
    sync = SyncClient(connection: world.connection)
  }
}

/// The app by its callbacks.
struct CallbackApp: NewsApp, HasParts {
  let parts: Parts

  func page(_ path: String) async throws -> String {
    try await awaiting { done in
      parts.client.get(path) { response, error in
        if let response { done(.success(String(decoding: response.body, as: UTF8.self))) }
        if let error { done(.failure(error)) }
      }
    }
  }

  func signIn(_ user: String, password: String) async throws -> String {
    try await awaiting { done in
      parts.client.signIn(user, password: password, success: { done(.success($0)) }, failure: { done(.failure($0)) })
      return nil
    }
  }

  func headlines(_ feed: Int) async throws -> [String] {
    try await awaiting { done in
      parts.feeds.feed(feed) { result in done(result.map(\.headlines).mapError { $0 }) }
    }
  }

  func frontPage(_ feeds: [Int]) async throws -> [[String]] {
    try await awaiting { done in
      parts.feeds.frontPage(feeds) { result in done(result.map { $0.map(\.headlines) }) }
    }
  }

  func article(_ id: Int) async throws -> String {
    try await awaiting { done in parts.articles.article(id, completion: done) }
  }

  func mirrored(_ id: Int) async throws -> String {
    try await awaiting { done in parts.articles.mirrored(id, completion: done) }
  }

  func image(_ name: String) async throws -> String {
    try await awaiting { done in
      parts.images.image(name) { result in done(result.map { String(decoding: $0, as: UTF8.self) }) }
    }
  }

  func download(_ name: String, progress: @escaping @Sendable (Double) -> Void) async throws -> String {
    try await awaiting { done in parts.enclosures.download(name, progress: progress, completion: done) }
  }

  func saved(_ name: String) async throws -> String {
    try await awaiting { done in
      parts.enclosures.saved(name) { data, error in
        if let data { done(.success(String(decoding: data, as: UTF8.self))) }
        if let error { done(.failure(error)) }
      }
      return nil
    }
  }

  func answer(to question: String) async throws -> String {
    try await awaiting { done in
      parts.sync.answer(to: question, completion: done)
      return nil
    }
  }

  func unreadCounts() -> AsyncThrowingStream<Int, any Error> {
    AsyncThrowingStream { stream in
      let listening = parts.unread.listen { stream.yield($0) }
      stream.onTermination = { _ in listening.cancel() }
    }
  }

  @MainActor func show(_ feed: Int, redraw: @escaping @MainActor (Screen) -> Void) async {
    let model = FeedViewModel(service: parts.feeds)
    model.redraw = { [unowned model] in redraw(Screen(model)) }
    await withCheckedContinuation { shown in model.load(feed) { shown.resume() } }
  }
}

/// Awaits a callback; cancelling the task cancels the handle, and a second callback crashes the test.
private func awaiting<Value: Sendable>(
  _ start: (@escaping Completion<Value>) -> (any Cancellable)?
) async throws -> Value {
  let handle = CancelBag()
  return try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      if let part = start({ continuation.resume(with: $0) }) { handle.add(part) }
    }
  } onCancel: {
    handle.cancel()
  }
}

extension NewsApp where Self: HasParts {
  func setUnread(_ count: Int) { parts.unread.set(count) }
  var unreadListenerCount: Int { parts.unread.listenerCount }

  func fault(_ error: any Error) -> Fault {
    switch error {
    case let error as URLError where error.code == .cancelled: .cancelled
    case NewsError.status(let status): .status(status)
    case NewsError.malformed: .malformed
    case NewsError.timedOut: .timedOut
    case NewsError.cancelled: .cancelled
    case NewsError.unanswered: .unanswered
    default: .other("\(error)")
    }
  }
}

/// The common part of all ways to use the app.
protocol HasParts {
  var parts: Parts { get }
}

extension Screen {
  @MainActor init(_ model: FeedViewModel) {
    self.init(title: model.title, hasMessage: !model.message.isEmpty, isLoading: model.isLoading)
  }
}

// The test doubles conform to the protocols of the app.

extension ScriptedServer: Transport {
  func send(_ request: Request, completion: @escaping @Sendable (Response?, (any Error)?) -> Void) -> any Cancellable {
    let served = ServedRequest(
      address: (request.url.host() ?? "") + request.url.path() + (request.start == 0 ? "" : "#\(request.start)"),
      body: String(decoding: request.body ?? Data(), as: UTF8.self)
    ) { result in
      switch result {
      case .success(let answer):
        let total = answer.total ?? answer.body.utf8.count
        completion(Response(status: answer.status, body: Data(answer.body.utf8), total: total), nil)
      case .failure(.cancelled): completion(nil, URLError(.cancelled))
      case .failure(let fault): completion(nil, fault)
      }
    }
    receive(served)
    return CancelAction { served.cancel() }
  }
}

extension ManualTime: Scheduler {
  func after(_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> any Cancellable {
    let stop: @Sendable () -> Void = after(delay, work)
    return CancelAction(action: stop)
  }
}

extension ScriptedConnection: SyncConnection {
  func open(delegate: any SyncDelegate) {
    open { [weak delegate] in
      delegate?.didReceive(answer: $0, forQuestion: $1)
    } lose: { [weak delegate] in
      delegate?.didLoseConnection($0)
    }
  }
}

extension ScriptedDisk: Disk {
  func read(_ name: String) throws -> Data { Data(try read(name).utf8) }
  func append(_ data: Data, to name: String) throws { try append(String(decoding: data, as: UTF8.self), to: name) }
}
