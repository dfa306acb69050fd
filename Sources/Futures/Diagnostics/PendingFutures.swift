package import Dispatch

/// The table behind `FuturesDiagnostics.pendingFutures`.
///
/// It holds the states weakly, and resolving a state does not touch it. `add` sweeps out resolved states whenever the table
/// has doubled. So tracking adds amortised O(1) to making a promise, and nothing to resolving it.
///
/// The test kit tracks the promises of its own thread, also while `FuturesDiagnostics.tracksPendingFutures` is `false`.
package final class PendingFutures {
  /// `nil` while nothing is tracked.
  package static let shared = LockedReference<PendingFutures>()

  /// The value of `FuturesDiagnostics.tracksPendingFutures`.
  fileprivate var isForAllThreads = false

  /// The threads that the test kit tracks, once for each use; `nil` is all threads.
  fileprivate var threadsOfTests: [UnsafeMutableRawPointer?] = []

  fileprivate struct Entry {
    weak var state: FutureState?
    let fileID: String
    let line: UInt
    let start: DispatchTime

    /// The thread that has made the promise.
    let thread: UnsafeMutableRawPointer
  }

  private static let smallestSweep = 64

  fileprivate private(set) var entries: [Entry] = []
  private var sweepCount = PendingFutures.smallestSweep

  fileprivate func tracks(_ thread: UnsafeMutableRawPointer) -> Bool {
    isForAllThreads || threadsOfTests.contains { $0 == nil || $0 == thread }
  }

  /// Removes the entries that are no longer tracked.
  fileprivate func removeUntracked() { entries.removeAll { !tracks($0.thread) } }

  /// Appends an entry; sweeps first if the table has doubled.
  /// - Returns: The states that the sweep has read, for release after unlocking.
  fileprivate func append(_ entry: Entry) -> [FutureState] {
    var swept: [FutureState] = []
    if entries.count >= sweepCount {
      entries.removeAll { entry in
        guard let state = entry.state else { return true }
        swept.append(state)
        return !state.isPending
      }
      sweepCount = max(Self.smallestSweep, 2 * entries.count)
    }
    entries.append(entry)
    return swept
  }
}

extension LockedReference where Object == PendingFutures {
  /// The value of `FuturesDiagnostics.tracksPendingFutures`.
  ///
  /// A promise that is made while it changes is tracked or not.
  var tracksAllThreads: Bool {
    get { isSet && update { $0?.isForAllThreads == true } }
    nonmutating set { change { $0.isForAllThreads = newValue } }
  }

  /// Tracks the promises that are made in `body`, for the test kit.
  /// - Parameters:
  ///   - onlyThisThread: Whether to track only promises that the calling thread makes.
  ///   - body: Runs once.
  /// - Returns: The result of `body`.
  package func track<Result>(onlyThisThread: Bool, _ body: () -> Result) -> Result {
    let thread = onlyThisThread ? UnsafeMutableRawPointer.ofCurrentThread : nil
    change { $0.threadsOfTests.append(thread) }
    defer { change { $0.threadsOfTests.remove(at: $0.threadsOfTests.firstIndex(of: thread)!) } }
    return body()
  }

  /// Changes the tracked threads.
  private func change(_ body: (PendingFutures) -> Void) {
    let previous = update { table in
      let changed = table ?? PendingFutures()
      defer { table = changed.isForAllThreads || !changed.threadsOfTests.isEmpty ? changed : nil }
      body(changed)
      changed.removeUntracked()
      return table
    }
    _ = previous  // released here, outside the lock
  }

  /// Adds the state of a new promise, if it is tracked.
  func add(_ state: FutureState, fileID: String, line: UInt) {
    let entry = PendingFutures.Entry(state: state, fileID: fileID, line: line, start: .now(), thread: .ofCurrentThread)
    let swept = update { table in table?.tracks(entry.thread) == true ? table?.append(entry) : nil }
    _ = swept  // released here, outside the lock: one of them can be the last reference
  }

  /// Returns the labels and places of the tracked futures that have consumers, the oldest first, for the test kit.
  /// - Parameters:
  ///   - start: The time since which the promises were made.
  ///   - isOfThisThread: Whether to list only promises that the calling thread has made.
  /// - Returns: One line for each future.
  package func awaited(since start: DispatchTime, ofThisThread isOfThisThread: Bool) -> [String] {
    let thread = UnsafeMutableRawPointer.ofCurrentThread
    return update { $0?.entries ?? [] }.compactMap { entry in
      guard entry.start >= start, !isOfThisThread || entry.thread == thread else { return nil }
      guard let state = entry.state, state.isPending, state.consumerCount > 0 else { return nil }
      return entry.place(of: state)
    }
  }

  /// Descriptions of the pending futures, the oldest first.
  var descriptions: [String] {
    let entries = update { $0?.isForAllThreads == true ? $0?.entries ?? [] : [] }
    let now = DispatchTime.now().uptimeNanoseconds
    return entries.compactMap { entry in
      guard let state = entry.state, state.isPending else { return nil }
      let milliseconds = (now - entry.start.uptimeNanoseconds) / 1_000_000
      let count = state.consumerCount
      let consumers = "\(count) \(count == 1 ? "consumer" : "consumers")"
      return "\(entry.place(of: state)), pending for \(Double(milliseconds) / 1_000) seconds, \(consumers)"
    }
  }
}

extension PendingFutures.Entry {
  /// The label of the promise, and its place in the sources.
  fileprivate func place(of state: FutureState) -> String {
    "\(state.label.map { "\"\($0)\" " } ?? "")\(fileID):\(line)"
  }
}

extension UnsafeMutableRawPointer {
  /// An address that identifies the calling thread.
  package static var ofCurrentThread: Self { Self(Trampoline.current.storage) }
}
