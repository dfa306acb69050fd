package import Dispatch

/// The table behind `FuturesDiagnostics.graph` and `FuturesDiagnostics.pendingFutures`.
///
/// It holds its objects weakly, and resolving a state does not touch it. `add` sweeps out resolved states after as
/// many additions as the last sweep has left entries. So tracking adds amortised O(1) to making a promise, and nothing to resolving it.
///
/// The test kit tracks the promises of its own thread, also while `FuturesDiagnostics.tracksPendingFutures` is `false`.
package final class PendingFutures {
  /// `nil` while nothing is tracked.
  package static let shared = LockedReference<PendingFutures>()

  /// The value of `FuturesDiagnostics.tracksPendingFutures`.
  fileprivate var isForAllThreads = false

  /// The threads that the test kit tracks, once for each use; `nil` is all threads.
  fileprivate var threadsOfTests: [UnsafeMutableRawPointer?] = []

  private static let smallestSweep = 64

  /// The entries by the identity of their objects.
  ///
  /// A new object at the address of an old one replaces its entry.
  fileprivate var entries: [ObjectIdentifier: PendingEntry] = [:]
  /// The number of additions before the next sweep.
  private var untilSweep = PendingFutures.smallestSweep

  fileprivate func tracks(_ thread: UnsafeMutableRawPointer) -> Bool {
    isForAllThreads || threadsOfTests.contains { $0 == nil || $0 == thread }
  }

  /// Removes the entries that are no longer tracked.
  fileprivate func removeUntracked() { entries = entries.filter { tracks($0.value.thread) } }

  /// Adds an entry; sweeps first if as many were added as the last sweep has left.
  /// - Returns: The objects that the sweep has read, for release after unlocking.
  fileprivate func append(_ entry: PendingEntry, of object: AnyObject) -> [AnyObject] {
    var swept: [AnyObject] = []
    untilSweep -= 1
    if untilSweep <= 0 {
      entries = entries.filter { _, entry in
        guard let object = entry.object else { return false }
        swept.append(object)
        return entry.kind == .state || !(entry.state(object)?.isDelivered ?? false)
      }
      untilSweep = max(Self.smallestSweep, entries.count)
    }
    entries[ObjectIdentifier(object)] = entry
    return swept
  }
}

/// An entry of the table of pending futures.
///
/// Only numbers, static strings and weak references, so an entry costs one allocation: that of the first weak reference.
package struct PendingEntry {
  /// The kind of an object, which says how to read it.
  package enum Kind: UInt8, Sendable {
    /// A state, by the producer that made it.
    case promise, task, request, process, join
    /// A derived state with a deadline, or the work of a delay.
    case timer
    /// The work of a callback or a stage that was submitted to a context.
    case work
    /// The waiter of a task.
    case await
    /// An object with its own state: `withCallback` and `callbackStream`.
    case wrappedCallback, callbackStream
    /// No entry: a state that no function has registered.
    case state
  }

  package internal(set) weak var object: AnyObject?
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
  /// The time of the timer.
  package var due: DispatchTime?
  /// The queue or the custom context of submitted work.
  package var context: AnyObject?
  /// The future that a task awaits.
  package internal(set) weak var source: FutureState?
  /// The latest event of an object with its own state.
  var lastEvent = LastEvent.none

  /// The events of an object with its own state, in their order.
  enum LastEvent: UInt8, Comparable {
    case none, began, cancelled, ended

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// The state that an entry describes, or `nil` for another object.
  func state(_ object: AnyObject) -> FutureState? {
    switch kind {
    case .promise, .task, .request, .process, .join, .timer, .state: unsafeDowncast(object, to: FutureState.self)
    case .work: object as? FutureState
    case .await, .wrappedCallback, .callbackStream: nil
    }
  }

  /// Whether the producer of a state has made the entry.
  fileprivate var isOfProducer: Bool {
    switch kind {
    case .promise, .request, .process: true
    default: false
    }
  }

  // Relaxed: it publishes nothing, only the numbers count.
  private static let count = AtomicWord(0)

  static func nextID() -> Int { -count.subtract(1, ordering: .relaxed).newValue }
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

  /// Adds an object, if it is tracked.
  /// - Parameters:
  ///   - kind: The kind of the object.
  ///   - object: The object, which the table holds weakly.
  ///   - label: Names it, if it has no label of its own.
  ///   - fileID: The file, a static string.
  ///   - line: The line.
  ///   - due: The time of a timer.
  ///   - context: The queue or the custom context of submitted work.
  ///   - source: The future that the object waits for; submitted work takes the place of its promise.
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
      object: object,
      kind: kind,
      label: label ?? (kind == .await ? nil : source?.label),
      fileID: fileID,
      line: UInt32(truncatingIfNeeded: line),
      start: .now(),
      thread: .ofCurrentThread,
      id: PendingEntry.nextID(),
      due: due,
      context: context,
      source: kind == .await ? source : nil
    )
    let swept = update { table -> [AnyObject]? in
      guard let table, table.tracks(entry.thread) else { return nil }
      if let source, kind != .await, let origin = table.entries[ObjectIdentifier(source)] {
        entry.fileID = entry.fileID ?? origin.fileID
        entry.line = entry.fileID == nil ? 0 : origin.line
        entry.label = entry.label ?? origin.label
      }
      return table.append(entry, of: object)
    }
    if swept != nil, let events = FuturesDiagnostics.events.object { events.didAdd(entry, object) }
    _ = swept  // released here, outside the lock: one of them can be the last reference
  }

  /// Records the latest event of an object with its own state.
  ///
  /// The entry stays in the table, because a cancelled call is pending until its handlers have run.
  /// - Parameters:
  ///   - event: The event.
  ///   - object: The object.
  /// - Returns: The entry before; `nil` if the object had this event or a later one, or if its begin was not recorded.
  func record(_ event: PendingEntry.LastEvent, of object: AnyObject) -> PendingEntry? {
    guard isSet else { return nil }
    return update { table in
      guard let entry = table?.entries[ObjectIdentifier(object)] else { return nil }
      guard entry.lastEvent < event, event == .began || entry.lastEvent != .none else { return nil }
      table?.entries[ObjectIdentifier(object)]?.lastEvent = event
      return entry
    }
  }

  /// Describes the producer of a state that is in the table.
  package func describe(_ state: FutureState, as kind: PendingEntry.Kind, label: String) {
    update { table in
      table?.entries[ObjectIdentifier(state)]?.kind = kind
      table?.entries[ObjectIdentifier(state)]?.label = label
    }
  }

  /// Returns the labels and places of the tracked futures that have consumers, the oldest first, for the test kit.
  /// - Parameters:
  ///   - start: The time since which the promises were made.
  ///   - isOfThisThread: Whether to list only promises that the calling thread has made.
  /// - Returns: One line for each future.
  package func awaited(since start: DispatchTime, ofThisThread isOfThisThread: Bool) -> [String] {
    let thread = UnsafeMutableRawPointer.ofCurrentThread
    return update { $0?.sorted() ?? [] }.compactMap { entry in
      guard entry.isOfProducer, entry.start >= start, !isOfThisThread || entry.thread == thread else { return nil }
      guard let state = entry.pendingState, state.consumerCount > 0 else { return nil }
      return entry.place(of: unsafeDowncast(entry.object ?? state, to: FutureState.self))
    }
  }

  /// Descriptions of the pending futures, the oldest first.
  var descriptions: [String] {
    let entries = update { $0?.isForAllThreads == true ? $0?.sorted() ?? [] : [] }
    let now = DispatchTime.now().uptimeNanoseconds
    return entries.compactMap { entry in
      guard entry.isOfProducer, let state = entry.pendingState else { return nil }
      let milliseconds = (now - entry.start.uptimeNanoseconds) / 1_000_000
      let count = state.consumerCount
      let consumers = "\(count) \(count == 1 ? "consumer" : "consumers")"
      let place = entry.place(of: unsafeDowncast(entry.object ?? state, to: FutureState.self))
      return "\(place), pending for \(Double(milliseconds) / 1_000) seconds, \(consumers)"
    }
  }

  /// Returns the entries with their objects, the oldest first.
  /// - Parameters:
  ///   - start: The time since which the objects were made.
  ///   - thread: The thread that has made the objects; `nil` for all threads.
  /// - Returns: The entries; `nil` if another thread has the table for long.
  package func objects(
    since start: DispatchTime?,
    ofThread thread: UnsafeMutableRawPointer?
  ) -> [(entry: PendingEntry, object: AnyObject)]? {
    let objects = updateIfAvailable { table -> [(entry: PendingEntry, object: AnyObject)] in
      var objects: [(entry: PendingEntry, object: AnyObject)] = []
      for entry in (table?.entries ?? [:]).values {
        if let start, entry.start < start { continue }
        if let thread, entry.thread != thread { continue }
        if let object = entry.object { objects.append((entry, object)) }
      }
      return objects
    }
    return objects?.sorted { $0.entry.id < $1.entry.id }
  }
}

extension PendingFutures {
  fileprivate func sorted() -> [PendingEntry] { entries.values.sorted { $0.id < $1.id } }
}

extension PendingEntry {
  /// The state, if it is pending.
  fileprivate var pendingState: FutureState? {
    guard let state = object as? FutureState, state.isPending else { return nil }
    return state
  }

  /// The label of the promise, and its place in the sources.
  fileprivate func place(of state: FutureState) -> String {
    "\((state.label ?? label).map { "\"\($0)\" " } ?? "")\(fileID.map { String(cString: $0) } ?? ""):\(line)"
  }
}

/// The handler of events, of which the table uses only this function.
package class PendingEvents: @unchecked Sendable {
  // @unchecked: the subclass says how its variables are protected.

  /// How a wrapped callback or a sequence goes on.
  package enum Change: Sendable {
    /// The object is cancelled, and pending until its handlers have run.
    case cancelling
    /// The object has ended.
    case cancelled, resolved, released
  }

  package init() {}

  /// Called for each new entry, outside the lock.
  func didAdd(_ entry: PendingEntry, _ object: AnyObject) {}

  /// Called for a change of an object with its own state; the first end has an effect.
  package func didChange(_ object: AnyObject, _ change: Change) {}
}

extension FuturesDiagnostics {
  /// The handler of events; `nil` without one.
  package static let events = LockedReference<PendingEvents>()
}

extension UnsafeMutableRawPointer {
  /// An address that identifies the calling thread.
  package static var ofCurrentThread: Self { Self(Trampoline.current.storage) }
}
