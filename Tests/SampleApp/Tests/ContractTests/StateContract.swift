import Testing

@Suite("Images", .timeLimit(.minutes(1)))
struct ImageContract {
  let world = World()

  @Test("Callers that ask for an image in flight share the request", arguments: AppUnderTest.ways)
  func shares(_ way: Way) async throws {
    let app = way.app(world)
    let tasks = (1...3).map { _ in world.start { try await app.image("logo") } }
    try await world.settled()
    try await world.server.request("news/image/logo").answer("pixels")
    for task in tasks { #expect(try await task.value == "pixels") }
    #expect(world.server.requestCount == 1)
  }

  @Test("An image is kept for five minutes", arguments: AppUnderTest.ways)
  func expires(_ way: Way) async throws {
    let app = way.app(world)
    let first = world.start { try await app.image("logo") }
    try await world.server.request("news/image/logo").answer("old")
    #expect(try await first.value == "old")
    world.time.advance(by: .seconds(299))
    let kept = world.start { try await app.image("logo") }
    #expect(try await kept.value == "old")
    world.time.advance(by: .seconds(1))
    let second = world.start { try await app.image("logo") }
    try await world.server.request("news/image/logo").answer("new")
    #expect(try await second.value == "new")
  }

  @Test("A failure is not kept", arguments: AppUnderTest.ways)
  func failureIsNotKept(_ way: Way) async throws {
    let app = way.app(world)
    let first = world.start { try await app.image("logo") }
    try await world.server.request("news/image/logo").answer("", status: 500)
    #expect(try await app.fault(of: first) == .status(500))
    let second = world.start { try await app.image("logo") }
    try await world.server.request("news/image/logo").answer("pixels")
    #expect(try await second.value == "pixels")
  }

  @Test("A cancelled caller ends at once, and the other callers get the image", arguments: AppUnderTest.ways)
  func leaves(_ way: Way) async throws {
    let app = way.app(world)
    let first = world.start { try await app.image("logo") }
    let request = try await world.server.request("news/image/logo")
    let second = world.start { try await app.image("logo") }
    try await world.settled()
    first.cancel()
    #expect(try await app.fault(of: first) == .cancelled)
    #expect(!request.isCancelled)
    request.answer("pixels")
    #expect(try await second.value == "pixels")
  }

  @Test("The last leaving caller stops the request, and the image can be requested again", arguments: AppUnderTest.ways)
  func lastLeaves(_ way: Way) async throws {
    let app = way.app(world)
    let tasks = (1...2).map { _ in world.start { try await app.image("logo") } }
    try await world.settled()
    let request = try await world.server.request("news/image/logo")
    for task in tasks { task.cancel() }
    try await request.cancelled()
    for task in tasks { #expect(try await app.fault(of: task) == .cancelled) }
    let again = world.start { try await app.image("logo") }
    try await world.server.request("news/image/logo").answer("pixels")
    #expect(try await again.value == "pixels")
  }
}

@Suite("Enclosures", .timeLimit(.minutes(1)))
struct EnclosureContract {
  let world = World()
  private let fractions = Watched<[Double]>([])

  @Test("Progress never decreases, and is complete before the file is there", arguments: AppUnderTest.ways)
  func progress(_ way: Way) async throws {
    let app = way.app(world)
    let file = download(with: app)
    for (start, piece) in [(0, "one "), (4, "two "), (8, "go")] {
      let address = "news/enclosure/talk" + (start == 0 ? "" : "#\(start)")
      try await world.server.request(address).answer(piece, total: 10)
      try await fractions.until { $0.last == Double(start + piece.count) / 10 }
    }
    #expect(try await file.value == "talk")
    #expect(fractions.state == fractions.state.sorted() && fractions.state.last == 1)
    #expect(try world.disk.read("talk") == "one two go")
    let saved = world.start { try await app.saved("talk") }
    #expect(try await saved.value == "one two go")
    try await world.disk.has("talk.part", false)
  }

  @Test("An incomplete file is removed when the server fails", arguments: AppUnderTest.ways)
  func cleansUpAfterServer(_ way: Way) async throws {
    let app = way.app(world)
    let file = download(with: app)
    try await world.server.request("news/enclosure/talk").answer("one ", total: 10)
    let request = try await world.server.request("news/enclosure/talk#4")
    try await world.disk.has("talk.part")
    request.answer("", status: 500)
    #expect(try await app.fault(of: file) == .status(500))
    try await world.disk.has("talk.part", false)
  }

  @Test("An incomplete file is removed when the disk is full", arguments: AppUnderTest.ways)
  func cleansUpAfterDisk(_ way: Way) async throws {
    let app = way.app(world)
    let file = download(with: app)
    try await world.server.request("news/enclosure/talk").answer("one ", total: 10)
    let request = try await world.server.request("news/enclosure/talk#4")
    world.disk.setRoom(0)
    request.answer("two ", total: 10)
    #expect(try await app.fault(of: file) == .diskFull)
    try await world.disk.has("talk.part", false)
  }

  @Test(
    "Cancelling stops the request for the next piece, and removes the incomplete file",
    arguments: AppUnderTest.ways
  )
  func cancels(_ way: Way) async throws {
    let app = way.app(world)
    let file = download(with: app)
    try await world.server.request("news/enclosure/talk").answer("one ", total: 10)
    let request = try await world.server.request("news/enclosure/talk#4")
    file.cancel()
    try await request.cancelled()
    #expect(try await app.fault(of: file) == .cancelled)
    try await world.disk.has("talk.part", false)
  }

  @Test("Reading a missing file fails", arguments: AppUnderTest.ways)
  func missing(_ way: Way) async throws {
    let app = way.app(world)
    let file = world.start { try await app.saved("nothing") }
    #expect(try await app.fault(of: file) == .lost)
  }

  private func download(with app: any NewsApp) -> Started<String> {
    world.start { [fractions] in
      try await app.download("talk") { fraction in fractions.change { $0.append(fraction) } }
    }
  }
}

@Suite("Sync and screen", .timeLimit(.minutes(1)))
struct ScreenContract {
  let world = World()

  @Test("An answer reaches all callers of its question, which is sent once", arguments: AppUnderTest.ways)
  func answers(_ way: Way) async throws {
    let app = way.app(world)
    let first = world.start { try await app.answer(to: "read?") }
    let second = world.start { try await app.answer(to: "read?") }
    let other = world.start { try await app.answer(to: "starred?") }
    try await world.settled()
    world.connection.answer("4, 5", to: "starred?")
    world.connection.answer("1, 2, 3", to: "read?")
    #expect(try await first.value == "1, 2, 3")
    #expect(try await second.value == "1, 2, 3")
    #expect(try await other.value == "4, 5")
    #expect(world.connection.questions.sorted() == ["read?", "starred?"])
  }

  @Test("A lost connection fails all questions", arguments: AppUnderTest.ways)
  func loses(_ way: Way) async throws {
    let app = way.app(world)
    let tasks = ["read?", "starred?"].map { question in world.start { try await app.answer(to: question) } }
    try await world.settled()
    world.connection.lose()
    for task in tasks { #expect(try await app.fault(of: task) == .lost) }
  }

  @Test(
    "A listener gets the unread count, then each change in order, and leaves nothing behind",
    arguments: AppUnderTest.ways
  )
  func listens(_ way: Way) async throws {
    let app = way.app(world)
    app.setUnread(7)
    let counts = world.start {
      var counts: [Int] = []
      for try await count in app.unreadCounts() {
        counts.append(count)
        if count == 0 { break }
      }
      return counts
    }
    try await world.settled()
    #expect(app.unreadListenerCount == 1)
    for count in [8, 3, 0] { app.setUnread(count) }
    #expect(try await counts.value == [7, 8, 3, 0])
    #expect(app.unreadListenerCount == 0)
  }

  @Test("A listener that is cancelled leaves nothing behind", arguments: AppUnderTest.ways)
  func listenerLeaves(_ way: Way) async throws {
    let app = way.app(world)
    let counts = world.start { for try await _ in app.unreadCounts() {} }
    try await world.settled()
    counts.cancel()
    _ = try await counts.result
    #expect(app.unreadListenerCount == 0)
  }

  @Test("The screen shows that it loads, and then the feed, drawn on the main queue", arguments: AppUnderTest.ways)
  @MainActor func shows(_ way: Way) async throws {
    let screens = try await screens(of: way.app(world)) { $0.answer(#"{"title": "Science", "headlines": []}"#) }
    #expect(screens.first == Screen(title: "", hasMessage: false, isLoading: true))
    #expect(screens.last == Screen(title: "Science", hasMessage: false, isLoading: false))
  }

  @Test("The screen shows a message when the feed cannot be loaded", arguments: AppUnderTest.ways)
  @MainActor func showsError(_ way: Way) async throws {
    let screens = try await screens(of: way.app(world)) { $0.answer("", status: 500) }
    #expect(screens.last == Screen(title: "", hasMessage: true, isLoading: false))
  }

  @MainActor private func screens(
    of app: any NewsApp,
    answer: (ServedRequest) -> Void
  ) async throws -> [Screen] {
    let screens = Watched<[Screen]>([])
    let shown = world.start {
      await app.show(1) { screen in
        #expect(World.isOnMainQueue())
        screens.change { $0.append(screen) }
      }
    }
    answer(try await world.server.request("news/feed/1"))
    try await shown.value
    return screens.state
  }
}
