import Futures
import FuturesAsync
import Observation

// The code below the line is in Recipes.md. `ScreenRecipeTests` compares both.

// ----

@MainActor @Observable final class ReaderModel {
  enum State {
    case loading(Double), loaded(String), failed(String)
  }

  private(set) var state = State.loading(0)

  func load(_ name: String) async {
    state = .loading(0)
    let text = download(name)
    defer { text.cancel() }  // does nothing after the result; otherwise stops the download
    for await event in text.events {
      switch event {
      case .progress(let progress): state = .loading(progress.fractionCompleted)
      case .resolved(.success(let text)): state = .loaded(text)
      case .resolved(.failure(let error)): state = .failed("\(error)")
      }
    }
  }
}

/// The loading part of a `UIViewController`: call `appear` in `viewWillAppear`, `disappear` in `viewDidDisappear`.
@MainActor final class AvatarLoader {
  private let latest = Latest()
  var show: (String) -> Void = { _ in }

  func appear(user: Int) {
    latest.run(on: .main) {
      avatar(of: user)
    } whenResolved: { [weak self] result in
      if case .success(let image) = result { self?.show(image) }
    }
  }

  func disappear() { latest.cancel() }
}

@MainActor final class SearchScreenModel {
  private let latest: Latest
  private(set) var rows: [String] = []

  init(timer: ExecutionContext = .global()) { latest = Latest(timer: timer) }

  func textChanged(_ text: String) {
    latest.run(after: .milliseconds(200), on: .main) {
      search(text)
    } whenResolved: { [weak self] result in
      self?.rows = (try? result.get()) ?? []
    }
  }
}
