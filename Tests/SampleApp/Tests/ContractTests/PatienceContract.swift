import Testing

@Suite("Patience", .timeLimit(.minutes(1)))
struct PatienceContract {
  let world = World()

  @Test("A temporary failure is retried after pauses that double", arguments: AppUnderTest.ways)
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

  @Test("After three attempts, the call fails with the last error", arguments: AppUnderTest.ways)
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

  @Test("A permanent failure is not retried", arguments: AppUnderTest.ways)
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

  @Test("Cancelling during a pause ends the call without a further attempt", arguments: AppUnderTest.ways)
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

  @Test("The faster mirror wins, and the request to the slower one is stopped", arguments: AppUnderTest.ways)
  func races(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.mirrored(7) }
    let slower = try await world.server.request("mirror1/article/7")
    try await world.server.request("mirror2/article/7").answer("From the second")
    try await slower.cancelled()
    #expect(try await article.value == "From the second")
  }

  @Test("A failing mirror loses to a slower one", arguments: AppUnderTest.ways)
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

  @Test("The call fails when all mirrors fail", arguments: AppUnderTest.ways)
  func allMirrorsFail(_ way: Way) async throws {
    let app = way.app(world)
    let article = world.start { try await app.mirrored(7) }
    try await world.server.request("mirror1/article/7").answer("", status: 500)
    try await world.server.request("mirror2/article/7").answer("", status: 500)
    #expect(try await app.fault(of: article) == .status(500))
  }
}
