/// The operations that the contract needs; only `AppUnderTest.swift` knows how the app performs them.
protocol NewsApp: Sendable {
  func page(_ path: String) async throws -> String
  func signIn(_ user: String, password: String) async throws -> String
  func headlines(_ feed: Int) async throws -> [String]
  func frontPage(_ feeds: [Int]) async throws -> [[String]]

  func article(_ id: Int) async throws -> String
  func mirrored(_ id: Int) async throws -> String

  func image(_ name: String) async throws -> String
  func download(_ name: String, progress: @escaping @Sendable (Double) -> Void) async throws -> String
  func saved(_ name: String) async throws -> String

  func answer(to question: String) async throws -> String

  func setUnread(_ count: Int)
  func unreadCounts() -> AsyncThrowingStream<Int, any Error>
  var unreadListenerCount: Int { get }

  /// Loads a feed for the screen, and returns when the screen shows it.
  @MainActor func show(_ feed: Int, redraw: @escaping @MainActor (Screen) -> Void) async

  /// Translates an error of the app into a fault of the contract.
  func fault(_ error: any Error) -> Fault
}

struct Screen: Equatable, Sendable {
  let title: String
  let hasMessage: Bool
  let isLoading: Bool
}

enum Fault: Error, Equatable {
  case status(Int)
  case malformed
  case lost
  case diskFull
  case timedOut
  case cancelled
  case unanswered
  case other(String)
}

/// One way to use the app; during the migration there are two.
struct Way: Sendable, CustomStringConvertible {
  let description: String
  let app: @Sendable (World) -> any NewsApp
}
