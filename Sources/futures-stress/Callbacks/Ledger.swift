import Futures
import Synchronization

/// The expected and the actual events of a round.
final class Ledger: Sendable {
  // All relaxed: they are read after all threads have ended.
  private let attached = Atomic<Int>(0)
  private let ran = Atomic<Int>(0)
  private let removed = Atomic<Int>(0)
  private let released = Atomic<Int>(0)
  private let awaited = Atomic<Int>(0)
  private let ended = Atomic<Int>(0)
  private let mistakes = Locked<[String: Int]>([:])

  /// A callback that must run once or be removed.
  func callback() -> Ticket {
    attached.add(1, ordering: .relaxed)
    return Ticket(self, mustRun: true)
  }

  /// A transform.
  ///
  /// It does not run if its derived future was cancelled.
  func transform() -> Ticket {
    attached.add(1, ordering: .relaxed)
    return Ticket(self, mustRun: false)
  }

  func noteAwait() { awaited.add(1, ordering: .relaxed) }
  func noteEndOfAwait() { ended.add(1, ordering: .relaxed) }

  fileprivate func note(_ ticket: borrowing Ticket, ran runs: Int, wasRemoved: Bool, mustRun: Bool) {
    released.add(1, ordering: .relaxed)
    ran.add(runs, ordering: .relaxed)
    if wasRemoved { removed.add(1, ordering: .relaxed) }
    if runs > 1 { blame("ran \(runs) times") }
    if runs > 0, wasRemoved { blame("ran although it was removed") }
    if runs == 0, mustRun, !wasRemoved { blame("was lost") }
  }

  private func blame(_ mistake: String) { mistakes.withLock { $0["a callback \(mistake)", default: 0] += 1 } }

  /// The failed checks, as sentences.
  ///
  /// Read it after all threads have ended.
  var faults: [String] {
    var faults = mistakes.withLock { $0.map { "\($0.key) (\($0.value) times)" } }
    let unreleased = attached.load(ordering: .relaxed) - released.load(ordering: .relaxed)
    if unreleased != 0 { faults.append("\(unreleased) closures were not released") }
    let waiting = awaited.load(ordering: .relaxed) - ended.load(ordering: .relaxed)
    if waiting != 0 { faults.append("\(waiting) awaits did not end") }
    return faults
  }

  var summary: String {
    "\(attached.load(ordering: .relaxed)) closures, \(ran.load(ordering: .relaxed)) ran, "
      + "\(removed.load(ordering: .relaxed)) removed; \(awaited.load(ordering: .relaxed)) awaits"
  }
}

/// Belongs to one closure.
///
/// It is released with the closure, and then records in the ledger whether the closure ran.
final class Ticket: Sendable {
  private let ledger: Ledger
  private let mustRun: Bool
  private let runs = Atomic<Int>(0)
  private let wasRemoved = Atomic<Bool>(false)

  fileprivate init(_ ledger: Ledger, mustRun: Bool) {
    self.ledger = ledger
    self.mustRun = mustRun
  }

  deinit {
    ledger.note(
      self,
      ran: runs.load(ordering: .relaxed),
      wasRemoved: wasRemoved.load(ordering: .relaxed),
      mustRun: mustRun
    )
  }

  func run() { runs.add(1, ordering: .relaxed) }
  func remove() { wasRemoved.store(true, ordering: .relaxed) }
}
