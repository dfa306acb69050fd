internal import CFuturesTesting
internal import Dispatch
internal import Futures

// Work that leaves the run and runs in real time. The search cannot choose its order, so the run waits for the work
// after each move. If the work enters the run again, the run fails. Otherwise the report names the work.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun {
  /// The move, or the part of a move, that runs now.
  struct Move: Equatable {
    let number: Int
    let thread: Int32
  }

  /// Something that entered the run from another thread.
  struct Interference {
    /// A sentence without its subject, for example “has resumed a task of the test.”.
    let predicate: String

    /// The work that entered the run; `nil` if it is not known.
    let origin: OutsideWork?

    func sentence(after left: [OutsideWork]) -> String {
      if let origin { return "\(origin.description.capitalized) \(predicate)" }
      let known =
        left.isEmpty ? "" : " Before, this work left the run: \(left.map(\.description).shortList(separator: "; "))."
      return "Another thread \(predicate)\(known)"
    }
  }

  /// Whether work that leaves a run is seen: on Linux, with Dispatch as a shared library, without a sanitizer.
  static let observesOutside = cfuturestesting_observe_outside { run, origin, kind, label, group in
    let origin = origin.map { Unmanaged<OutsideWork>.fromOpaque($0).takeUnretainedValue() }
    let current = run.map { Unmanaged<OrderRun>.fromOpaque($0).takeUnretainedValue() }
    guard let run = current ?? origin?.run, let kind = OutsideWork.Kind(rawValue: kind) else { return nil }
    guard let work = run.leave(kind, queue: label.map { String(cString: $0) }, after: group) else { return nil }
    return Unmanaged.passRetained(work).toOpaque()
  } _: { work in
    let work = Unmanaged<OutsideWork>.fromOpaque(work).takeUnretainedValue()
    if let move = work.move { work.run?.waitForEnd(ofMove: move) }
    work.run?.begin(work)
  } _: { work in
    Unmanaged<OutsideWork>.fromOpaque(work).takeUnretainedValue().run?.state.withLock(\.isOver) ?? true
  } _: { work in
    let work = Unmanaged<OutsideWork>.fromOpaque(work).takeRetainedValue()
    work.run?.end(work)
  }

  /// The kinds of work that the reports cannot see on this platform; `nil` if they see all work that leaves a run.
  static let unobserved: String? = {
    if observesOutside, controlsMain { return nil }
    return """
      the main queue, `Task.sleep`, other Dispatch queues and threads are not observed on this platform or with this sanitizer
      """
  }()

  private func leave(
    _ kind: OutsideWork.Kind,
    queue label: String?,
    after group: UnsafeMutableRawPointer?
  ) -> OutsideWork? {
    if state.withLock(\.isOver) { return nil }
    let work = OutsideWork(
      kind,
      queue: label,
      site: .current(),
      of: self,
      during: isOnThreadOfMoves ? state.withLock(\.move) : nil
    )
    state.withLock { state in
      if let group { state.notifications[ObjectIdentifier(work)] = group }
      if work.isWaitedFor, group == nil { state.outstanding += 1 }
      if state.left.count < 20 { state.left.append(work) }
    }
    return work
  }

  /// Waits until the move that submitted work has returned, so that the work always comes after it.
  ///
  /// Also stops waiting when the move itself blocks, because the move can wait for that work.
  private func waitForEnd(ofMove move: OrderRun.Move) {
    var waits = 0
    for _ in 0..<Int.max {
      guard state.withLock({ $0.move == move && !$0.isOver }), waits < 10 else { return }
      waits = cfuturestesting_sleeping(move.thread) >= 0 ? waits + 1 : 0
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .microseconds(200))
    }
  }

  private func begin(_ work: OutsideWork) {
    let thread = cfuturestesting_thread_number()
    state.withLock { state in
      state.outsideThreads[ObjectIdentifier(work)] = thread
      if state.notifications.removeValue(forKey: ObjectIdentifier(work)) != nil { state.outstanding += 1 }
    }
  }

  private func end(_ work: OutsideWork) {
    state.withLock { state in
      if work.isWaitedFor { state.outstanding -= 1 }
      state.outsideThreads[ObjectIdentifier(work)] = nil
    }
    signalArrival()
  }

  /// Keeps the interference of another thread, if it is the first one.
  ///
  /// Called under the lock.
  func interfere(_ predicate: @autoclosure () -> String, _ state: inout State) {
    guard state.interference == nil else { return }
    let origin = cfuturestesting_origin().map { Unmanaged<OutsideWork>.fromOpaque($0).takeUnretainedValue() }
    state.interference = Interference(predicate: predicate(), origin: origin)
  }

  /// Waits until the work that has left the run has ended, or has entered the run.
  func waitForOutside() {
    var probes: [DispatchSemaphore]?
    var start = DispatchTime.now()
    while state.withLock({ $0.outsideCount > 0 && $0.interference == nil }), watch?.watch.isCancelled != true,
      outsidePatience.allowsWait()
    {
      guard arrivals.wait(timeout: .now() + .milliseconds(10)) == .timedOut else {
        // Work that always submits more work arrives for ever.
        outsidePatience.spend(since: &start)
        continue
      }
      probes = (probes ?? submitProbes()).filter { $0.wait(timeout: .now()) == .timedOut }
      let (threads, count) = state.withLock { (Array($0.outsideThreads.values), $0.outsideCount) }
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
    let left = state.withLock(\.left).filter(\.canComeLater)
    let isAwaited = state.withLock { $0.outstanding > 0 || !$0.notifications.isEmpty }
    guard !left.isEmpty, isAwaited || left.contains(where: { !$0.isWaitedFor }) else { return nil }
    let list = left.map(\.description).shortList(separator: "; ")
    return "The body waits, and nothing of the run is left. Outside the run there is \(list)."
  }
}

extension String {
  /// With a capital letter at the beginning.
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension OrderRun.State {
  /// The number of pieces of outside work that will end soon.
  ///
  /// A notification counts from the end of its group.
  fileprivate var outsideCount: Int { outstanding + notifications.values.count(where: cfuturestesting_is_empty) }
}
