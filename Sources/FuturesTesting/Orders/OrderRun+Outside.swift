internal import CFuturesTesting
internal import Dispatch
internal import Futures

// Work that leaves the run and runs in real time. The search cannot choose its order, so the run waits for the work
// after each move. If the work enters the run again, the run fails. Otherwise the report names the work.

/// The report's entry for work that has left a run: for a Dispatch queue that no run controls, a run loop, or a thread.
struct OutsideNotice: Hashable, Sendable {
  // The same numbers as in CFuturesTesting.h.
  enum Kind: Int32 { case queue, timer, notification, source, thread, iterations, runLoopBlock, runLoopTimer, sync }

  let kind: Kind
  let label: String?
  let site: CallSite

  /// Whether the run waits until the work has ended.
  ///
  /// A timer does not fire while the run lasts, and the end of the work of a source or a run loop is not known.
  var isWaitedFor: Bool { kind == .queue || kind == .notification || kind == .thread }

  /// Whether the work ends within the call that starts it.
  var isCall: Bool { kind == .iterations || kind == .sync }

  /// For example “work on the Dispatch queue “images”, submitted at App/Cache.swift:12”.
  var description: String {
    let (subject, verb) =
      switch kind {
      case .queue: ("work on \(queue)", "submitted")
      case .timer: ("a timer of \(queue) in real time", "set")
      case .notification: ("the notification of a Dispatch group on \(queue)", "set")
      case .source: ("a Dispatch source on \(queue)", "made")
      case .thread: ("a thread", "started")
      case .runLoopBlock: ("a block of a run loop", "submitted")
      case .runLoopTimer: ("a timer of a run loop", "added")
      case .iterations: ("`concurrentPerform`", "called")
      case .sync: ("other work during `sync` on \(queue)", "called")
      }
    return site.description.map { "\(subject), \(verb) at \($0)" } ?? subject
  }

  private var queue: String {
    guard let label, !label.isEmpty else { return "a Dispatch queue" }
    if label == "com.apple.main-thread" { return "the main queue" }
    return label.hasPrefix("com.apple.root.") ? "a global Dispatch queue" : "the Dispatch queue “\(label)”"
  }

  /// Describes work that arrives after its run.
  static let late = "work that another thread has submitted to a run that was over"
}

/// Work that has left a run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OutsideWork: @unchecked Sendable {
  // @unchecked: `run` is set once.
  let notice: OutsideNotice
  private(set) weak var run: OrderRun?

  /// The move that submitted the work; `nil` if other outside work did.
  let move: OrderRun.Move?

  init(_ notice: OutsideNotice, of run: OrderRun, during move: OrderRun.Move?) {
    (self.notice, self.run, self.move) = (notice, run, move)
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// The move, or the part of a move, that runs now.
  struct Move: Equatable {
    let number: Int
    let thread: Int32
  }

  /// The work that has left the run.
  struct OutsideState {
    /// The first kinds and places.
    var left: [OutsideNotice] = []

    /// How many pieces, for which the run waits, have not ended.
    var outstanding = 0

    /// The groups whose notifications have not begun.
    var notifications: [ObjectIdentifier: UnsafeMutableRawPointer] = [:]

    /// The threads of the work that has begun.
    var threads: [ObjectIdentifier: Int32] = [:]

    /// Whether work has not ended.
    var hasWork: Bool { outstanding > 0 || !notifications.isEmpty }

    /// The number of pieces that will end soon; a notification counts from the end of its group.
    var count: Int { outstanding + notifications.values.count(where: cfuturestesting_is_empty) }
  }

  /// Something that entered the run from another thread.
  struct Interference {
    /// A sentence without its subject, for example “has resumed a task of the test.”.
    let predicate: String

    /// The work that entered the run; `nil` if it is not known.
    let origin: OutsideNotice?

    func sentence(after left: [OutsideNotice]) -> String {
      if let origin {
        let subject = origin.description
        return "\(subject.prefix(1).uppercased())\(subject.dropFirst()) \(predicate)"
      }
      let known =
        left.isEmpty ? "" : " Before, this work left the run: \(left.map(\.description).shortList(separator: "; "))."
      return "Another thread \(predicate)\(known)"
    }
  }

  /// The kinds of submitted work that the runs see (`cfuturestesting_sees_…`).
  static let hooks = cfuturestesting_install(
    cfuturestesting_hooks { run, job in
      Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue().enqueue(unsafeBitCast(job, to: UnownedJob.self))
    } enqueueFromOutside: { job in
      enqueueFromOutside(unsafeBitCast(job, to: UnownedJob.self))
    } submitOnMain: { run, context, function in
      Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue().enqueue(MainWork(context, function))
    } submitAfter: { run, isOnMain, nanoseconds, context, function in
      let run = Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue()
      // Rounded up: some time has passed since the caller computed the deadline.
      let delay = Duration.nanoseconds(nanoseconds).roundedUpToMilliseconds
      if isOnMain { return run.enqueue(MainWork(context, function), after: delay) }
      if let job = unsafeBitCast(context, to: UnownedJob?.self) { run.sleep(job, delay) }
    } leave: { run, origin, kind, label, group in
      let origin = origin.map { Unmanaged<OutsideWork>.fromOpaque($0).takeUnretainedValue() }
      let current = run.map { Unmanaged<OrderRun>.fromOpaque($0).takeUnretainedValue() }
      guard let run = current ?? origin?.run, let kind = OutsideNotice.Kind(rawValue: kind) else { return nil }
      guard let work = run.leave(kind, queue: label.map { String(cString: $0) }, after: group) else { return nil }
      return Unmanaged.passRetained(work).toOpaque()
    } begin: { work in
      let work = Unmanaged<OutsideWork>.fromOpaque(work).takeUnretainedValue()
      if let move = work.move { work.run?.waitForEnd(ofMove: move) }
      work.run?.begin(work)
    } isOver: { work in
      Unmanaged<OutsideWork>.fromOpaque(work).takeUnretainedValue().run?.state.withLock(\.isOver) ?? true
    } end: { work in
      let work = Unmanaged<OutsideWork>.fromOpaque(work).takeRetainedValue()
      work.run?.end(work)
    }
  )

  /// The kinds of work that the reports cannot see on this platform; `nil` if they see all work that leaves a run.
  static let unobserved: String? = {
    if Int(hooks) & cfuturestesting_sees_outside != 0 { return nil }
    return """
      the main queue, `Task.sleep`, other Dispatch queues and threads are not observed on this platform or with this sanitizer
      """
  }()

  private func leave(
    _ kind: OutsideNotice.Kind,
    queue label: String?,
    after group: UnsafeMutableRawPointer?
  ) -> OutsideWork? {
    let isKnown = state.withLock { state in
      // A queue can be a lock, whose `sync` is called often.
      state.isOver || kind == .sync && state.outside.left.contains { $0.kind == kind && $0.label == label }
    }
    if isKnown { return nil }
    let notice = OutsideNotice(kind: kind, label: label, site: .current())
    let work = OutsideWork(notice, of: self, during: isOnThreadOfMoves ? state.withLock(\.move) : nil)
    state.withLock { state in
      if let group { state.outside.notifications[ObjectIdentifier(work)] = group }
      if notice.isWaitedFor, group == nil { state.outside.outstanding += 1 }
      let isNew = !state.outside.left.contains(notice)
      if isNew, state.outside.left.count < 20 { state.outside.left.append(notice) }
    }
    return work
  }

  /// Keeps that a move has called `sync` of a stand-in for a queue: other work could come between.
  func noteSync(_ label: String) {
    let notice = OutsideNotice(kind: .sync, label: label, site: CallSite(addresses: []))
    state.withLock { if !$0.outside.left.contains(notice) { $0.outside.left.append(notice) } }
  }

  /// Waits until the move that submitted work has returned, so that the work always comes after it.
  ///
  /// Also stops waiting when the move itself blocks, because the move can wait for that work.
  private func waitForEnd(ofMove move: Move) {
    var waits = 0
    while state.withLock({ $0.move == move && !$0.isOver }), waits < 5 {
      waits = cfuturestesting_sleeping(move.thread) >= 0 ? waits + 1 : 0
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100))
    }
  }

  private func begin(_ work: OutsideWork) {
    let thread = cfuturestesting_thread_number()
    state.withLock { state in
      state.outside.threads[ObjectIdentifier(work)] = thread
      let group = state.outside.notifications.removeValue(forKey: ObjectIdentifier(work))
      if group != nil { state.outside.outstanding += 1 }
    }
  }

  private func end(_ work: OutsideWork) {
    state.withLock { state in
      if work.notice.isWaitedFor { state.outside.outstanding -= 1 }
      state.outside.threads[ObjectIdentifier(work)] = nil
    }
    signalArrival()
  }

  /// Keeps the interference of another thread, if it is the first one.
  ///
  /// Called under the lock.
  func interfere(_ predicate: @autoclosure () -> String, _ state: inout State) {
    guard state.interference == nil else { return }
    let origin = cfuturestesting_origin().map { Unmanaged<OutsideWork>.fromOpaque($0).takeUnretainedValue().notice }
    state.interference = Interference(predicate: predicate(), origin: origin)
  }

  /// Waits until the work that has left the run has ended, or has entered the run.
  func waitForOutside() {
    var probes: [DispatchSemaphore]?
    var start = DispatchTime.now()
    while state.withLock({ $0.outside.hasWork && $0.outside.count > 0 && $0.interference == nil }),
      watch?.watch.isCancelled != true, outsidePatience.allowsWait()
    {
      guard arrivals.wait(timeout: .now() + .milliseconds(10)) == .timedOut else {
        // Work that always submits more work arrives for ever.
        outsidePatience.spend(since: &start)
        continue
      }
      probes = (probes ?? submitProbes()).filter { $0.wait(timeout: .now()) == .timedOut }
      let (threads, count) = state.withLock { (Array($0.outside.threads.values), $0.outside.count) }
      // Work that has not begun, although Dispatch has begun later work, waits for something, such as a suspended queue.
      let hasBegun = threads.count >= count || probes?.isEmpty == true
      let isAsleep = hasBegun && threads.allSatisfy { cfuturestesting_sleeping($0) >= 0 }
      outsidePatience.spend(since: &start, isAsleep: isAsleep)
    }
  }

  /// Submits work to all global queues, whose threads run the work of the other queues, too.
  /// - Returns: For each queue, a semaphore that its work signals.
  private func submitProbes() -> [DispatchSemaphore] {
    let run = cfuturestesting_run()
    cfuturestesting_set_run(nil)
    defer { cfuturestesting_set_run(run) }
    return [.userInteractive, .userInitiated, .default, .utility, .background].map { (quality: DispatchQoS.QoSClass) in
      let probe = DispatchSemaphore(value: 0)
      DispatchQueue.global(qos: quality).async { probe.signal() }
      return probe
    }
  }

  /// The failure's sentence if the body waits for work outside the run; `nil` if no such work can come.
  var outsideWait: String? {
    let outside = state.withLock(\.outside)
    let left = outside.left.filter { !$0.isCall }
    guard !left.isEmpty, outside.hasWork || left.contains(where: { !$0.isWaitedFor }) else { return nil }
    let list = left.map(\.description).shortList(separator: "; ")
    return "The body waits, and nothing of the run is left. Outside the run there is \(list)."
  }
}

/// How long the runs of a search still wait for work that has left them and has not ended.
///
/// All runs of a search share one object, so work that never ends costs two seconds in all, not in each run. Work
/// that runs, or that a busy machine has not started, gets a minute.
final class OutsidePatience: Sendable {
  private let nanosecondsLeft = Locked<Int64>(60_000_000_000)

  /// Returns whether to wait once more.
  func allowsWait() -> Bool { nanosecondsLeft.withLock { $0 > 0 } }

  /// Counts the time since `start`, and begins the next wait.
  ///
  /// If the work sleeps, a wait counts as 300 ms, so such work gets two seconds and not a minute.
  func spend(since start: inout DispatchTime, isAsleep: Bool = false) {
    let now = DispatchTime.now()
    let waited = Int64(now.uptimeNanoseconds - start.uptimeNanoseconds)
    nanosecondsLeft.withLock { $0 -= isAsleep ? 300_000_000 : waited }
    start = now
  }
}
