@testable import Newsreader

/// The app by the async counterparts that the migration tool has written.
struct GeneratedApp: NewsApp, HasParts {
  let parts: Parts

  func page(_ path: String) async throws -> String {
    String(decoding: try await parts.client.get(path).body, as: UTF8.self)
  }

  func signIn(_ user: String, password: String) async throws -> String {
    try await parts.client.signIn(user, password: password)
  }

  func headlines(_ feed: Int) async throws -> [String] { try await parts.feeds.feed(feed).headlines }
  func frontPage(_ feeds: [Int]) async throws -> [[String]] { try await parts.feeds.frontPage(feeds).map(\.headlines) }
  func article(_ id: Int) async throws -> String { try await parts.articles.article(id) }
  func mirrored(_ id: Int) async throws -> String { try await parts.articles.mirrored(id) }

  func image(_ name: String) async throws -> String {
    String(decoding: try await parts.images.image(name), as: UTF8.self)
  }

  func download(_ name: String, progress: @escaping @Sendable (Double) -> Void) async throws -> String {
    try await parts.enclosures.download(name, progress: progress)
  }

  func saved(_ name: String) async throws -> String {
    String(decoding: try await parts.enclosures.saved(name), as: UTF8.self)
  }

  func answer(to question: String) async throws -> String { try await parts.sync.answer(to: question) }

  /// Refused by the tool: a callback that comes many times.
  func unreadCounts() -> AsyncThrowingStream<Int, any Error> { CallbackApp(parts: parts).unreadCounts() }

  @MainActor func show(_ feed: Int, redraw: @escaping @MainActor (Screen) -> Void) async {
    let model = FeedViewModel(service: parts.feeds)
    model.redraw = { [unowned model] in redraw(Screen(model)) }
    try? await model.load(feed)
  }

  func fault(_ error: any Error) -> Fault {
    error is CancellationError ? .cancelled : CallbackApp(parts: parts).fault(error)
  }
}
