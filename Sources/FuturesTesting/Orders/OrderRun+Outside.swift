internal import CFuturesTesting
internal import Dispatch
internal import Futures

// Work that leaves the run and runs in real time. The search cannot choose its order, so the run waits for the work
// after each move. If the work enters the run again, the run fails. Otherwise the report names the work.

/// The report's entry for work that has left a run: for a Dispatch queue that no run controls, a run loop, or a thread.
struct OutsideNotice: Hashable, Sendable {
  // The same numbers as in CFuturesTesting.h.
  enum Kind: Int32 { case queue, timer, notification, runLoop, sync, source, thread }

  let kind: Kind
  let label: String?
  let site: CallSite

  /// Whether the run waits until the work has ended.
  ///
  /// A timer does not fire while the run lasts, and the end of the work of a source, a thread or a run loop is not known.
  var isWaitedFor: Bool { kind == .queue || kind == .notification }

  /// For example “work on the Dispatch queue “images”, submitted at App/Cache.swift:12”.
  var description: String {
    let (subject, verb) =
      switch kind {
      case .queue: ("work on \(queue)", "submitted")
      case .timer: ("a timer of \(queue) in real time", "set")
      case .notification: ("the notification of a Dispatch group on \(queue)", "set")
      case .source: ("a Dispatch source on \(queue)", "made")
      case .thread: ("a thread", "started")
      case .runLoop: ("work of a run loop", "added")
      case .sync: ("other work during `sync` on \(queue)", "called")
      }
    return site.description.map { "\(subject), \(verb) at \($0)" } ?? subject
  }

  private var queue: String {
    guard let label, !label.isEmpty else { return "a Dispatch queue" }
    if label == "com.apple.main-thread" { return "the main queue" }
    return label.hasPrefix("com.apple.root.") ? "a global Dispatch queue" : "the Dispatch queue “\(label)”"
  }
}

/// Work that has left a run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OutsideWork: @unchecked Sendable {
  // @unchecked: the lock of the run protects the variables.
  let notice: OutsideNotice
  private(set) weak var run: OrderRun?

  /// The move that submitted the work; `nil` if other outside work did.
  private let move: OrderRun.Move?

  /// The group whose end a notification waits for.
  private var group: UnsafeMutableRawPointer?

  /// The thread, from the beginning of the work on.
  fileprivate private(set) var thread: Int32?

  init(_ notice: OutsideNotice, of run: OrderRun, during move: OrderRun.Move?, after group: UnsafeMutableRawPointer?) {
    (self.notice, self.run, self.move, self.group) = (notice, run, move, group)
  }

  /// Whether the work will end soon: a notification counts from the end of its group.
  var isDue: Bool { group.map(cfuturestesting_is_empty) ?? true }

  /// Whether the work has not begun, for example on a suspended queue, or waits for something.
  var isAsleep: Bool { thread.map(cfuturestesting_sleeps) ?? true }

  /// Called on the work's thread before the work: waits until the move that submitted the work has returned.
  ///
  /// So the work always comes after the move. It does not wait for a move that blocks, because that move can wait for this work.
  /// - Returns: Whether the work can run now. If not, the caller tries again after 10 ms.
  func begin() -> Bool {
    guard let run else { return true }  // the run is over, and released
    if notice.kind == .timer, !run.state.withLock(\.isOver) { return false }  // real time must not order the moves
    var blockedLooks = 0  // in a row: at five the move counts as blocked
    while let move, run.state.withLock({ $0.move == move && !$0.isOver }), blockedLooks < 5 {
      blockedLooks = cfuturestesting_sleeps(move.thread) ? blockedLooks + 1 : 0
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(100))
    }
    // The work runs now, so it no longer waits for its group (`isDue`), and its thread shows whether it sleeps (`isAsleep`).
    let thread = cfuturestesting_thread_number()
    run.state.withLock { state in
      (self.thread, group) = (thread, nil)
      state.outside[ObjectIdentifier(self)] = self  // for `noteInterference`; work other than a timer is there already
    }
    return true
  }

  /// Called after the work: the run waits for it no longer.
  func end() {
    _ = run?.state.withLock { $0.outside.removeValue(forKey: ObjectIdentifier(self)) }
    run?.arrivals.signal()  // wakes the run, which can be waiting for this end as well as for new work
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// The move that runs now.
  struct Move: Equatable {
    let turn: Int
    let thread: Int32
  }

  /// Whether the runs control the main queue and the time, and see the work that leaves them: on Linux, with Dispatch as a shared
  /// library, and without a sanitizer.
  static let controlsDispatch = cfuturestesting_install(
    cfuturestesting_hooks { run, job in  // returns whether a run has taken the job
      let job = unsafeBitCast(job, to: UnownedJob.self)
      guard let run else { return enqueueFromOutside(job) }  // from a thread that executes no run
      Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue().submit(job)
      return true
    } submit: { run, isOnMain, nanoseconds, isJob, context in  // `context` is a job or a block
      let run = Unmanaged<OrderRun>.fromOpaque(run).takeUnretainedValue()
      let delay = Duration.nanoseconds(nanoseconds)
      if !isJob {
        // Safe: Dispatch moves a block to another thread, too.
        nonisolated(unsafe) let block = unsafeBitCast(context, to: (@convention(block) () -> Void).self)
        return run.enqueueOnMain({ block() }, after: delay)
      }
      let job = unsafeBitCast(context, to: UnownedJob.self)
      if delay > .zero { run.sleep(job, onMain: isOnMain, delay) } else { run.submit(job, onMain: isOnMain) }
    } leave: { run, origin, kind, label, group in
      // A thread that runs outside work, `origin`, executes no run: the new work counts for the run of `origin`.
      let origin = origin.map { Unmanaged<OutsideWork>.fromOpaque($0).takeUnretainedValue() }
      let current = run.map { Unmanaged<OrderRun>.fromOpaque($0).takeUnretainedValue() }
      guard let run = current ?? origin?.run, let kind = OutsideNotice.Kind(rawValue: kind) else { return nil }
      let work = run.noteOutsideWork(kind, queue: label.map { String(cString: $0) }, after: group)
      return work.map { Unmanaged.passRetained($0).toOpaque() }
    } begin: { work in
      Unmanaged<OutsideWork>.fromOpaque(work).takeUnretainedValue().begin()
    } end: { work in
      Unmanaged<OutsideWork>.fromOpaque(work).takeRetainedValue().end()  // releases the object of `leave`
    }
  )

  /// The kinds of work that the reports cannot see on this platform; `nil` if they see all work that leaves a run.
  static var unobserved: String? {
    if controlsDispatch { return nil }
    return """
      the main queue, `Task.sleep`, other Dispatch queues and threads are not observed on this platform or with this sanitizer
      """
  }

  /// Notes work that leaves the run, and returns an object that tracks the work; `nil` after the run, and for a repeated `sync`.
  func noteOutsideWork(
    _ kind: OutsideNotice.Kind,
    queue label: String?,
    after group: UnsafeMutableRawPointer? = nil
  ) -> OutsideWork? {
    let (isIgnored, move) = state.withLock { state in
      // Noted once, because code that uses a queue as a lock often calls `sync`.
      let isKnownCall = kind == .sync && state.left.contains { $0.kind == kind && $0.label == label }
      return (state.isOver || isKnownCall, isOnOwnThread ? state.move : nil)  // `nil`: other outside work submits it
    }
    if isIgnored { return nil }
    let notice = OutsideNotice(kind: kind, label: label, site: .current())
    let awaitedGroup = kind == .notification ? group : nil  // other work belongs to the group, and does not wait for it
    let work = OutsideWork(notice, of: self, during: move, after: awaitedGroup)
    state.withLock { state in
      if notice.isWaitedFor { state.outside[ObjectIdentifier(work)] = work }  // a timer fires only after the run
      if state.left.count < 20, !state.left.contains(notice) { state.left.append(notice) }  // 20: enough for a report
    }
    return work
  }

  /// Notes that the calling thread has interfered with the run, which then fails; only the first note counts.
  ///
  /// Called under the lock. The sentence is made later, because it can need the symbolizer.
  func noteInterference(_ predicate: String, _ state: inout State) {
    guard state.interference == nil else { return }
    let origin = state.outside.values.first { $0.thread == cfuturestesting_thread_number() }?.notice
    state.interference = {
      let subject = origin?.description ?? "Another thread"
      return "\(subject.prefix(1).uppercased())\(subject.dropFirst()) \(predicate)"
    }
  }

  var interferenceSentence: String? { state.withLock { $0.interference }?() }

  /// Waits until a thread has interfered, no work outside the run is due (`isDue`), or the watch's patience ends.
  func waitForOutside() {
    while state.withLock({ $0.interference == nil && $0.outside.values.contains(where: \.isDue) }), watch.allowsWait {
      let start = DispatchTime.now()
      let hasArrived = arrivals.wait(timeout: start + .milliseconds(10)) == .success
      let isAsleep = !hasArrived && state.withLock { $0.outside.values.allSatisfy { $0.isAsleep || !$0.isDue } }
      // Work that sleeps can sleep for ever. So 10 ms of its sleep count as 300, and a minute of patience ends in two seconds.
      watch.countWait(isAsleep ? 300_000_000 : DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds)
    }
  }

  /// The failure's sentence if the body waits for work outside the run; `nil` if no such work can come.
  var outsideWaitSentence: String? {
    let (left, isPending) = state.withLock { ($0.left, !$0.outside.isEmpty) }
    let notices = left.filter { $0.kind != .sync }  // a `sync` ends within its call
    let canCome = isPending || notices.contains { !$0.isWaitedFor }  // `outside` has only work that is waited for
    guard !notices.isEmpty, canCome else { return nil }
    let list = notices.map(\.description).shortList(separator: "; ")
    return "The body waits, and nothing of the run is left. Outside the run there is \(list)."
  }
}
