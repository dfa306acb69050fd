import Dispatch

// A module whose declarations belong to the main actor unless they say otherwise.

/// What a list shows.
public struct Row: Sendable {
  public let title: String
}

/// Shows a list.
public final class ListScreen {
  private(set) var rows: [Row] = []

  public init() {}

  /// Loads the list.
  public func load(progress: @escaping (Double) -> Void, completion: @escaping (Result<[Row], any Error>) -> Void) {
    progress(0.5)
    rows = [Row(title: "row")]
    completion(.success(rows))
  }

  /// Hands out a handle that belongs to the main actor.
  public func refresh(completion: @escaping (Int, String) -> Void) -> Refresh {
    completion(1, "row")
    return Refresh()
  }

  /// Belongs to no actor.
  public nonisolated func count(completion: @escaping @Sendable (Result<Int, any Error>) -> Void) {
    DispatchQueue.global().async { completion(.success(1)) }
  }
}

/// A handle that belongs to the main actor.
public final class Refresh {
  /// Stops it.
  public func cancel() {}
}

/// Belongs to the main actor, and nothing that the compiler writes down says so.
public func openScreen(completion: @escaping (Row?, (any Error)?) -> Void) { completion(Row(title: "row"), nil) }

/// Says that it belongs to the main actor.
@MainActor
public func closeScreen(completion: @escaping ((any Error)?) -> Void) { completion(nil) }

/// A requirement of the main actor's.
public protocol Showing {
  associatedtype Shown
  func show(completion: @escaping (Shown) -> Void)
}

/// An actor of its own.
public actor Counter {
  public init() {}

  /// Counts.
  public func count(completion: @escaping (Int, Int, (any Error)?) -> Void) { completion(1, 2, nil) }
}

nonisolated extension Row {
  /// Belongs to no actor.
  public func reload(completion: @escaping (Row) -> Void) { completion(self) }
}
