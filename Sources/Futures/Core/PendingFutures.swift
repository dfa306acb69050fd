internal import Synchronization

/// The promises that were made while tracking was on, for the question what is stuck.
///
/// It holds their states weakly, and nobody tells it when one of them ends: those that have are swept out whenever the table has
/// doubled. So tracking adds amortised O(1) to making a promise, and nothing to resolving it.
final class PendingFutures: Sendable {
  static let shared = PendingFutures()

  private struct Entry {
    weak var state: AnySharedState?
    let fileID: String
    let line: UInt
    let start: ContinuousClock.Instant
  }

  private struct Table {
    var entries: [Entry] = []
    var sweepCount = PendingFutures.smallestSweep
  }

  private static let smallestSweep = 64
  private let table = Locked(Table())

  func add(_ state: AnySharedState, fileID: String, line: UInt) {
    let entry = Entry(state: state, fileID: fileID, line: line, start: .now)
    // What is looked at is released outside the lock, where it may be the last reference.
    let swept = table.withLock { table -> [AnySharedState] in
      var swept: [AnySharedState] = []
      if table.entries.count >= table.sweepCount {
        table.entries.removeAll { entry in
          guard let state = entry.state else { return true }
          swept.append(state)
          return !state.isPending
        }
        table.sweepCount = max(Self.smallestSweep, 2 * table.entries.count)
      }
      table.entries.append(entry)
      return swept
    }
    _ = swept
  }

  func removeAll() {
    table.withLock { $0 = Table() }
  }

  /// What is pending, the oldest first.
  var descriptions: [String] {
    let now = ContinuousClock.now
    return table.withLock(\.entries).compactMap { entry in
      guard let state = entry.state, state.isPending else { return nil }
      let name = state.label.map { "\"\($0)\" " } ?? ""
      let age = entry.start.duration(to: now).inMilliseconds
      let count = state.root.consumerCount
      let consumers = "\(count) \(count == 1 ? "consumer" : "consumers")"
      return "\(name)\(entry.fileID):\(entry.line), pending for \(age), \(consumers)"
    }
  }
}

extension AnySharedState {
  /// Whether this state, or what it was merged into, can still be resolved or cancelled.
  fileprivate final var isPending: Bool { root.phase.load(ordering: .relaxed) <= .orphaned }

  /// How many wait for it.
  ///
  /// O(n).
  fileprivate final var consumerCount: Int {
    lock.withLock {
      guard case .record(let record) = details else { return consumers.count }
      return consumers.count + record.silent.count
    }
  }
}

extension Duration {
  fileprivate var inMilliseconds: Duration {
    .milliseconds(components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000)
  }
}
