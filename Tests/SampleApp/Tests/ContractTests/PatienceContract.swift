import Testing

@Suite("Patience", .timeLimit(.minutes(1)))
struct PatienceContract {
  let world = World()

  @Test("What fails for a while is tried again after pauses that double", arguments: AppUnderTest.ways)
  func retries(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.article(7) }
    for pause in [1, 2] {
      try await world.server.request("news/article/7").answer("", status: 503)
      try await world.time.timer(of: .seconds(pause))
      world.time.advance(by: .seconds(pause))
    }
    try await world.server.request("news/article/7").answer("Finally")
    #expect(try await article.value == "Finally")
    #expect(world.time.timerCount == 0)
  }

  @Test("After three attempts it fails, with the last error", arguments: AppUnderTest.ways)
  func givesUp(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.article(7) }
    for pause in [1, 2] {
      try await world.server.request("news/article/7").answer("", status: 503)
      try await world.time.timer(of: .seconds(pause))
      world.time.advance(by: .seconds(pause))
    }
    try await world.server.request("news/article/7").answer("", status: 500)
    #expect(try await app.fault(of: article) == .status(500))
    #expect(world.server.requestCount == 3)
  }

  @Test("What will not pass is not tried again", arguments: AppUnderTest.ways)
  func doesNotRetry(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.article(7) }
    try await world.server.request("news/article/7").answer("", status: 404)
    #expect(try await app.fault(of: article) == .status(404))
    #expect(world.server.requestCount == 1)
  }

  @Test("An attempt that takes ten seconds is stopped", arguments: AppUnderTest.ways)
  func timesOut(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.article(7) }
    for pause in [1, 2, nil] {
      let request = try await world.server.request("news/article/7")
      try await world.time.timer(of: .seconds(10))
      world.time.advance(by: .seconds(10))
      try await request.cancelled()
      guard let pause else { break }
      try await world.time.timer(of: .seconds(pause))
      world.time.advance(by: .seconds(pause))
    }
    #expect(try await app.fault(of: article) == .timedOut)
  }

  @Test("Cancelling in a pause ends it, and there is no further attempt", arguments: AppUnderTest.ways)
  func cancelsPause(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.article(7) }
    try await world.server.request("news/article/7").answer("", status: 503)
    try await world.time.timer(of: .seconds(1))
    article.cancel()
    #expect(try await app.fault(of: article) == .cancelled)
    world.time.advance(by: .seconds(60))
    #expect(world.server.requestCount == 1)
  }

  @Test("The faster mirror wins, and the slower is stopped", arguments: AppUnderTest.ways)
  func races(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.mirrored(7) }
    let slower = try await world.server.request("mirror1/article/7")
    try await world.server.request("mirror2/article/7").answer("From the second")
    try await slower.cancelled()
    #expect(try await article.value == "From the second")
  }

  @Test("A mirror that fails loses to one that is slower", arguments: AppUnderTest.ways)
  func failingMirror(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.mirrored(7) }
    let slower = try await world.server.request("mirror1/article/7")
    try await world.server.request("mirror2/article/7").answer("", status: 500)
    try await world.settled()
    #expect(!slower.isCancelled)
    slower.answer("From the first")
    #expect(try await article.value == "From the first")
  }

  @Test("When all mirrors fail, so does the article", arguments: AppUnderTest.ways)
  func allMirrorsFail(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.mirrored(7) }
    try await world.server.request("mirror1/article/7").answer("", status: 500)
    try await world.server.request("mirror2/article/7").answer("", status: 500)
    #expect(try await app.fault(of: article) == .status(500))
  }
}
