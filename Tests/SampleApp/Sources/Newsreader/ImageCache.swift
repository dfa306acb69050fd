import Foundation
import Synchronization

/// Images, kept for five minutes; callers that ask for an image in flight share its request.
final class ImageCache: Sendable {
  private struct Loading {
    let request = CancelBag()
    var waiting: [Int: Completion<Data>] = [:]
  }

  private struct State {
    var images: [String: (data: Data, expiry: Duration)] = [:]
    var loading: [String: Loading] = [:]
  }

  private enum Answer {
    case image(Data)
    case joined
    case first(CancelBag)
  }

  private let client: HTTPClient
  private let scheduler: any Scheduler
  private let state = Mutex(State())
  private let numbers = Counter()

  init(client: HTTPClient, scheduler: any Scheduler) {
    self.client = client
    self.scheduler = scheduler
  }

  /// A caller that cancels gets an error at once; the last one stops the request.
  @discardableResult
  func image(_ name: String, completion: @escaping Completion<Data>) -> any Cancellable {
    let number = numbers.next()
    let now = scheduler.now
    let answer = state.withLock { state -> Answer in
      if let image = state.images[name], now < image.expiry { return .image(image.data) }
      let isFirst = state.loading[name] == nil
      var loading = state.loading[name] ?? Loading()
      loading.waiting[number] = completion
      state.loading[name] = loading
      return isFirst ? .first(loading.request) : .joined
    }
    switch answer {
    case .image(let data): completion(.success(data))
    case .joined: break
    case .first(let request):
      let running = client.get("image/\(name)") { response, error in
        let result = response.map { Result.success($0.body) } ?? .failure(error ?? NewsError.offline)
        self.finish(name, request, result)
      }
      request.add(running)
    }
    return CancelAction { self.leave(name, number) }
  }

  private func finish(_ name: String, _ request: CancelBag, _ result: Result<Data, any Error>) {
    let waiting = state.withLock { state -> [Completion<Data>] in
      // Another request can have replaced a cancelled one.
      guard let loading = state.loading[name], loading.request === request else { return [] }
      state.loading[name] = nil
      if let data = try? result.get() { state.images[name] = (data, scheduler.now + .seconds(300)) }
      return loading.waiting.sorted { $0.key < $1.key }.map(\.value)
    }
    for completion in waiting { completion(result) }
  }

  private func leave(_ name: String, _ number: Int) {
    let (completion, request) = state.withLock { state -> (Completion<Data>?, CancelBag?) in
      guard let completion = state.loading[name]?.waiting.removeValue(forKey: number) else { return (nil, nil) }
      guard state.loading[name]?.waiting.isEmpty == true else { return (completion, nil) }
      return (completion, state.loading.removeValue(forKey: name)?.request)
    }
    completion?(.failure(NewsError.cancelled))
    request?.cancel()
  }
}
