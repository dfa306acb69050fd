/// The observers of all promises that are dropped unresolved, and of dropped work, for the test kit.
///
/// Unlike the handler of misuse, they also see a promise whose future fails with `BrokenPromise`.
package final class BreakObservers: Sendable {
  /// Records the promise.
  ///
  /// Returns whether it has recorded the promise.
  package typealias Observer = @Sendable (BrokenPromise) -> Bool

  private final class List {
    let all: [(owner: AnyObject, observer: Observer)]

    init(_ all: [(owner: AnyObject, observer: Observer)]) { self.all = all }
  }

  private let list = LockedReference<List>()

  /// Whether there are observers; without a lock.
  ///
  /// An observer that is added at the same time can miss a promise.
  var exist: Bool { list.isSet }

  /// Adds an observer, which runs on the thread that drops a promise.
  ///
  /// Retains `owner` and `observer` until `remove(_:)`.
  package func add(_ owner: AnyObject, _ observer: @escaping Observer) {
    let previous = list.update { list in
      let previous = list
      list = List((previous?.all ?? []) + [(owner, observer)])
      return previous
    }
    _ = previous  // released here, outside the lock
  }

  package func remove(_ owner: AnyObject) {
    let previous = list.update { list in
      let previous = list
      let remaining = previous?.all.filter { $0.owner !== owner } ?? []
      list = remaining.isEmpty ? nil : List(remaining)
      return previous
    }
    _ = previous  // released here, outside the lock
  }

  /// Calls all observers.
  /// - Returns: Whether an observer has recorded the promise.
  func record(_ error: BrokenPromise) -> Bool {
    guard let list = list.object else { return false }
    return list.all.reduce(false) { isRecorded, entry in entry.observer(error) || isRecorded }
  }
}
