internal import Foundation

/// The amount of work that the tests do.
///
/// The environment variable `FUTURES_THOROUGH` selects it; `.github/CONTRIBUTING.md` explains the tiers.
public enum TestTier: Sendable {
  /// Shows every behaviour once, in seconds.
  case standard
  /// Repeats operations a million times, builds chains a million stages deep, and explores many more orders of events.
  ///
  /// `FUTURES_THOROUGH=1 swift test -c release`.
  case thorough
  /// Does the same, and explores the long programs in every order, which takes minutes.
  ///
  /// `FUTURES_THOROUGH=all swift test -c release --filter ExplorationTests`.
  case exhaustive

  /// The tier of this run.
  public static let current: TestTier =
    switch ProcessInfo.processInfo.environment["FUTURES_THOROUGH"] {
    case nil, "", "0": .standard
    case "all": .exhaustive
    default: .thorough
    }

  /// Returns the value for the tier of this run.
  public static func choose<Value>(standard: Value, thorough: Value) -> Value {
    current == .standard ? standard : thorough
  }
}
