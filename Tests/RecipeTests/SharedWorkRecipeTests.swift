import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

struct Unauthorized: Error {}
struct Location: Sendable, Equatable { var latitude = 0.0, longitude = 0.0 }

/// A server that makes tokens, and forgets them.
private final class Server: Sendable {
  struct State {
    var tokens = 0
    var valid: Set<String> = []
    var loading = 0
    var mistakes: [String] = []
  }

  let context: ExecutionContext
  let state = Locked(State())

  init(_ context: ExecutionContext = .immediate) { self.context = context }

  func newToken() -> Future<Token, any Error> {
    state.withLock { state in
      state.loading += 1
      if state.loading > 1 { state.mistakes.append("two refreshes at the same time") }
    }
    return Future(on: context) { [state] in
      state.withLock { state in
        state.loading -= 1
        state.tokens += 1
        let text = "token \(state.tokens)"
        state.valid.insert(text)
        return Token(text: text, lifetime: .seconds(60))
      }
    }
  }

  func send(_ path: String, with token: Token) -> Future<String, any Error> {
    Future(on: context) { [state] () throws(any Error) in
      guard state.withLock({ $0.valid.contains(token.text) }) else { throw Unauthorized() }
      return "the page \(path)"
    }
  }
}

/// The server of the recipes, which a test replaces.
private let server = Locked(Server())

func newToken() -> Future<Token, any Error> { server.withLock(\.self).newToken() }
func send(_ path: String, with token: Token) -> Future<String, any Error> {
  server.withLock(\.self).send(path, with: token)
}

/// The network of the image recipe, and its requests.
private let images = Locked<(context: ExecutionContext, requests: [String], running: Int, most: Int)>(
  (.immediate, [], 0, 0)
)

func fetch(_ name: String) -> Future<[UInt8], any Error> {
  let context = images.withLock { images in
    images.requests.append(name)
    images.running += 1
    images.most = max(images.most, images.running)
    return images.context
  }
  return Future(on: context) {
    images.withLock { $0.running -= 1 }
    return Array(name.utf8)
  }
}

/// A service with one listener, whose calls the test counts.
final class LocationService: Sendable {
  private let listener = Locked<(@Sendable (Location) -> Void)?>(nil)
  let log = Recorder<String>()

  func start(_ listener: @escaping @Sendable (Location) -> Void) {
    log.record("start")
    self.listener.withLock { $0 = listener }
  }

  func stop() {
    log.record("stop")
    let dropped = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    _ = dropped  // released here, outside the lock
  }

  func move(to latitude: Double) { listener.withLock(\.self)?(Location(latitude: latitude)) }
}

@Suite("Recipes of shared work, in every order", .serialized, .unlessSanitized)
struct SharedWorkRecipeTests {
  @Test("Tokens: a revoked token is refreshed once for all requests, and no request fails")
  func revokedToken() async throws {
    var counts: Set<Int> = []
    let report = try await exploreOrders { orders in
      let api = Server(orders.context("server"))
      server.withLock { $0 = api }
      let clock = ManualContext()
      let session = Session(timer: clock.context)
      let pages = ["a", "b"].map { path in session.get(path) }
      await orders.step("the server revokes all tokens")
      api.state.withLock { $0.valid = [] }
      try await orders.runAll()
      let state = api.state.withLock(\.self)
      counts.insert(state.tokens)
      try Unexpected.unless(state.mistakes.isEmpty && state.tokens <= 2, "\(state)")
      let results = pages.map { page in try? page.peek()?.get() }
      try Unexpected.unless(results == ["the page a", "the page b"], "\(pages)")
    }
    #expect(report.isExhaustive)
    #expect(counts == [1, 2])
  }

  @Test("Tokens: a token that expires is refreshed by the next request")
  func expiredToken() throws {
    let (network, clock) = (ManualContext(), ManualContext())
    let api = Server(network.context)
    server.withLock { $0 = api }
    let session = Session(timer: clock.context)
    for seconds in [0, 59, 1] {
      clock.advance(by: .seconds(seconds))
      let page = session.get("a")
      network.runAll()
      #expect(try page.peek()?.get() == "the page a")
    }
    #expect(api.state.withLock { $0.tokens } == 2)
  }

  @Test("Images: in every order, the cells of an image share a download, which starts again only if all had left")
  func imageLoader() async throws {
    var requests: Set<[String]> = []
    let report = try await exploreOrders { orders in
      images.withLock { $0 = (orders.context("network"), [], 0, 0) }
      let clock = ManualContext()
      let loader = Images(timer: clock.context)
      let cells = [loader.image("a"), loader.image("a")]
      cells[0].cancel()
      await orders.step("the second cell goes")
      cells[1].cancel()
      let isLoaded = cells[1].isResolved && (try? cells[1].peek()?.get()) != nil
      let late = loader.image("a")
      try await orders.runAll()
      let seen = images.withLock { $0.requests }
      requests.insert(seen)
      try Unexpected.unless(seen.count == (isLoaded ? 1 : 2), "\(seen), loaded before: \(isLoaded)")
      try Unexpected.unless((try? late.peek()?.get()) == Array("a".utf8), "\(late)")
      clock.advance(by: .seconds(60))
      _ = loader.image("a")
      try Unexpected.unless(images.withLock { $0.requests.count } == seen.count + 1, "the image did not expire")
      try await orders.runAll()
    }
    #expect(report.isExhaustive)
    #expect(requests == [["a"], ["a", "a"]])
  }

  @Test("Images: at most four downloads run")
  func fourDownloads() {
    let network = ManualContext()
    images.withLock { $0 = (network.context, [], 0, 0) }
    let loader = Images(timer: network.context)
    let all = (1...10).map { number in loader.image("\(number)") }
    network.runAll()
    #expect(all.count { $0.isResolved } == 10)
    #expect(images.withLock { $0.most } == 4)
  }

  @Test("Locations: in every order of readers and moves, a reader begins with the last place, and misses none")
  func locations() async throws {
    var seen: Set<String> = []
    let report = try await exploreOrders { orders in
      let service = LocationService()
      let locations = Locations(service)
      let first = locations.updates()
      orders.context("service").submit {
        service.move(to: 1)
        service.move(to: 2)
      }
      let second = Locked<AsyncThrowingStream<Location, any Error>?>(nil)
      orders.context("second screen").submit { second.withLock { $0 = locations.updates() } }
      try await orders.runAll()
      service.move(to: 3)
      let reader = Task { () -> [Double] in
        var places: [Double] = []
        for try await place in first { places.append(place.latitude) }
        return places
      }
      let late = Task { () -> [Double] in
        guard let updates = second.withLock(\.self) else { return [] }
        second.withLock { $0 = nil }
        for try await place in updates { return [place.latitude] }
        return []
      }
      let place = try await late.value
      reader.cancel()
      let places = (try? await reader.value) ?? []
      seen.insert("\(place) \(places)")
      try Unexpected.unless(place == [3], "the second screen shows \(place)")
      try Unexpected.unless(service.log.events == ["start", "stop"], "\(service.log.events)")
    }
    #expect(report.isExhaustive)
  }
}
