internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// An actor that loads its state by a callback API, without any annotation.
private actor Store {
  var count: Int { pages.count }
  let hasBegun = Gate()
  private var pages: [Page] = []
  private var callback: Callback<Page>?

  func load() async throws -> Int {
    let page = try await withCallback { callback in
      self.preconditionIsolated()
      self.callback = callback
      hasBegun.open()
    }
    preconditionIsolated()
    pages.append(page)
    return page.number
  }

  func answer(_ number: Int) { callback?.resume(returning: Page(number)) }
}

@Suite(.timeLimit(.minutes(20)))
struct CallbackIsolationTests {
  @Test("An actor uses its own state in the body, and receives a value that is not Sendable")
  func actorState() async throws {
    let store = Store()
    let task = Task { try await store.load() }
    await store.hasBegun.pass()
    await store.answer(5)
    #expect(try await task.value == 5)
    #expect(await store.count == 1)
  }

  @Test("The call transfers its value, so the caller can send it to another actor")
  func receivedValueCanBeSent() async throws {
    let page = try await withCallback { $0.resume(returning: Page(7)) }
    let number = await Task { @MainActor in page.number }.value
    #expect(number == 7)
  }
}
