internal import Dispatch

/// The next step of a thread.
struct Step {
  enum Kind { case read, write, lock, tryLock }

  let kind: Kind
  let location: ExploredLocation

  /// Whether the order of the two steps makes no difference.
  func commutes(with other: Step) -> Bool {
    // Unlocking is not a step of its own, but `tryLock` observes it.
    if kind == .tryLock || other.kind == .tryLock { return false }
    return location !== other.location || (kind == .read && other.kind == .read)
  }
}

/// A deliberate fault that the explorer must find.
enum PlantedBug {
  /// Locks do not exclude other threads, so a checked value can change before its use.
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

  /// The file, written as in `#fileID`.
  let file: String
  let line: UInt
}

/// The thoroughness of an exploration.
enum Thoroughness {
  /// All orders of the steps, except orders that differ only in commuting steps.
  ///
  /// The search tries one of these equivalent orders. A run chooses another thread only where a step has a race, as
  /// `RaceDetector` says. A thread whose step was tried first also sleeps in the other branches. The thread wakes when
  /// a step is made that does not commute with its own step.
  case everyOrder
  /// Like `everyOrder`, but each load returns the newest value.
  case everyOrderOfNewestValues
  /// All orders with at most this number of preemptions.
  ///
  /// M. Musuvathi and S. Qadeer, *Iterative Context Bounding for Systematic Testing of Multithreaded Programs* (2007).
  /// Continuing the running thread is free, and so is a switch where it waits or ends.
  ///
  /// At most `staleLoads` loads of a run return an older value. The default is the number of preemptions, but at least
  /// one.
  case preemptions(Int, staleLoads: Int? = nil)
}

/// Runs the same small program again and again, each time in another order of the steps of its threads.
///
/// One thread runs at a time. Before each atomic operation, and before each lock is taken, the explorer chooses the
/// thread that continues. It never chooses a thread that waits for a lock. The decisions of one run are a path in a
/// tree, which the explorer searches depth first.
final class Explorer: @unchecked Sendable {
  // @unchecked: only the running explored thread, or the caller of `explore` between runs, uses the variables.

  let bug: PlantedBug?

  /// The ordering that the explorer relaxes, to find out whether a program needs it.
  let weakened: WeakenedOrdering?

  /// The number of the current run, which no other run of the process has.
  private(set) var run = 0

  /// The number of runs so far.
  private(set) var runs = 0

  private let thoroughness: Thoroughness
  private var threads: [ExploredThread] = []
  private let over = DispatchSemaphore(value: 0)

  /// The decisions of the current run.
  private var path: [Decision] = []
  private var depth = 0

  private var isStuck = false
  private var isRedundant = false
  private var preemptions = 0
  private var staleLoads = 0
  private var fault: String?
  private var asleep = ThreadSet()
  private var races = RaceDetector()

  /// The first decision that the previous run did not make in the same way.
  private var firstNewStep = 0

  /// The threads that have not ended.
  private var running = ThreadSet()

  /// The next step of each thread; empty before its first step.
  private var pending: [Step?] = []

  init(_ thoroughness: Thoroughness, bug: PlantedBug? = nil, weakened: WeakenedOrdering? = nil) {
    self.thoroughness = thoroughness
    self.bug = bug
    self.weakened = weakened
  }

  private static let lastRun = Unexplored(0)

  private static func nextRun() -> Int {
    lastRun.withLock { run in
      run += 1
      return run
    }
  }

  /// The explorer for which the calling thread makes a program.
  @TaskLocal static var preparing: Explorer?

  /// Runs programs until it has tried all orders or found a fault.
  ///
  /// Blocks the calling thread.
  /// - Parameter makeProgram: Makes the threads of one run, always the same number, and the check at the end.
  /// - Returns: The fault, if there was one.
  func explore(_ makeProgram: () -> (threads: [@Sendable () -> Void], check: () -> String?)) -> String? {
    defer {
      // Threads that wait for each other cannot end.
      if !isStuck { for thread in threads { thread.finish() } }
      threads = []
    }
    repeat {
      (run, fault) = (Self.nextRun(), nil)
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
    while let decision = path.popLast() {
      if let next = decision.next {
        path.append(next)
        firstNewStep = path.count - 1
        return true
      }
    }
    return false
  }

  private func run(_ bodies: [@Sendable () -> Void]) {
    while threads.count < bodies.count { threads.append(ExploredThread(threads.count, of: self)) }
    precondition(bodies.count <= VectorClock.maximumThreads, "A program has too many threads.")
    (depth, preemptions, staleLoads, isRedundant, asleep) = (0, 0, 0, false, ThreadSet())
    races.removeAll()
    running = ThreadSet(bodies.indices)
    pending = bodies.map { _ in nil }
    for (thread, body) in zip(threads, bodies) { thread.prepare(body) }
    threads[0].giveTurn()
    over.wait()
  }

  // MARK: - Called by the explored threads

  func step(_ step: Step, of thread: ExploredThread) {
    step.location.prepare(for: run)
    pending[thread.number] = step
    guard let next = chooseNext(after: thread.number), next != thread.number else { return }
    threads[next].giveTurn()
    thread.waitForTurn()
  }

  /// Records a fault that the explorer itself finds.
  func note(_ fault: String) { if self.fault == nil { self.fault = fault } }

  /// Whether the explorer removes this half of the ordering of the operation at `site`.
  func weakens(_ half: WeakenedOrdering.Half, at site: CallSite) -> Bool {
    if bug == (half == .acquire ? .droppedAcquire : .droppedRelease) { return true }
    guard let weakened, weakened.line == site.line else { return false }
    return weakened.half == half && weakened.file == site.file.description
  }

  /// Returns the values in `stale` that the search tries.
  ///
  /// A load that was due before the next store could have returned the older value at that time. The search of every
  /// order has a separate run for that.
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

  /// Notes that `thread` unlocks a lock.
  func unlock(_ location: ExploredLocation, by thread: ExploredThread) { races.unlock(location, by: thread.number) }

  private var maximumStaleLoads: Int {
    if case .preemptions(let maximum, let staleLoads) = thoroughness { staleLoads ?? max(maximum, 1) } else { .max }
  }

  /// Chooses the value that a load returns; zero is the newest.
  func chooseValue(among count: Int) -> Int {
    if isRedundant { return 0 }
    if staleLoads >= maximumStaleLoads { return 0 }
    let choice = choose(among: count)
    if choice > 0 { staleLoads += 1 }
    return choice
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
      // Other threads cannot observe the code before a thread's first step, so there is nothing to choose.
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

  /// Ends the run if no thread can continue: all have ended or wait for a lock.
  private func stop(_ current: Int?) -> Int? {
    guard current != nil else { return nil }
    isStuck = true
    over.signal()
    // No thread of this run ever continues.
    DispatchSemaphore(value: 0).wait()
    return nil
  }

  /// Returns the number of this run's choice out of `count`.
  private func choose(among count: Int) -> Int {
    if depth == path.count { path.append(.number(0, of: count)) }
    defer { depth += 1 }
    return path[depth].choice
  }

  /// Chooses the next thread of this run among the enabled threads, beginning with `first`.
  private func choose(among able: ThreadSet, preferring first: Int, isPreempting: Bool) -> Int {
    guard case .preemptions(let maximum, _) = thoroughness else {
      return chooseInEveryOrder(able, preferring: first)
    }
    if isPreempting, preemptions == maximum { return first }
    guard able.count > 1 else { return first }
    var others = able
    var chosen = first
    for _ in 0..<choose(among: able.count) {
      others.remove(chosen)
      chosen = others.first ?? first
    }
    if isPreempting, chosen != first { preemptions += 1 }
    return chosen
  }

  /// Chooses the next thread in a search of every order, and notes the races of its step for later runs.
  private func chooseInEveryOrder(_ able: ThreadSet, preferring first: Int) -> Int {
    if depth == path.count {
      var candidates = able
      candidates.subtract(asleep)
      guard let lowest = candidates.first else {
        // Another run has made the remaining steps in an equivalent order.
        isRedundant = true
        return first
      }
      path.append(.thread(ThreadDecision(candidates.contains(first) ? first : lowest, able: able, asleep: asleep)))
    }
    guard case .thread(let decision) = path[depth], let step = pending[decision.thread] else {
      preconditionFailure("A program must make the same steps in each run.")
    }
    asleep = decision.asleep
    for race in races.add(step, of: decision.thread, decision: depth, isNew: depth >= firstNewStep) {
      path[race.decision].add(race.initials)
    }
    depth += 1
    return decision.thread
  }
}

/// One decision of a run.
private enum Decision {
  /// The number of a choice.
  case number(Int, of: Int)
  /// The thread that continues, in a search of every order.
  case thread(ThreadDecision)

  var choice: Int {
    switch self {
    case .number(let number, _): number
    case .thread(let decision): decision.thread
    }
  }

  /// The decision of the next run; `nil` if the search has tried all of them.
  var next: Decision? {
    switch self {
    case .number(let number, let count): number + 1 < count ? .number(number + 1, of: count) : nil
    case .thread(let decision): decision.next.map { .thread($0) }
    }
  }

  /// Adds one of the threads that can begin a run which reverses a race, unless one is chosen already.
  mutating func add(_ initials: ThreadSet) {
    guard case .thread(var decision) = self else { preconditionFailure("Only the steps of threads have races.") }
    decision.add(initials)
    self = .thread(decision)
  }
}

/// The choice of the thread that continues.
private struct ThreadDecision {
  private(set) var thread: Int

  /// The threads that sleep: their next steps come first in another run.
  private(set) var asleep: ThreadSet

  private let able: ThreadSet

  /// The threads to choose in this run and in others.
  private var chosen = ThreadSet()

  init(_ thread: Int, able: ThreadSet, asleep: ThreadSet) {
    self.thread = thread
    self.able = able
    self.asleep = asleep
    chosen.insert(thread)
  }

  /// Adds one of the threads that can begin a run which reverses a race, unless one is chosen already.
  mutating func add(_ initials: ThreadSet) {
    guard chosen.intersection(initials).isEmpty else { return }
    if let first = initials.intersection(able).first {
      chosen.insert(first)
    } else {
      // These threads wait for locks. A run that begins with another thread can release the locks.
      chosen.formUnion(able)
    }
  }

  /// The choice of the next run; `nil` if the search has tried all of them.
  var next: ThreadDecision? {
    var result = self
    result.asleep.insert(thread)
    var rest = chosen
    rest.subtract(result.asleep)
    guard let next = rest.first else { return nil }
    result.thread = next
    return result
  }
}
