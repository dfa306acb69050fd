package import Dispatch

/// The table behind `FuturesDiagnostics.graph` and `FuturesDiagnostics.pendingFutures`.
///
/// It does not keep its objects alive, and resolving a state does not touch it. `add` sweeps out resolved states, once it has
/// added as many entries as the last sweep has left. So tracking adds amortised O(1) to making a promise, and nothing to resolving
/// it. Until a sweep the table keeps the memory of released objects: at most as many as it has entries, and 64 more.
///
/// The test kit tracks the promises of its own thread, also while `FuturesDiagnostics.tracksPendingFutures` is `false`.
package final class PendingFutures {
  /// `nil` while nothing is tracked.
  package static let shared = LockedReference<PendingFutures>()

  /// The value of `FuturesDiagnostics.tracksPendingFutures`.
  fileprivate var isForAllThreads = false

  /// One element for each running `track(onlyThisThread:_:)` of the test kit: its thread, or `nil` for all threads.
  fileprivate var threadsOfTests: [UnsafeMutableRawPointer?] = []

  /// An entry, and the objects that it describes.
  fileprivate struct Slot {
    var entry: PendingEntry
    let object: ObjectMemory
    /// The future that a task awaits.
    let source: ObjectMemory?

    func release() {
      object.release()
      source?.release()
    }
  }

  private static let smallestSweep = 64

  /// The entries, the last one added last.
  fileprivate private(set) var slots: [Slot] = []
  /// The positions of the first `positionCount` entries in `slots`; `position(of:)` adds the others on demand.
  private var positions: [ObjectIdentifier: Int] = [:]
  private var positionCount = 0
  /// The number of additions before the next sweep.
  private var untilSweep = PendingFutures.smallestSweep

  deinit { slots.forEach { $0.release() } }

  /// Whether the table tracks the objects that `thread` makes.
  fileprivate func tracks(_ thread: UnsafeMutableRawPointer) -> Bool {
    isForAllThreads || threadsOfTests.contains { $0 == nil || $0 == thread }
  }

  /// Removes the entries of threads that the table no longer tracks.
  fileprivate func removeUntracked() { remove { !tracks($0.entry.thread) } }

  /// Removes entries, and forgets the positions of all others, which can have changed.
  private func remove(where isRemoved: (Slot) -> Bool) {
    slots.removeAll { slot in
      guard isRemoved(slot) else { return false }
      slot.release()
      return true
    }
    (positions, positionCount) = ([:], 0)
  }

  /// Returns the position of an object's last entry, or `nil`; first notes the positions that are not known yet; amortised O(1).
  fileprivate func position(of object: AnyObject) -> Int? {
    while positionCount < slots.count {
      positions[slots[positionCount].object.identity] = positionCount
      positionCount += 1
    }
    return positions[ObjectIdentifier(object)]
  }

  fileprivate func changeEntry(at position: Int, _ body: (inout PendingEntry) -> Void) { body(&slots[position].entry) }

  /// Adds an entry of `object`, which awaits `source` if that is given; first sweeps, if as many were added as the last sweep left.
  /// - Returns: The objects that the sweep has read, for release after unlocking.
  fileprivate func append(_ entry: PendingEntry, of object: AnyObject, _ source: FutureState?) -> [AnyObject] {
    var swept: [AnyObject] = []
    untilSweep -= 1
    if untilSweep <= 0 {
      remove { slot in
        guard let object = slot.object.object else { return true }
        swept.append(object)
        guard let state = slot.entry.state(object) else { return false }  // stays until its release
        return state.isDelivered && !state.isBroken  // the graph can show a broken state, or one whose callbacks run
      }
      untilSweep = max(Self.smallestSweep, slots.count)
      // The array is mostly empty, because many objects were pending at once. A copy has less capacity.
      if slots.capacity > 8 * untilSweep { slots = slots.map { $0 } }
    }
    slots.append(Slot(entry: entry, object: ObjectMemory(of: object), source: source.map(ObjectMemory.init(of:))))
    return swept
  }
}

/// An entry of the table of pending futures.
///
/// Mostly numbers and static strings. It does not refer to its object.
package struct PendingEntry {
  package typealias Kind = WaitForGraph.Node.Kind

  /// The kind of the object, which says how to read it.
  package var kind: Kind
  /// Names the object, if it is no promise with a label of its own.
  package var label: String?
  /// The place in the sources; a static, null-terminated string, or `nil`.
  package var fileID: UnsafePointer<UInt8>?
  package var line: UInt32
  package let start: DispatchTime
  /// The thread that has made the object.
  package let thread: UnsafeMutableRawPointer
  /// Unique in the process.
  package let id: Int
  package var due: DispatchTime?
  /// The queue or the custom context of submitted work.
  package weak var context: AnyObject?  // weak: a dropped context drops its work (R2a)
  /// Returns `object` as a state, or `nil` if its kind is no state; work can be a stage, which is a state, or a callback.
  func state(_ object: AnyObject) -> FutureState? {
    switch kind {
    case .promise, .task, .request, .join, .timer: unsafeDowncast(object, to: FutureState.self)
    case .work: object as? FutureState
    default: nil
    }
  }

  /// Whether a promise has made the entry; `describe(_:as:label:)` changes the kind for the promise of a transfer to `request`.
  fileprivate var isOfPromise: Bool {
    switch kind {
    case .promise, .request: true
    default: false
    }
  }

  // Relaxed: it publishes nothing, only the numbers count. Negative, because `AtomicWord` only subtracts.
  private static let negativeCount = AtomicWord(0)

  static func nextID() -> Int { -negativeCount.subtract(1, ordering: .relaxed).newValue }
}

/// An object outside the core that waits for a callback, as an entry of the table.
package protocol PendingSite: AnyObject {
  /// The state, read without waiting for a lock.
  var pendingStatus: PendingSiteStatus { get }
}

/// The state of an object that waits for a callback.
package enum PendingSiteStatus {
  case ended
  /// Another thread has the lock.
  case busy
  case pending(isCancelled: Bool, task: UnsafeRawPointer?)
}

extension LockedReference where Object == PendingFutures {
  /// The value of `FuturesDiagnostics.tracksPendingFutures`.
  ///
  /// A promise that another thread makes during a change can be tracked or not.
  var tracksAllThreads: Bool {
    get { isSet && update { $0?.isForAllThreads == true } }  // `isSet` first, because it needs no lock
    nonmutating set { change { $0.isForAllThreads = newValue } }
  }

  /// Tracks the promises that the calling thread, or any thread, makes while `body` runs; for the test kit.
  package func track<Result>(onlyThisThread: Bool, _ body: () -> Result) -> Result {
    let thread = onlyThisThread ? UnsafeMutableRawPointer.ofCurrentThread : nil  // `nil`: any thread
    change { $0.threadsOfTests.append(thread) }
    defer { change { $0.threadsOfTests.remove(at: $0.threadsOfTests.firstIndex(of: thread)!) } }
    return body()
  }

  /// Changes which threads the table tracks; makes the table for the first one, and drops it if `body` leaves none.
  private func change(_ body: (PendingFutures) -> Void) {
    let previous = update { table in
      let changed = table ?? PendingFutures()
      defer { table = changed.isForAllThreads || !changed.threadsOfTests.isEmpty ? changed : nil }
      body(changed)
      changed.removeUntracked()  // the entries of threads that it no longer tracks
      return table  // the previous one: `defer` runs after this line
    }
    _ = previous  // released here, outside the lock
  }

  /// Adds `object`, which the table does not keep alive, if the calling thread is tracked.
  ///
  /// `label` is for an object without a label of its own. `fileID` is a static string. `due` is the time of a timer. `context`
  /// is the queue or custom context of submitted work. The object waits for `source`. Submitted work gets label, file and line
  /// from the entry of its source.
  package func add(
    _ kind: PendingEntry.Kind,
    _ object: AnyObject,
    label: String? = nil,
    fileID: UnsafePointer<UInt8>? = nil,
    line: UInt = 0,
    due: DispatchTime? = nil,
    context: AnyObject? = nil,
    source: FutureState? = nil
  ) {
    var entry = PendingEntry(
      kind: kind,
      label: label ?? (kind == .await ? nil : source?.label),  // an await has only the name of its task
      fileID: fileID,
      line: UInt32(truncatingIfNeeded: line),
      start: .now(),
      thread: .ofCurrentThread,
      id: PendingEntry.nextID(),
      due: due,
      context: context
    )
    let swept = update { table -> [AnyObject]? in
      guard let table, table.tracks(entry.thread) else { return nil }
      // An await keeps its source for an edge of the graph. Any other object needs only the label and place of its source.
      guard let source, kind != .await else { return table.append(entry, of: object, source) }
      if let position = table.position(of: source) {
        let origin = table.slots[position].entry
        if let fileID = origin.fileID { (entry.fileID, entry.line) = (fileID, origin.line) }
        entry.label = entry.label ?? origin.label
      }
      return table.append(entry, of: object, nil)
    }
    _ = swept  // `append` has retained these objects while it removed old entries; released here, outside the lock
  }

  /// Changes the kind and the label in a state's entry, if the table has one; called to name the producer of a promise.
  package func describe(_ state: FutureState, as kind: PendingEntry.Kind, label: String) {
    update { table in
      guard let table, let position = table.position(of: state) else { return }
      table.changeEntry(at: position) { entry in (entry.kind, entry.label) = (kind, label) }
    }
  }

  /// Returns the labels and places of the tracked promises whose futures are pending and have consumers, for the test kit.
  /// - Parameters:
  ///   - start: The time since which the promises were made.
  ///   - isOfThisThread: Whether to list only promises that the calling thread has made.
  /// - Returns: One line for each promise, the oldest first.
  package func awaited(since start: DispatchTime, ofThisThread isOfThisThread: Bool) -> [String] {
    let thread = UnsafeMutableRawPointer.ofCurrentThread
    return update { $0?.objects() ?? [] }.compactMap { entry, object, _ in
      guard entry.isOfPromise, entry.start >= start, !isOfThisThread || entry.thread == thread else { return nil }
      guard let state = object as? FutureState, state.isPending, state.consumerCount > 0 else { return nil }
      return entry.place(of: state)
    }
  }

  /// Descriptions of the pending futures, the oldest first; none while only the test kit tracks.
  var descriptions: [String] {
    let objects = update { $0?.isForAllThreads == true ? $0?.objects() ?? [] : [] }
    let now = DispatchTime.now().uptimeNanoseconds
    return objects.compactMap { entry, object, _ in
      guard entry.isOfPromise, let state = object as? FutureState, state.isPending else { return nil }
      let milliseconds = (now - entry.start.uptimeNanoseconds) / 1_000_000
      let count = state.consumerCount
      let consumers = "\(count) \(count == 1 ? "consumer" : "consumers")"
      return "\(entry.place(of: state)), pending for \(Double(milliseconds) / 1_000) seconds, \(consumers)"
    }
  }

  /// Returns the entries with their objects, the oldest first.
  /// - Parameters:
  ///   - start: The time since which the objects were made; `nil` for any time.
  ///   - thread: The thread that has made the objects; `nil` for all threads.
  /// - Returns: The entries, none if nothing is tracked; `nil` if another thread keeps the table locked for about a second.
  package func objects(since start: DispatchTime?, ofThread thread: UnsafeMutableRawPointer?) -> [TrackedObject]? {
    updateIfAvailable { table in table?.objects() ?? [] }?
      .filter { entry, _, _ in
        let isNewEnough = start.map { entry.start >= $0 } ?? true
        return isNewEnough && (thread == nil || thread == entry.thread)
      }
  }
}

/// An entry with its object, and the future that a task awaits.
package typealias TrackedObject = (entry: PendingEntry, object: AnyObject, source: FutureState?)

extension PendingFutures {
  /// The entries whose objects still exist, the oldest first.
  fileprivate func objects() -> [TrackedObject] {
    slots
      .compactMap { slot in
        guard let object = slot.object.object else { return nil }
        return (slot.entry, object, slot.source?.object.map { unsafeDowncast($0, to: FutureState.self) })
      }
      .sorted { $0.entry.id < $1.entry.id }  // needed, because `add` makes the `id` before it locks
  }
}

extension PendingEntry {
  /// The label of the promise, or else of this entry, and the place in the sources.
  fileprivate func place(of state: FutureState) -> String {
    let name = (state.label ?? label).map { "\"\($0)\" " } ?? ""
    let file = fileID.map { String(cString: $0) } ?? ""
    return "\(name)\(file):\(line)".oneLine
  }
}

extension UnsafeMutableRawPointer {
  /// An address that identifies the calling thread.
  package static var ofCurrentThread: Self { Self(Trampoline.current.storage) }
}
