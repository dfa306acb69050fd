// Progress travels from a future to its derived futures, if a listener requested it. The first request links the state to the
// states whose progress it combines, and these to theirs. These are loops and not recursions, so a chain of any length
// takes no stack.
//
// One thread at a time notifies the listeners of a state. A report from another thread only updates the record. So the
// calls of one listener never overlap, and never go back to older progress. A report without listeners allocates nothing.

extension FutureState {
  /// The current progress, or the last one of a settled state.
  final var lastProgress: FutureProgress { underLock { lastProgressInLock } }

  /// As `lastProgress`, under the lock.
  final var lastProgressInLock: FutureProgress { progressRecord?.current ?? (hasSucceeded ? .finished : .none) }

  /// Returns the progress that `listener` has not got, and marks it as seen; `nil` if there is no such progress; under the lock.
  final func unseen(by listener: ProgressListener) -> FutureProgress? {
    guard let record = progressRecord, listener.seen != record.version else { return nil }
    listener.seen = record.version
    return record.current
  }
}

// MARK: - Reporting

extension FutureState {
  /// Changes the progress of a pending state, and notifies the listeners.
  /// - Parameters:
  ///   - record: The record of this state. A parameter, because looking it up took as long as the rest of a report.
  ///   - change: Changes the record, and returns whether the progress changed.
  /// - Returns: Whether the state still has a producer, so that reports have an effect.
  @inline(__always)
  final func changeProgress(_ record: ProgressRecord, _ change: (ProgressRecord) -> Bool) -> Bool {
    let (hasEffect, mustNotify) = underLock { () -> (Bool, Bool) in
      guard hasProducer else { return (false, false) }
      return (true, change(record) && record.beginNotifying())
    }
    if mustNotify { notifyListeners() }
    return hasEffect
  }

  /// Counts the progress of `child` as `share` of the whole; a `nil` child is a resolved future, and counts in full.
  final func addProgress(_ record: ProgressRecord, of child: FutureState?, share: Double) {
    var link: ProgressLink?
    _ = changeProgress(record) { record in
      let share = record.reserve(share)  // at most what the other parts have left
      guard let child else { return record.addEnded(share) }
      link = record.addLink(from: child, to: self, as: .part(share))
      return false  // the child reports when the link is connected
    }
    if let link { Self.connect([link]) }
  }

  /// Counts an input that has just started as one of `total` parts, if the progress was requested or reported.
  /// - Parameters:
  ///   - total: The number of all parts.
  ///   - source: The pending input; `nil` for an input that is already resolved.
  ///   - change: Adds the input to the `progressParts` of the producer. Runs under the lock, so that a record counts the input
  ///     exactly once, whether the record is made before or afterwards.
  @usableFromInline
  final func addProgressPart(of total: Int, _ source: FutureState? = nil, _ change: () -> Void) {
    var link: ProgressLink?
    let mustNotify = underLock {  // `beginProgress()` makes a record from the parts under the same lock
      change()
      guard isPending, let record = progressRecord else { return false }
      let share = ProgressPart(1 / Double(total))
      guard let source else { return record.addEnded(share) && record.beginNotifying() }
      link = record.addLink(from: source, to: self, as: .part(share))
      return false  // the source reports when the link is connected
    }
    if mustNotify { notifyListeners() }
    if let link { Self.connect([link]) }
  }

  /// Applies the `progress` that the source of `link` reports; called while that source notifies its listeners.
  /// - Returns: Whether the caller must notify the listeners of this state.
  private final func sourceReported(_ link: ProgressLink, _ progress: FutureProgress) -> Bool {
    changeRecord { $0.update(link, to: progress) }
  }

  /// Counts the source of `link` as ended, and first applies its `last` progress, if the caller has one.
  final func sourceEnded(_ link: ProgressLink, last: FutureProgress? = nil) {
    let mustNotify = changeRecord { record in
      // A success needs no update here: `unlink` counts a part in full, and a derived state reports its own success.
      let isChanged = if let last, !last.isFinished { record.update(link, to: last) } else { false }
      return record.unlink(link) || isChanged
    }
    if mustNotify { notifyListeners() }
  }

  /// Changes the progress of a pending state by that of a source, if the progress was requested or reported.
  /// - Parameter change: As in `changeProgress`. An orphan is pending, too, but has no links. So `change` leaves it as it is.
  /// - Returns: Whether the caller must notify the listeners.
  private final func changeRecord(_ change: (ProgressRecord) -> Bool) -> Bool {
    underLock {
      guard isPending, let record = progressRecord else { return false }
      return change(record) && record.beginNotifying()
    }
  }
}

// MARK: - Notifying

extension FutureState {
  /// Notifies the listeners, and then those of the states that contain this progress; called if `beginNotifying()` is `true`.
  private final func notifyListeners() { Trampoline.current.notifyListeners(of: self) }

  /// Notifies each listener once, and leaves newer progress, and the states that contain this progress, to a later round.
  final func notifyListenersOnce(in trampoline: Trampoline) {
    // There is a record, because its `beginNotifying()` has returned `true`. So the values after `??` are never used.
    let version = underLock { progressRecord?.beginRound() ?? 0 }
    while true {
      switch underLock({ progressRecord?.nextStep(inRoundOf: version) ?? .finish(deliversResult: false) }) {
      case .call(let call, let progress): call.run(progress)
      case .update(let link, let progress):
        if link.target.sourceReported(link, progress) { trampoline.notifyLater(link.target) }
      case .resume(let reader): reader.resume()
      case .repeatLater: return trampoline.notifyLater(self)
      case .finish(let deliversResult):  // `true`: the state settled, and this thread must deliver its result (R20)
        if deliversResult { deliver() }  // `in: trampoline` would queue the result behind other ready states
        return
      }
    }
  }
}

// MARK: - Linking

extension FutureState {
  /// Adds a listener to a pending state, whose progress the caller has requested, and notifies it of the current progress.
  /// - Returns: `false` if the state is settled, or the listener was withdrawn.
  final func addListener(_ listener: ProgressListener) -> Bool {
    var feed: (any ProgressFeed)?
    let (isAdded, mustNotify) = underLock { () -> (Bool, Bool) in
      guard isPending, let record = progressRecord, listener.currentStatus == .new else {
        return (false, false)
      }
      listener.enter(.listed)
      record.listeners.prepend(.passRetained(listener))  // the list begins with those that are not up to date
      feed = record.feed
      return (true, record.beginNotifying())
    }
    if mustNotify { notifyListeners() }
    feed?.beginReporting()  // for each new listener: the feed can stop reporting changes when the last one leaves
    return isAdded
  }

  /// Makes the record of a pending state, links it to its sources, and lets its feed, such as one of Foundation's, report once.
  final func requestProgress() {
    let (links, feed) = underLock { (beginProgress(), progressRecord?.feed) }
    Self.connect(links)
    feed?.read()
  }

  /// Links the progress, if it was requested, to the new source; called when a stage with that source has become the producer.
  final func relinkProgress() {
    var newLink: ProgressLink?
    var replaced: [ProgressLink] = []
    let mustNotify = underLock {
      guard let record = progressRecord, let link = linkToSource() else { return false }
      newLink = link
      let change = record.setSource(link)
      replaced = change.replaced
      return change.isChanged && record.beginNotifying()
    }
    for link in replaced { link.disconnect() }
    if mustNotify { notifyListeners() }
    if let newLink { Self.connect([newLink]) }  // the source then reports its progress
  }

  /// Adds each link to the listeners of its source, and links that source to its own sources, up the whole chain.
  private static func connect(_ links: [ProgressLink]) {
    var links = links
    while let link = links.popLast() {
      let source = link.source
      links += source.underLock { source.beginProgress() }
      // A source that does not take the link has settled. Or the link was disconnected, and then `sourceEnded` has no effect.
      if !source.addListener(link) { link.target.sourceEnded(link) }
    }
  }

  /// Returns a link to the source, if a stage resolves the state; under the lock.
  fileprivate final func linkToSource() -> ProgressLink? {
    guard let derivation else { return nil }
    return ProgressLink(from: derivation.source, to: self, as: .source(derivation.stage.place.regionOfSource))
  }

  /// Makes the progress record of a pending state, if there is none; under the lock, for the first report or request.
  /// - Returns: The links that the caller connects after unlocking.
  fileprivate final func beginProgress() -> [ProgressLink] {
    guard isPending, progressRecord == nil else { return [] }
    let record = makeProgressRecord()
    if let link = linkToSource() {
      _ = record.setSource(link)  // a new record has no links to replace
      return [link]
    }
    guard let parts = inputs?.progressParts else { return [] }
    let role: ProgressLink.Role
    switch parts.rule {
    case .furthest: role = .raceInput  // the highest fraction counts, as in a race: no sum of parts
    case .average:
      record.begin(parts)  // inputs that have ended count from the start; `parts.states` has the pending ones
      role = .part(ProgressPart(parts.share))
    }
    return parts.states.map { record.addLink(from: $0, to: self, as: role) }
  }
}

extension ProgressLink {
  /// Removes the link from the listeners of its source, and releases their reference to it; O(1).
  ///
  /// Called when the target has ended or has another source. A link that is not listed yet can no longer be added.
  func disconnect() { source.leave(self)?.reference?.release() }
}

// MARK: - Settling

extension FutureState {
  /// Whether the listeners of a settled state might not have got the last progress yet.
  @usableFromInline
  final var isNotifyingProgress: Bool { isDelivering && underLock { progressRecord != nil } }
}
