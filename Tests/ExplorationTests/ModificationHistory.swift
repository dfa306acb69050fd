/// A location in memory that several threads use: an atomic, a lock, or an object of a world.
@usableFromInline
class ExploredLocation: @unchecked Sendable {
  // @unchecked: one explored thread runs at a time.

  /// The steps that happened before a thread unlocked the location, or published a note.
  var released = VectorClock()

  /// Whether this is a lock that a thread holds.
  var isLocked = false

  /// The steps that have to come before the last unlock.
  var pastOfUnlock = VectorClock()

  /// The run of the location's last step.
  private var usingRun = 0

  /// The run that made the location; `nil` outside a run, as for a constant of the program.
  let run: Int?

  /// The step that created the location; `nil` if it was created before the threads began.
  private let creation: Event?

  init() {
    let thread = ExploredThread.current
    run = thread?.explorer.run ?? Explorer.preparing?.run
    creation = thread?.now
  }

  /// Prepares for a step of a run.
  ///
  /// Several runs use a location that is a constant of the program. Each run forgets the clocks of the runs before.
  func prepare(for run: Int) {
    guard usingRun != run else { return }
    usingRun = run
    released = VectorClock()
    pastOfUnlock = VectorClock()
  }

  /// Whether the location was made in the run of `thread`.
  func belongs(to thread: ExploredThread) -> Bool { run == thread.explorer.run }

  /// Reports `thread` if it uses the location without having seen its creation.
  func checkCreation(seenBy thread: ExploredThread) {
    guard belongs(to: thread), let creation, !thread.hasSeen(creation) else { return }
    thread.explorer.note("a thread used an object, but has not seen how it was made")
  }
}

/// The values that an atomic has had, and the rules for which of them a load can return.
///
/// The order of modification is the order in which the explorer runs the stores. A load returns the newest value, or an older
/// one that the memory model of C++20, which is Swift's, allows:
///
/// - **Coherence.** A load returns no value older than one that its thread has used. The same holds for a value that
///   was used in a step that the thread has seen. A store and each load that returns a value use that value.
/// - **Sequential consistency.** A sequentially consistent load returns no value older than one that an earlier sequentially
///   consistent step has used.
/// - **Atomicity.** A read-modify-write replaces the newest value.
///
/// An acquiring load sees the steps that its value publishes. A releasing store publishes all steps that its thread has
/// seen. A read-modify-write also publishes the steps of the value that it replaces (release sequence).
@usableFromInline
final class ModificationHistory<Value>: ExploredLocation, @unchecked Sendable {
  // @unchecked: one explored thread runs at a time. Explorers share only constants of the program, which need only
  // `newest`.

  private struct Store {
    let value: Value
    let published: VectorClock
    var uses: FirstUses
  }

  /// The newest value.
  private(set) var newest: Value

  /// The initial value and all stores of the run; empty before the first store.
  private var stores: [Store] = []

  /// The newest store that a sequentially consistent step has used.
  private var sequentialIndex = 0

  init(_ value: Value) {
    newest = value
    super.init()
  }

  /// The number of values that the atomic has had.
  var count: Int { max(stores.count, 1) }

  /// Replaces the value outside the steps of threads.
  func reset(_ value: Value) {
    newest = value
    stores = []
    sequentialIndex = 0
  }

  /// Returns the places of the older values that a load can return, the newest first.
  func staleIndices(for thread: ExploredThread, isSequential: Bool) -> Range<Int> {
    guard belongs(to: thread), stores.count > 1 else { return 0..<0 }
    let last = stores.count - 1
    var first = last
    while first > 0, !stores[first].uses.haveOne(seenBy: thread.clock), !isSequential || first > sequentialIndex {
      first -= 1
    }
    return first..<last
  }

  func value(at index: Int) -> Value { stores[index].value }

  /// Reads the value at an index; `nil` is the newest.
  func load(_ index: Int?, by thread: ExploredThread, isAcquiring: Bool, isSequential: Bool) -> Value {
    guard belongs(to: thread), !stores.isEmpty else { return newest }
    let index = index ?? stores.count - 1
    stores[index].uses.note(thread.lastStep)
    if isSequential { sequentialIndex = max(sequentialIndex, index) }
    if isAcquiring { thread.acquire(stores[index].published) }
    return stores[index].value
  }

  /// Appends a value.
  ///
  /// `isUpdate` means that a read-modify-write stores the value, which continues the release sequence of the replaced
  /// value.
  func store(_ value: Value, by thread: ExploredThread, isReleasing: Bool, isSequential: Bool, isUpdate: Bool) {
    defer { newest = value }
    guard belongs(to: thread) else { return }
    if stores.isEmpty { stores.append(Store(value: newest, published: VectorClock(), uses: .beforeThreads)) }
    var published = isUpdate ? stores[stores.count - 1].published : VectorClock()
    if isReleasing { published.merge(thread.clock) }
    stores.append(Store(value: value, published: published, uses: FirstUses(thread.lastStep)))
    if isSequential { sequentialIndex = stores.count - 1 }
  }
}
