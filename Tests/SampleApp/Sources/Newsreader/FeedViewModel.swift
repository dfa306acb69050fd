import Dispatch

/// The content of the screen of a feed.
@MainActor
final class FeedViewModel {
  private let service: FeedService
  private(set) var title = ""
  private(set) var message = ""
  private(set) var isLoading = false
  /// Draws the screen again.
  var redraw: @MainActor () -> Void = {}

  init(service: FeedService) { self.service = service }

  /// Calls back when the screen shows the feed or the error.
  func load(_ id: Int, then shown: @escaping @MainActor () -> Void) {
    isLoading = true
    redraw()
    service.feed(id) { result in
      DispatchQueue.main.async {
        self.show(result)
        shown()
      }
    }
  }

  private func show(_ result: Result<Feed, NewsError>) {
    isLoading = false
    switch result {
    case .success(let feed): title = feed.title
    case .failure(let error): message = "\(error)"
    }
    redraw()
  }
}
