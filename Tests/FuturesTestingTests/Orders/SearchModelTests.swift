import Futures
import FuturesTesting
import Testing

/// The search model of the article “Exploring every order”: which responses it shows.
private final class SearchModel: Sendable {
  enum Guard { case none, text, generation }

  struct State {
    var text = ""
    var generation = 0
    var results: [String] = []
    var isLoading = false
  }

  private let state = Locked(State())
  private let check: Guard
  private let ask: @Sendable (String) -> Future<[String], any Error>
  private let screen: ExecutionContext

  init(_ check: Guard, screen: ExecutionContext, ask: @escaping @Sendable (String) -> Future<[String], any Error>) {
    (self.check, self.screen, self.ask) = (check, screen, ask)
  }

  func search(_ text: String) {
    let generation = state.withLock { state in
      state.text = text
      state.isLoading = true
      state.generation += 1
      return state.generation
    }
    ask(text)
      .timeout(after: .seconds(10), on: screen)
      .whenResolved(on: screen) { [self] result in show(result, of: text, generation) }
  }

  private func show(_ result: Result<[String], any Error>, of text: String, _ generation: Int) {
    state.withLock { state in
      switch check {
      case .none: break
      case .text: guard state.text == text else { return }
      case .generation: guard state.generation == generation else { return }
      }
      state.isLoading = false
      state.results = (try? result.get()) ?? []
    }
  }

  func cancel() {
    state.withLock { state in
      state.generation += 1
      state.isLoading = false
      state.results = []
    }
  }

  var shown: String { state.withLock { "\($0.results.joined()), loading: \($0.isLoading)" } }
}

@Suite("exploreOrders: the search model of the article")
struct SearchModelTests {
  private func explore(_ check: SearchModel.Guard, cancels: Bool) async throws -> OrderReport {
    try await exploreOrders { orders in
      let model = SearchModel(check, screen: orders.context("screen")) { text in
        Future(on: orders.context("request \(text)")) { [text] }
      }
      model.search("a")
      await orders.step("type b")
      model.search("ab")
      if cancels {
        await orders.step("cancel")
        model.cancel()
      }
      try await orders.runAll()
      if cancels {
        try Unexpected.unless(model.shown == ", loading: false", model.shown)
      } else {
        try Unexpected.unless(model.shown == "ab, loading: false" || model.shown == ", loading: false", model.shown)
      }
    }
  }

  @Test("Without a check, a late response replaces the results of the newer search")
  func noCheck() async throws {
    let failure = try await explorationFailure { try await explore(.none, cancels: false) }
    #expect(failure?.order.joined(separator: " ▸ ") == "type b ▸ request ab ▸ request a ▸ screen(1) ▸ screen(2)")
    #expect(failure?.repeating == "t2r2")
  }

  @Test("A check of the text finds late responses, but not the cancellation")
  func checkOfTheText() async throws {
    let report = try await explore(.text, cancels: false)
    #expect(report.isAll(93))
    let failure = try await explorationFailure { try await explore(.text, cancels: true) }
    #expect(
      failure?.order.joined(separator: " ▸ ") == "type b ▸ request a ▸ request ab ▸ cancel ▸ screen(1) ▸ screen(2)"
    )
  }

  @Test("A number for each search and each cancellation passes in all orders")
  func checkOfTheNumber() async throws {
    #expect(try await explore(.generation, cancels: false).isAll(93))
    #expect(try await explore(.generation, cancels: true).isAll(524))
  }
}
