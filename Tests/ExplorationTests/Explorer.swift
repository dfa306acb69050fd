internal import Dispatch
internal import Synchronization

/// The next step of a thread.
struct Step {
  enum Kind { case read, write, lock, tryLock }

  let kind: Kind
  let location: ExploredLocation

  /// Whether the order of the two makes no difference.
  func commutes(with other: Step) -> Bool {
    // Giving a lock back is no step of its own, and a lock that is tried shows it.
    if kind == .tryLock || other.kind == .tryLock { return false }
    return location !== other.location || (kind == .read && other.kind == .read)
  }
}

/// A planted fault, to see that the explorer finds it.
enum PlantedBug {
  /// Locks do not exclude, so a checked value can change before its use.
  case checkOutsideTheLock
  /// An exchange does not compare, so it overwrites a change in between.
  case missedRecheck
  /// A store does not publish the thread's earlier steps.
  case droppedRelease
  /// A load does not take over the steps before the store.
  case droppedAcquire
}

/// One half of an ordering, at one place of the sources.
struct WeakenedOrdering: Codable, Sendable {
  enum Half: Codable, Sendable { case acquire, release }

  let half: Half

  /// As `#fileID` has it.
  let file: String
  let line: UInt
}

/// How thoroughly to explore.
enum Thoroughness {
  /// All orders of the steps, except orders that differ only in commuting steps.
  ///
  /// Of such orders one is tried, by sleep sets: P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*
  /// (1996). A thread whose step was tried first sleeps in the other branches until a step is made that does not commute with
  /// its own.
  case everyOrder
  /// As `everyOrder`, but each load returns the newest value.
  case everyOrderOfNewestValues
  /// All orders with so many preemptions: M. Musuvathi and S. Qadeer, *Iterative Context Bounding for Systematic Testing of
  /// Multithreaded Programs* (2007). Going on with the thread that runs is free, and so is a change where it waits or ends.
  ///
  /// So many loads of a run return an older value; by default as many as there are preemptions, and one at least.
  case preemptions(Int, staleLoads: Int? = nil)
}

/// Runs the same small program again and again, each time in another order of the steps of its threads.
///
/// One thread runs at a time. Before each atomic operation, and before each lock is taken, it is decided who goes on; a thread
/// that waits for a lock is not chosen. The decisions of one run are a path in a tree, which is searched depth first.
final class Explorer: @unchecked Sendable {
  // @unchecked: only the running explored thread, or the caller of `explore` between runs, uses the variables.

  let bug: PlantedBug?

  /// The ordering that is relaxed, to see whether a program needs it.
  let weakened: WeakenedOrdering?

  /// A number for the present run, which no other run of the process has.
  private(set) var run = 0

  /// How many runs there were.
  private(set) var runs = 0

  private let thoroughness: Thoroughness
  private var threads: [ExploredThread] = []
  private let over = DispatchSemaphore(value: 0)

  /// The decisions of the present run: which of how many.
  private var path: [(choice: Int, count: Int)] = []
  private var depth = 0

  private var isStuck = false
  private var isRedundant = false
  private var preemptions = 0
  private var staleLoads = 0
  private var fault: String?
  private var asleep = ThreadSet()

  /// The threads that have not ended.
  private var running = ThreadSet()

  /// The next step of each thread; empty before its first step.
  private var pending: [Step?] = []

  init(_ thoroughness: Thoroughness, bug: PlantedBug? = nil, weakened: WeakenedOrdering? = nil) {
    self.thoroughness = thoroughness
    self.bug = bug
    self.weakened = weakened
  }

  private static let lastRun = Synchronization.Atomic(0)

  /// The explorer for which the calling thread makes a program.
  @TaskLocal static var preparing: Explorer?

  /// Runs programs until all orders were tried, or a fault was found.
  ///
  /// Blocks the calling thread.
  /// - Parameter makeProgram: Makes the threads of one run, always the same number, and the check at the end.
  /// - Returns: The fault, if there was one.
  func explore(_ makeProgram: () -> (threads: [@Sendable () -> Void], check: () -> String?)) -> String? {
    defer {
      // Stuck threads stay stuck.
      if !isStuck { for thread in threads { thread.finish() } }
      threads = []
    }
    repeat {
      (run, fault) = (Self.lastRun.add(1, ordering: .relaxed).newValue, nil)
      let (bodies, check) = Self.$preparing.withValue(self) { makeProgram() }
      run(bodies)
      runs += 1
      if isStuck { return "each thread waits for another, in run \(runs), by the decisions \(path.map(\.choice))" }
      if let fault = fault ?? check() { return "\(fault), in run \(runs), by the decisions \(path.map(\.choice))" }
    } while advance()
    return nil
  }

  /// Goes to the next path of the tree.
  private func advance() -> Bool {
    while let (choice, count) = path.popLast() {
      if choice + 1 < count {
        path.append((choice + 1, count))
        return true
      }
    }
    return false
  }

  private func run(_ bodies: [@Sendable () -> Void]) {
    while threads.count < bodies.count { threads.append(ExploredThread(threads.count, of: self)) }
    precondition(bodies.count <= VectorClock.maximumThreads, "A program has too many threads.")
    (depth, preemptions, staleLoads, isRedundant, asleep) = (0, 0, 0, false, ThreadSet())
    running = ThreadSet(bodies.indices)
    pending = bodies.map { _ in nil }
    for (thread, body) in zip(threads, bodies) { thread.prepare(body) }
    threads[0].giveTurn()
    over.wait()
  }

  // MARK: - By the explored threads

  func step(_ step: Step, of thread: ExploredThread) {
    pending[thread.number] = step
    guard let next = chooseNext(after: thread.number), next != thread.number else { return }
    threads[next].giveTurn()
    thread.waitForTurn()
  }

  /// Notes a fault that the explorer itself finds.
  func note(_ fault: String) { if self.fault == nil { self.fault = fault } }

  /// Whether the operation at `site` must not have this half of its ordering.
  func weakens(_ half: WeakenedOrdering.Half, at site: CallSite) -> Bool {
    if bug == (half == .acquire ? .droppedAcquire : .droppedRelease) { return true }
    guard let weakened, weakened.line == site.line else { return false }
    return weakened.half == half && weakened.file == site.file.description
  }

  /// Returns the older values of which the search tries each, out of `stale`.
  ///
  /// A load that was due before the next value was stored could have returned the older value at that time. The search of
  /// every order has a run for that.
  /// - Parameters:
  ///   - stale: The places of the older values that the memory model allows.
  ///   - count: The number of values when the load was due.
  /// - Returns: The places of the values to try.
  func useful(_ stale: Range<Int>, _ count: Int) -> Range<Int> {
    switch thoroughness {
    case .everyOrder: stale.clamped(to: 0..<max(count - 1, 0))
    case .everyOrderOfNewestValues: 0..<0
    case .preemptions: stale
    }
  }

  private var searchesEveryOrder: Bool {
    if case .preemptions = thoroughness { false } else { true }
  }

  private var maximumStaleLoads: Int {
    if case .preemptions(let maximum, let staleLoads) = thoroughness { staleLoads ?? max(maximum, 1) } else { .max }
  }

  /// Decides which of the values that a load can return it returns; zero is the newest.
  func chooseValue(among count: Int) -> Int {
    if isRedundant { return 0 }
    if staleLoads >= maximumStaleLoads { return 0 }
    if depth == path.count { path.append((0, count)) }
    defer { depth += 1 }
    if path[depth].choice > 0 { staleLoads += 1 }
    return path[depth].choice
  }

  func ended(_ thread: ExploredThread) {
    running.remove(thread.number)
    if let next = chooseNext(after: nil) {
      threads[next].giveTurn()
    } else {
      isStuck = !running.isEmpty
      over.signal()
    }
  }

  /// Chooses the thread that continues; `nil` if none can.
  private func chooseNext(after current: Int?) -> Int? {
    var able = ThreadSet()
    for thread in pending.indices where running.contains(thread) {
      // No thread sees the code before another thread's first step.
      guard let step = pending[thread] else { return thread }
      if step.kind != .lock || !step.location.isLocked { able.insert(thread) }
    }
    let isPreempting = current.map(able.contains) ?? false
    guard let first = isPreempting ? current : able.first else { return stop(current) }
    let choice = isRedundant ? first : choose(among: able, preferring: first, isPreempting: isPreempting)
    wake(by: choice)
    return choice
  }

  /// Wakes threads whose step does not commute with the next step.
  private func wake(by choice: Int) {
    guard !asleep.isEmpty, let made = pending[choice] else { return }
    for thread in pending.indices where asleep.contains(thread) {
      if let step = pending[thread], !step.commutes(with: made) { asleep.remove(thread) }
    }
  }

  /// No thread can continue: all have ended or wait for a lock.
  private func stop(_ current: Int?) -> Int? {
    guard current != nil else { return nil }
    isStuck = true
    over.signal()
    // This thread and the others never continue.
    DispatchSemaphore(value: 0).wait()
    return nil
  }

  /// Chooses the next thread of this run among the enabled ones, `first` before the others.
  private func choose(among able: ThreadSet, preferring first: Int, isPreempting: Bool) -> Int {
    var candidates = able
    switch thoroughness {
    case .everyOrder, .everyOrderOfNewestValues:
      candidates.subtract(asleep)
      if candidates.isEmpty {
        // Another run has made the remaining steps in an equivalent order.
        isRedundant = true
        return first
      }
    case .preemptions(let maximum, _):
      if isPreempting, preemptions == maximum { return first }
    }
    guard candidates.count > 1 else { return candidates.first ?? first }
    if depth == path.count { path.append((0, candidates.count)) }
    var chosen = candidates.contains(first) ? first : candidates.first ?? first
    for _ in 0..<path[depth].choice {
      candidates.remove(chosen)
      if searchesEveryOrder { asleep.insert(chosen) }
      chosen = candidates.first ?? first
    }
    depth += 1
    if isPreempting, chosen != first { preemptions += 1 }
    return chosen
  }
}

/// Some of a few threads.
private struct ThreadSet {
  private var bits: UInt = 0

  init() {}

  init(_ threads: Range<Int>) { bits = (1 << UInt(threads.count)) - 1 }

  var isEmpty: Bool { bits == 0 }
  var count: Int { bits.nonzeroBitCount }
  var first: Int? { bits == 0 ? nil : bits.trailingZeroBitCount }

  func contains(_ thread: Int) -> Bool { bits & (1 << UInt(thread)) != 0 }

  mutating func insert(_ thread: Int) { bits |= 1 << UInt(thread) }
  mutating func remove(_ thread: Int) { bits &= ~(1 << UInt(thread)) }
  mutating func subtract(_ other: ThreadSet) { bits &= ~other.bits }
}
