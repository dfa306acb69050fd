import Futures
import FuturesAsync

// The code below the line is in Recipes.md. `ScreenRecipeTests` compares both.

// ----

final class Images: Sendable {
  private let cache: FutureCache<String, [UInt8], any Error>
  private let downloads = ConcurrencyLimit(4)

  init(timer: ExecutionContext = .global()) { cache = FutureCache("image", keepingFor: .seconds(60), timer: timer) }

  func image(_ name: String) -> Future<[UInt8], any Error> {
    cache.future(for: name) { downloads.run { fetch(name) } }
  }
}

struct Token: Equatable, Sendable {
  let text: String
  let lifetime: Duration
}

final class Session: Sendable {
  private let tokens: FutureCache<SingleKey, Token, any Error>

  init(timer: ExecutionContext = .global()) { tokens = FutureCache("token", timer: timer) { token in token.lifetime } }

  func get(_ path: String) -> Future<String, any Error> {
    token().flatMap { token in
      send(path, with: token).flatMapError { error in
        guard error is Unauthorized else { return .failed(error) }
        self.tokens.remove { $0 == token }  // another request can have replaced it
        return self.token().flatMap { send(path, with: $0) }
      }
    }
  }

  private func token() -> Future<Token, any Error> { tokens.future { newToken() } }
}

final class Locations: Sendable {
  private let stream: SharedCallbackStream<Location>

  init(_ service: LocationService) {
    stream = SharedCallbackStream("location") { stream in
      service.start { location in stream.yield(location) }
      stream.onCancel { service.stop() }
    }
  }

  func updates() -> AsyncThrowingStream<Location, any Error> {
    stream.reader(bufferingPolicy: .bufferingNewest(1), startingWithLast: true)
  }
}
