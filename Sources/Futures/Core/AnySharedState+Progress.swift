public import Synchronization

// Progress goes with the current, from a future to what was derived from it, but only where somebody has asked for it: the
// first listener links the state to those whose progress makes its own, and those to theirs. All of it is loops and not
// recursions, so chains of any length take no stack.
//
// One thread at a time tells the listeners of a state; who reports meanwhile only leaves the news. So a listener is never
// called twice at the same time, never sees an older state after a newer one, and a reporter that nobody listens to
// allocates nothing.

extension AnySharedState {
  /// The record of the progress, if there is one.
  ///
  /// Under the lock.
  final var progressRecord: ProgressRecord? {
    if case .record(let record) = details { record.progress } else { nil }
  }

  /// What the progress is, or was when the state ended.
  ///
  /// Under the lock.
  final var lastProgress: FutureProgress {
    progressRecord?.current ?? (hasSucceeded ? .finished : .none)
  }

  /// The progress, if `node` has not been told of it.
  ///
  /// Under the lock.
  final func unseenProgress(of node: ProgressNode) -> FutureProgress? {
    guard let record = progressRecord, node.seen != record.version else { return nil }
    node.seen = record.version
    return record.current
  }
}

// MARK: - Reporting

extension AnySharedState {
  /// Changes the progress of an unresolved state, and sees to it that the listeners hear of it.
  /// - Parameters:
  ///   - record: The record of this state, which the caller has, since looking it up took as long as all the rest.
  ///   - change: Answers whether there is news.
  /// - Returns: Whether the state is unresolved.
  @inline(__always)
  final func changeProgress(_ record: ProgressRecord, _ change: (ProgressRecord) -> Bool) -> Bool {
    let (isUnresolved, isOurs) = lock.withLock { () -> (Bool, Bool) in
      guard phase.load(ordering: .relaxed) <= .following else { return (false, false) }
      return (true, change(record) && record.beginDelivering())
    }
    if isOurs { tellListeners() }
    return isUnresolved
  }

  /// Has `child` count for `share` of the progress of this state.
  final func addProgress(_ record: ProgressRecord, of child: AnySharedState?, share: Double) {
    var link: ProgressLink?
    _ = changeProgress(record) { record in
      let share = record.reserve(share)
      guard let child else { return record.addEnded(share) }
      link = record.link(to: child, from: self, as: .part(share))
      return false
    }
    if let link { Self.connect([link]) }
  }

  /// Has `source`, or what has ended already, count for one of `total` parts, from the time of `change`, which makes it one
  /// of `progressParts`.
  @usableFromInline
  final func addProgressPart(of total: Int, _ source: AnySharedState? = nil, _ change: () -> Void) {
    var link: ProgressLink?
    let isOurs = lock.withLock {
      change()
      guard phase.load(ordering: .relaxed) <= .orphaned, let record = progressRecord else { return false }
      let share = ProgressPart(1 / Double(total))
      guard let source else { return record.addEnded(share) && record.beginDelivering() }
      link = record.link(to: source, from: self, as: .part(share))
      return false
    }
    if isOurs { tellListeners() }
    if let link { Self.connect([link]) }
  }

  /// Takes note of the progress of a source, or a part.
  /// - Returns: Whether the caller is to tell the listeners of this state.
  private final func sourceReported(_ link: ProgressLink, _ progress: FutureProgress) -> Bool {
    lock.withLock {
      guard phase.load(ordering: .relaxed) <= .orphaned, let record = progressRecord else { return false }
      return record.update(link, to: progress) && record.beginDelivering()
    }
  }

  /// Takes note of the end of a source, or a part, and of what it had come to, if that is news.
  final func sourceEnded(_ link: ProgressLink, last: FutureProgress? = nil) {
    let isOurs = lock.withLock {
      guard phase.load(ordering: .relaxed) <= .orphaned, let record = progressRecord else { return false }
      // Success is no news: what is derived from the source says so itself.
      let isNews = if let last, !last.isFinished { record.update(link, to: last) } else { false }
      return (record.end(link) || isNews) && record.beginDelivering()
    }
    if isOurs { tellListeners() }
  }
}

extension ProgressRecord {
  /// Whether the caller is to tell the listeners, since there are any, and nobody does.
  ///
  /// Under the lock.
  fileprivate func beginDelivering() -> Bool {
    guard !listeners.isEmpty, !isDelivering else { return false }
    isDelivering = true
    return true
  }
}

// MARK: - Telling

extension AnySharedState {
  /// Tells all listeners what is new, before the caller returns.
  ///
  /// Only after `beginDelivering()` answered `true`.
  private final func tellListeners() {
    DeliveryLoop.current.tellListeners(of: self)
  }

  /// Tells each listener once; those of the states whose progress is made of this one come after.
  final func tellListenersOnce(in loop: DeliveryLoop) {
    let version = lock.withLock { () -> UInt64 in
      guard let record = progressRecord else { return 0 }
      record.isTelling = true
      return record.version
    }
    while true {
      switch nextProgressStep(version) {
      case .call(let call, let progress): call.run(progress)
      case .update(let link, let progress):
        if link.target.sourceReported(link, progress) { loop.tellLater(link.target) }
      case .resume(let reader): reader.resume()
      case .repeatLater: return loop.tellLater(self)
      case .finish(let deliversResult):
        if deliversResult { deliver(in: nil) }
        return
      }
    }
  }

  /// The next step of a round that began at `version`.
  private final func nextProgressStep(_ version: UInt64) -> ProgressStep {
    lock.withLock {
      guard let record = progressRecord else { return .finish(deliversResult: false) }
      // Those that have not been told come first. After the end the listeners are where the callbacks are.
      guard let listener = record.firstListener, listener.seen != record.version else {
        record.isDelivering = false
        record.isTelling = false
        return .finish(deliversResult: record.deliversResult)
      }
      guard listener.seen < version else {
        record.isTelling = false
        return .repeatLater
      }
      listener.seen = record.version
      return listener.takeStep(in: record)
    }
  }
}

// MARK: - Linking

extension AnySharedState {
  /// Adds a listener, which is told the present state at once.
  /// - Returns: Whether it was added; not if the state has ended.
  final func addListener(_ node: ProgressNode) -> Bool {
    let (isAdded, isOurs, feed) = lock.withLock { () -> (Bool, Bool, (any ProgressFeed)?) in
      guard phase.load(ordering: .relaxed) <= .orphaned, let record = progressRecord,
        node.status.load(ordering: .relaxed) == .new
      else { return (false, false, nil) }
      node.status.store(.listed, ordering: .relaxed)
      record.listeners.prepend(node)
      return (true, record.beginDelivering(), record.feed)
    }
    if isOurs { tellListeners() }
    feed?.beginReporting()
    return isAdded
  }

  /// Makes the record of the progress, unless there is one, and links it to those whose progress makes its own.
  final func followProgress() {
    let (links, feed) = lock.withLock { (beginProgress(), progressRecord?.feed) }
    Self.connect(links)
    feed?.read()
  }

  /// Links the progress, if anybody listens, to the producer that the state has got.
  final func relinkProgress() {
    let (link, replaced, isOurs) = lock.withLock { () -> (ProgressLink?, [ProgressLink], Bool) in
      guard phase.load(ordering: .relaxed) <= .following, let record = progressRecord, let link = linkToSource() else {
        return (nil, [], false)
      }
      let (replaced, isChanged) = record.setSource(link)
      return (link, replaced, isChanged && record.beginDelivering())
    }
    for link in replaced { link.disconnect() }
    if isOurs { tellListeners() }
    if let link { Self.connect([link]) }
  }

  /// A link to what the state is derived from, if it is.
  ///
  /// Under the lock.
  private final func linkToSource() -> ProgressLink? {
    // Both are alive now, as `StateDetails.stage` says; the link keeps the source.
    guard case .stage(let stage) = producer else { return nil }
    return stage._withUnsafeGuaranteedRef { stage in
      guard let source = stage.source?.takeUnretainedValue() else { return nil }
      let part = ProgressRegion(offset: 0, width: stage.progressShare)
      return ProgressLink(from: source, to: self, as: .source(stage.region.of(part)))
    }
  }

  /// Makes the record, unless there is one or the state has ended.
  ///
  /// Under the lock.
  /// - Returns: The links that are to be connected, outside the lock.
  private final func beginProgress() -> [ProgressLink] {
    guard phase.load(ordering: .relaxed) <= .orphaned, progressRecord == nil else { return [] }
    let progress = ProgressRecord()
    record.progress = progress
    if let link = linkToSource() {
      _ = progress.setSource(link)
      return [link]
    }
    guard case .inputs(let holder) = producer else { return [] }
    let parts = holder.progressParts
    let role: ProgressLink.Role
    switch parts.rule {
    case .passedThrough: role = .source(.whole)
    case .furthest: role = .rival
    case .average:
      progress.begin(parts)
      role = .part(ProgressPart(parts.share))
    }
    return parts.states.map { progress.link(to: $0, from: self, as: role) }
  }

  /// Has the links told by their sources, which get records, too, and links to theirs, and so on.
  private static func connect(_ links: [ProgressLink]) {
    var links = links
    while let link = links.popLast() {
      let source = link.source.root
      links += source.lock.withLock { source.beginProgress() }
      // One that has ended by now counts as such; one that was withdrawn is not known to its target any more.
      if !source.addListener(link) { link.target.sourceEnded(link) }
    }
  }
}

extension ProgressRecord {
  fileprivate func link(to source: AnySharedState, from target: AnySharedState, as role: ProgressLink.Role)
    -> ProgressLink
  {
    let link = ProgressLink(from: source, to: target, as: role)
    add(link)
    return link
  }
}

extension ProgressLink {
  /// Gives up the link, since its target has ended, or has another source.
  ///
  /// O(1).
  func disconnect() {
    let source = source.root
    if !source.withdraw(self) { _ = source.lock.withLock { source.unlist(self) } }
  }
}

/// What several futures make of their progress.
@usableFromInline
enum ProgressRule {
  case average
  /// One decides, so the whole is as far as the furthest.
  case furthest
  /// There is only one.
  case passedThrough
}

/// The progress of a state that several inputs make.
struct ProgressParts {
  var rule = ProgressRule.average
  /// The inputs that have not come.
  var states: [AnySharedState] = []
  /// What each of them counts for.
  var share = 0.0
  /// What the others have come to.
  var done = 0.0
  /// How many have not come, those included that have not been started.
  var awaited = 0
}

// MARK: - Ending

extension AnySharedState {
  /// Whether those who listen may not have been told the last state yet.
  @inlinable
  final var isTellingProgress: Bool {
    // Relaxed: whoever sees a later phase goes on with the result, which is read by itself.
    let phase = phase.load(ordering: .relaxed)
    return (phase == .delivering || phase == .closing) && hasProgress
  }

  @usableFromInline
  final var hasProgress: Bool { lock.withLock { progressRecord != nil } }
}

extension AnySharedState {
  /// Ends the progress: the listeners are told the last state before the callbacks run, and this is what puts them there.
  ///
  /// Under the lock.
  /// - Returns: Whether a thread is telling them right now, which then delivers the result, too.
  @usableFromInline
  final func endProgress(isSuccess: Bool) -> Bool {
    guard let record = progressRecord else { return false }
    if isSuccess { record.succeed() }
    record.listeners.append(&consumers)
    swap(&record.listeners, &consumers)
    record.deliversResult = record.isTelling
    return record.isTelling
  }
}
