public import Futures

/// Names the watched objects and futures that are still alive.
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

  /// Makes a check without objects.
  public init() {}

  /// Watches an object.
  ///
  /// The check holds the object weakly.
  /// - Parameters:
  ///   - object: The object.
  ///   - name: The object's name in `alive`.
  public func watch(_ object: AnyObject, _ name: String) {
    let watched = Watched(object: object, name: name)
    self.watched.withLock { $0.append(watched) }
  }

  /// Watches the state that a pending future shares with its promise and its copies.
  ///
  /// The state holds the consumers and the objects that they capture. A resolved future has no such state. The check
  /// holds the state weakly.
  public func watch<Value, Failure>(_ future: Future<Value, Failure>, _ name: String) {
    if let state = future.sharedObject { watch(state, name) }
  }

  /// The names of the objects that are alive, in the order of `watch`.
  public var alive: [String] {
    // Outside the lock: reading a weak reference retains the object, and its release can run `deinit`.
    watched.withLock(\.self).compactMap { $0.object == nil ? nil : $0.name }
  }
}
