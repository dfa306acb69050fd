import Futures
import FuturesAsync
import Screens
import Testing

/// Counterparts in a module whose declarations belong to the main actor.
@MainActor
@Suite struct ScreensTests {
  @Test func counterparts() async throws {
    let screen = ListScreen()
    #expect(try await screen.load { _ in }.count == 1)
    #expect(try await screen.loadFuture().value.count == 1)
    #expect(try await screen.refresh() == (1, "row"))
    #expect(try await screen.count() == 1)
    MainActor.preconditionIsolated()
    #expect(try await openScreenFuture().value.title == "row")
    try await closeScreen()
    #expect(try await Counter().count() == (1, 2))
    MainActor.preconditionIsolated()
  }

  @Test nonisolated func counterpartsFromElsewhere() async throws {
    #expect(try await ListScreen().count() == 1)
    #expect(try await closeScreenFuture().value == ())
  }
}
