public import Futures

/// Tells which of the watched objects and futures are still alive, by name.
///
/// ```swift
/// let leaks = LeakCheck()
/// do {
///   let screen = Screen()
///   leaks.watch(screen, "screen")
///   leaks.watch(screen.load(), "load")
/// }
/// #expect(leaks.alive == [])
/// ```
public final class LeakCheck: Sendable {
  private struct Watched {
    weak var object: AnyObject?
    let name: String
  }

  private let watched = Locked<[Watched]>([])

  /// Watches nothing.
  public init() {}

  /// Watches an object, which this does not keep alive.
  /// - Parameters:
  ///   - object: The object.
  ///   - name: How `alive` names it.
  public func watch(_ object: AnyObject, _ name: String) {
    let watched = Watched(object: object, name: name)
    self.watched.withLock { $0.append(watched) }
  }

  /// Watches what an unresolved future shares with its promise and its copies: its consumers, and what they capture.
  ///
  /// A future that was resolved before has nothing that could leak.
  /// - Parameters:
  ///   - future: The future, which this does not keep alive.
  ///   - name: How `alive` names it.
  public func watch<Value, Failure>(_ future: Future<Value, Failure>, _ name: String) {
    if let state = future.sharedObject { watch(state, name) }
  }

  /// The names of those that are still alive, in the order in which they were given.
  public var alive: [String] {
    // Each is let go of here, outside the lock, where this may have the last reference.
    watched.withLock(\.self).compactMap { $0.object == nil ? nil : $0.name }
  }
}
