import Testing

@Suite("Requests", .timeLimit(.minutes(1)))
struct RequestContract {
  let world = World()

  @Test("A page is loaded", arguments: AppUnderTest.ways)
  func loads(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    try await world.server.request("news/about").answer("About us")
    #expect(try await page.value == "About us")
  }

  @Test("An error status fails the call with that status", arguments: AppUnderTest.ways)
  func status(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    try await world.server.request("news/about").answer("Not here", status: 404)
    #expect(try await app.fault(of: page) == .status(404))
  }

  @Test("An error of the transport is passed on", arguments: AppUnderTest.ways)
  func transportError(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    try await world.server.request("news/about").fail(.lost)
    #expect(try await app.fault(of: page) == .lost)
  }

  @Test("Cancelling stops the request and ends the call", arguments: AppUnderTest.ways)
  func cancels(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    let request = try await world.server.request("news/about")
    page.cancel()
    try await request.cancelled()
    #expect(try await app.fault(of: page) == .cancelled)
  }

  @Test("The second of two answers is ignored", arguments: AppUnderTest.ways)
  func answeredTwice(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    let request = try await world.server.request("news/about")
    request.answer("first")
    request.answer("second")
    #expect(try await page.value == "first")
  }

  @Test("A callback that the transport drops fails the call", arguments: AppUnderTest.ways)
  func dropped(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.page("about") }
    try await world.server.request("news/about").forget()
    #expect(try await app.fault(of: page) == .unanswered)
  }

  @Test("Signing in returns a token or the error", arguments: AppUnderTest.ways)
  func signsIn(_ way: Way) async throws {
    let app = way.app(world)
    let right = world.start { try await app.signIn("ada", password: "1815") }
    let request = try await world.server.request("news/session")
    #expect(request.body == "ada:1815")
    request.answer("token 1")
    #expect(try await right.value == "token 1")

    let wrong = world.start { try await app.signIn("ada", password: "1852") }
    try await world.server.request("news/session").answer("", status: 401)
    #expect(try await app.fault(of: wrong) == .status(401))
  }

  @Test("A feed is decoded, or the call fails", arguments: AppUnderTest.ways)
  func decodes(_ way: Way) async throws {
    let app = way.app(world)
    let right = world.start { try await app.headlines(1) }
    try await world.server.request("news/feed/1").answer(feed("Rain", "Sun"))
    #expect(try await right.value == ["Rain", "Sun"])

    let wrong = world.start { try await app.headlines(2) }
    try await world.server.request("news/feed/2").answer("<html>")
    #expect(try await app.fault(of: wrong) == .malformed)
  }

  @Test("The front page has the feeds in the requested order", arguments: AppUnderTest.ways)
  func joins(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.frontPage([1, 2, 3]) }
    for id in [3, 1, 2] { try await world.server.request("news/feed/\(id)").answer(feed("headline \(id)")) }
    #expect(try await page.value == [["headline 1"], ["headline 2"], ["headline 3"]])
    let empty = world.start { try await app.frontPage([]) }
    #expect(try await empty.value.isEmpty)
  }

  @Test("A failing feed fails the front page, and stops the other requests", arguments: AppUnderTest.ways)
  func joinFails(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.frontPage([1, 2]) }
    let first = try await world.server.request("news/feed/1")
    try await world.server.request("news/feed/2").answer("", status: 500)
    try await first.cancelled()
    #expect(try await app.fault(of: page) == .status(500))
  }

  @Test("Cancelling the front page stops all of its requests", arguments: AppUnderTest.ways)
  func joinCancels(_ way: Way) async throws {
    let app = way.app(world)
    let page = world.start { try await app.frontPage([1, 2]) }
    let first = try await world.server.request("news/feed/1")
    let second = try await world.server.request("news/feed/2")
    page.cancel()
    try await first.cancelled()
    try await second.cancelled()
    #expect(try await app.fault(of: page) == .cancelled)
  }

  private func feed(_ headlines: String...) -> String { #"{"title": "News", "headlines": \#(headlines)}"# }
}

extension NewsApp {
  /// The fault with which a task fails; `nil` if it succeeds.
  func fault<Value: Sendable>(of task: Started<Value>) async throws -> Fault? {
    switch try await task.result {
    case .success: nil
    case .failure(let error): error as? Fault ?? fault(error)
    }
  }
}
