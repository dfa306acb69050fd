internal import Synchronization

/// Who hears of promises that are dropped unresolved, also where their futures can say so: the test kit.
package final class BreakObservers: Sendable {
  package typealias Observer = @Sendable (BrokenPromise) -> Void

  private let observers = Locked<[(owner: AnyObject, observer: Observer)]>([])

  // Relaxed: a hint that saves the lock; who is added while a promise is dropped may miss it.
  private let areThere = Atomic<Bool>(false)

  /// Whether anybody wants to hear.
  var exist: Bool { areThere.load(ordering: .relaxed) }

  /// Has `observer` called, on the thread that drops the promise, until `owner` is removed; it is kept that long.
  package func add(_ owner: AnyObject, _ observer: @escaping Observer) {
    observers.withLock { $0.append((owner, observer)) }
    areThere.store(true, ordering: .relaxed)
  }

  package func remove(_ owner: AnyObject) {
    let removed = observers.withLock { observers in
      let removed = observers.filter { $0.owner === owner }
      observers.removeAll { $0.owner === owner }
      areThere.store(!observers.isEmpty, ordering: .relaxed)
      return removed
    }
    _ = removed  // released here, outside the lock
  }

  func report(_ error: BrokenPromise) {
    for (_, observer) in observers.withLock(\.self) { observer(error) }
  }
}
