/// The observers of all promises that are dropped unresolved, and of dropped work, for the test kit.
///
/// Unlike the handler of misuse, they also see a promise whose future fails with `BrokenPromise`.
package final class BreakObservers: Sendable {
  /// Gets a dropped promise or dropped work; returns whether it has recorded the drop.
  package typealias Recorder = @Sendable (BrokenPromise) -> Bool

  private typealias ObserverEntry = (owner: AnyObject, observer: Recorder)

  private final class List {
    let all: [ObserverEntry]

    init(_ all: [ObserverEntry]) { self.all = all }
  }

  private let list = LockedReference<List>()

  /// Whether there are observers; without a lock.
  ///
  /// An observer that is added at the same time can miss a promise.
  var exist: Bool { list.isSet }

  /// Adds an observer, which runs on the thread that drops a promise.
  ///
  /// Retains `owner` and `observer` until `remove(_:)`.
  package func add(_ owner: AnyObject, _ observer: @escaping Recorder) {
    change { $0.append((owner, observer)) }
  }

  package func remove(_ owner: AnyObject) {
    change { all in all.removeAll { $0.owner === owner } }
  }

  /// Replaces the list by a changed copy, because a thread can be calling the old one; by `nil` if the copy is empty.
  private func change(_ body: (inout [ObserverEntry]) -> Void) {
    let previous = list.update { list in
      var all = list?.all ?? []
      body(&all)
      defer { list = all.isEmpty ? nil : List(all) }
      return list  // the previous one: `defer` runs after this line
    }
    _ = previous  // released here, outside the lock
  }

  /// Calls all observers, also after one of them has recorded the drop.
  /// - Returns: Whether an observer has recorded the drop.
  func record(_ error: BrokenPromise) -> Bool {
    guard let list = list.object else { return false }
    return list.all.reduce(false) { isRecorded, entry in entry.observer(error) || isRecorded }
  }
}
