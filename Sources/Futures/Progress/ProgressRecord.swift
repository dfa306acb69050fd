/// The progress of one state, and its listeners; made by the first report or request.
///
/// The lock of the state protects it. It calls no other object: the state does that after unlocking
/// (`FutureState+Progress`). Progress is pushed: the record has a link to each state whose progress it combines. A link is a
/// listener of that state. A state whose progress was never requested has no record, and gets no updates.
///
/// The core uses only these members. The last two run without the lock.
///
/// | member | use |
/// |---|---|
/// | `FutureState.progressRecord` | `nil` if the progress was never requested |
/// | `remove(_:)` | removes a listener from a pending state |
/// | `end(isSuccess:before:)` | ends the progress of a settled or released state: the listeners move before its consumers |
/// | `detach(_:)` | removes the links, and the other objects that a cancelled, orphaned or settled state no longer needs |
/// | `Detached.release()` | releases them |
/// | `FutureState.relinkProgress()` | takes the progress from the new producer of the state |
///
/// A stage also has a `place` in the progress, and several inputs have `progressParts`.
///
/// In return the progress reads the state under its lock. Without the lock it uses `start`, `leave` and `deliver(in:)`.
final class ProgressRecord: @unchecked Sendable {
  // @unchecked: the lock of the state protects it.

  /// The latest progress.
  @exclusivity(unchecked) private(set) var current = FutureProgress.none

  /// The number of changes of `current`, plus 1; a listener with the same `seen` is up to date.
  @exclusivity(unchecked) private(set) var version: UInt64 = 1

  /// The listeners; the listeners that are not up to date come first.
  @exclusivity(unchecked) var listeners = ConsumerList()

  /// The links to the states whose progress makes this one; each link has its index here.
  private(set) var links: [ProgressLink] = []

  /// The value of `promise.progress`, which owns the state; `detach` breaks the cycle.
  var reporter: ProgressReporter?

  /// The progress object elsewhere that supplies the progress of the promise.
  var feed: (any ProgressFeed)?

  /// Whether a thread notifies the listeners, or is about to; it also notifies them of later reports.
  @exclusivity(unchecked) private var hasNotifier = false

  /// Whether that thread can be in the callback of a listener; if so, it also delivers the result.
  ///
  /// `false` while the state waits in the thread's queue, because a callback of another future can hold up the thread.
  @exclusivity(unchecked) private var isCallingListeners = false

  /// Whether the state settled during a round, so that the notifying thread delivers the result (R20).
  @exclusivity(unchecked) private var deliversResult = false

  /// The fraction that the promise itself has reported, of the share that no part has.
  @exclusivity(unchecked) private var reported = 0.0

  /// The sum of the shares of all parts.
  @exclusivity(unchecked) private var shared = ProgressPart.nothing

  /// The completed amount of all parts.
  @exclusivity(unchecked) private var done = ProgressPart.nothing

  /// The number of parts that have not ended, if the last one to end settles the state; `nil` for a promise.
  private var awaitedParts: Int?

  /// Whether the progress is the sum of parts and of the promise's own reports.
  private var isComposed: Bool { shared > .nothing }

  /// Sets `current`, and returns whether it changed.
  private func set(_ progress: FutureProgress) -> Bool {
    guard progress != current else { return false }
    current = progress
    version += 1
    return true
  }

  /// Advances to `fraction` without units, unless `current` has reached it; returns whether it advanced.
  private func advance(to fraction: Double) -> Bool {
    let progress = FutureProgress(fraction: fraction)
    return progress.fractionCompleted > current.fractionCompleted && set(progress)
  }

  /// Advances to what the parts have done, plus the promise's own reports, scaled to the share that no part has reserved.
  private func compose() -> Bool {
    advance(to: reported * (ProgressPart.whole - shared).fraction + done.fraction)
  }

  // MARK: - The state

  /// Ends the progress, and moves the listeners before `consumers`: the last progress comes before the result (R20).
  /// - Returns: Whether a thread is notifying the listeners now. That thread then delivers the result, too.
  func end(isSuccess: Bool, before consumers: inout ConsumerList) -> Bool {
    if isSuccess { _ = set(current.succeeded) }
    listeners.append(&consumers)
    swap(&listeners, &consumers)  // afterwards `listeners` is empty
    deliversResult = isCallingListeners
    return isCallingListeners
  }

  /// The reason why a state no longer needs objects of its record.
  enum Detachment {
    /// It is cancelled. Its sources must not count as done when they are cancelled, too. Its reporter can still report.
    case cancelled
    /// It has no producer. A cancellation can still resolve it.
    case orphaned
    case settled
  }

  /// The removed objects of a record, for the caller to release after unlocking.
  struct Detached {
    fileprivate let links: [ProgressLink]
    fileprivate let reporter: ProgressReporter?
    fileprivate let feed: (any ProgressFeed)?

    /// Disconnects the links, and ends the feed.
    consuming func release() {
      for link in links { link.disconnect() }
      feed?.end()
    }
  }

  /// Removes what the state no longer needs.
  ///
  /// The links always go. The feed stays until the state settles, and passes a cancellation on to the object that it reads.
  func detach(_ reason: Detachment) -> Detached {
    Detached(
      links: takeLinks(),
      reporter: reason == .cancelled ? nil : reporter.take(),
      feed: reason == .settled ? feed.take() : nil
    )
  }

  private func takeLinks() -> [ProgressLink] {
    defer { links = [] }
    return links
  }

  // MARK: - The listeners

  /// Begins to notify the listeners, if there are some and no other thread notifies them; returns whether the caller must do so.
  func beginNotifying() -> Bool {
    guard !listeners.isEmpty, !hasNotifier else { return false }
    hasNotifier = true
    return true
  }

  /// Begins a round, in which each listener gets the progress once.
  /// - Returns: The present version of the progress, for `nextStep(inRoundOf:)`.
  func beginRound() -> UInt64 {
    isCallingListeners = true  // this thread calls the listeners next
    return version
  }

  private var firstListener: ProgressListener? {
    (listeners.first?.takeUnretainedValue()).map { unsafeDowncast($0, to: ProgressListener.self) }
  }

  /// Returns the next step of the round that began at `startVersion`.
  func nextStep(inRoundOf startVersion: UInt64) -> ProgressStep {
    // No listener is left (after `end`, for example), or all have the newest progress, because the first is the least up to date.
    guard let listener = firstListener, listener.seen != version else {
      hasNotifier = false
      isCallingListeners = false
      return .finish(deliversResult: deliversResult)
    }
    // All have the progress from the round's start, but it has changed since. A later round follows, after other ready states.
    guard listener.seen < startVersion else {
      isCallingListeners = false  // a result that comes before the later round does not wait for it
      return .repeatLater
    }
    listener.seen = version
    return listener.takeStep(in: self)  // moves the listener to the end, or removes it
  }

  // MARK: - The promise

  // All functions below whose result is a `Bool` return whether the progress changed, unless they say otherwise.

  /// Applies a report of the promise, without its units (completed, total) if parts have a share of the progress.
  func report(_ progress: FutureProgress) -> Bool {
    reported = max(reported, progress.fractionCompleted)
    return isComposed ? compose() : set(current.advanced(to: progress))
  }

  /// Applies a report of the promise without units.
  func report(fraction: Double) -> Bool {
    reported = max(reported, fraction.clampedToFraction)
    return isComposed ? compose() : advance(to: reported)
  }

  // MARK: - The parts

  /// Reserves `share` of the whole for a part, but no more than the other parts have left.
  func reserve(_ share: Double) -> ProgressPart {
    let share = min(ProgressPart(share), .whole - shared)
    shared = shared + share
    return share
  }

  /// Counts a part that had ended before it could get a link; returns whether listeners must be notified of the progress.
  func addEnded(_ share: ProgressPart) -> Bool {
    done = done + share
    return countEndedPart()
  }

  /// Sets the parts of a new record, whose state has several inputs; some of them can have ended.
  func begin(_ parts: ProgressParts) {
    shared = .whole  // the inputs share the whole
    done = ProgressPart(parts.done)
    awaitedParts = parts.awaited
    _ = compose()  // no listener to notify yet
  }

  /// Counts one more ended part, whose share is in `done` by now, and composes the progress again.
  private func countEndedPart() -> Bool {
    awaitedParts? -= 1  // `nil` for a promise, because the end of all parts does not settle its state
    return awaitedParts != 0 && compose()  // the last part settles the state, whose progress then needs no update
  }

  /// Adds and returns a link that brings the progress of `source` to `target`; the caller connects it after unlocking.
  func addLink(from source: FutureState, to target: FutureState, as role: ProgressLink.Role) -> ProgressLink {
    let link = ProgressLink(from: source, to: target, as: role)
    add(link)
    return link
  }

  private func add(_ link: ProgressLink) {
    link.index = links.count
    links.append(link)
  }

  /// Whether this record still has `link`; a link that it has replaced or removed keeps its old index.
  private func has(_ link: ProgressLink) -> Bool { links.indices.contains(link.index) && links[link.index] === link }

  /// Removes a link: the last link takes its index.
  private func remove(_ link: ProgressLink) {
    let last = links.removeLast()
    guard last !== link else { return }
    links[link.index] = last
    last.index = link.index
  }

  /// Replaces all links by `link`, which leads to the new source of a stage.
  /// - Returns: The replaced links, and whether the progress changed.
  func setSource(_ link: ProgressLink) -> (replaced: [ProgressLink], isChanged: Bool) {
    let replaced = takeLinks()
    add(link)
    guard case .source(let region) = link.role else { return (replaced, false) }  // never: `link` leads to a source
    // The region begins where the earlier sources have ended, so the part before it is complete.
    return (replaced, advance(to: region.offset))
  }

  /// Applies the progress of the source of a link; returns whether the progress changed.
  func update(_ link: ProgressLink, to progress: FutureProgress) -> Bool {
    guard has(link) else { return false }  // replaced or removed meanwhile
    switch link.role {
    // A source that fills the whole progress also passes on its units. They can rise or get a new total while the fraction stays.
    case .source(let region) where region.isWhole:
      if progress.fractionCompleted > current.fractionCompleted { return set(progress) }
      return progress.fractionCompleted == current.fractionCompleted && set(current.advanced(to: progress))
    case .source(let region): return advance(to: region.offset + region.width * progress.fractionCompleted)
    case .raceInput: return advance(to: progress.fractionCompleted)
    case .part(let share):
      let part = share * progress.fractionCompleted
      guard part > link.counted else { return false }
      done = done + part - link.counted
      link.counted = part
      return compose()
    }
  }

  /// Removes the link to a state that has ended.
  ///
  /// A part counts in full, whether it succeeded, failed or was cancelled. The end of a source or a race's input changes nothing:
  /// the derived state ends, too, or has other inputs.
  /// - Returns: Whether the progress changed.
  func unlink(_ link: ProgressLink) -> Bool {
    guard has(link) else { return false }  // removed or replaced meanwhile
    remove(link)
    guard case .part(let share) = link.role else { return false }
    done = done + share - link.counted
    return countEndedPart()
  }
}
