/// The progress of one state, and who listens to it; made when somebody reports or asks for the first time.
///
/// Everything here is under the lock of its state, but for what says otherwise. It calls nobody: the state does what comes
/// of it, outside the lock (`AnySharedState+Progress`).
///
/// A state whose progress comes from others (what it was derived from, children that were added) has a link to each of
/// them. A link is one of their listeners, so progress is pushed, and a state that nobody asks is never told.
final class ProgressRecord: @unchecked Sendable {
  // @unchecked: protected by the lock of the state.

  @exclusivity(unchecked) private(set) var current = FutureProgress.none

  /// Goes up with each change of `current`, from 1; a listener that has seen this has nothing to be told.
  @exclusivity(unchecked) private(set) var version: UInt64 = 1

  /// Who listens; those that have not seen `version` come first.
  @exclusivity(unchecked) var listeners = CallbackList()

  var firstListener: ProgressNode? {
    listeners.firstNode.map { unsafeDowncast($0, to: ProgressNode.self) }
  }

  /// The links to those whose progress makes this one.
  private(set) var links: [ObjectIdentifier: ProgressLink] = [:]

  /// What `promise.progress` is; it owns the state, so it is given up when that ends.
  var reporter: ProgressReporter?

  /// Where the progress of the promise is read, if it is kept elsewhere.
  var feed: (any ProgressFeed)?

  /// Whether a thread tells the listeners, or is about to; it tells them also what is reported meanwhile.
  @exclusivity(unchecked) var isDelivering = false

  /// Whether that thread may be calling one of them right now, so that who ends the state must leave the rest to it.
  ///
  /// Not while the state only waits for its turn: then its thread may be held up by a callback of another future.
  @exclusivity(unchecked) var isTelling = false

  /// Whether the state has ended while a thread was telling the listeners, which is to deliver the result afterwards (R20).
  @exclusivity(unchecked) var deliversResult = false

  /// What the promise itself has reported, as a part of what is not shared out.
  @exclusivity(unchecked) private var reported = 0.0

  /// How much of the whole is shared out to parts.
  @exclusivity(unchecked) private var shared = ProgressPart.nothing

  /// How much of the whole the parts have come to.
  @exclusivity(unchecked) private var done = ProgressPart.nothing

  /// How many parts have not ended, where the state is resolved as soon as they have, so that the last news is of no interest.
  private var awaitedParts: Int?

  private var isComposed: Bool { shared > .nothing }

  /// Changes `current`.
  /// - Returns: Whether the listeners are to be told.
  private func set(_ progress: FutureProgress) -> Bool {
    guard progress != current else { return false }
    current = progress
    version += 1
    return true
  }

  /// Goes on to `fraction`, which counts in no unit, unless that is behind.
  private func advance(to fraction: Double) -> Bool {
    let progress = FutureProgress(fraction: fraction)
    return progress.fractionCompleted > current.fractionCompleted && set(progress)
  }

  private func compose() -> Bool {
    advance(to: reported * (ProgressPart.whole - shared).fraction + done.fraction)
  }

  // MARK: The producer

  /// Notes what the promise reports.
  func report(_ progress: FutureProgress) -> Bool {
    reported = max(reported, progress.fractionCompleted)
    return isComposed ? compose() : set(current.advanced(to: progress))
  }

  /// Notes what the promise reports, without units.
  func report(fraction: Double) -> Bool {
    reported = max(reported, fraction.clampedToFraction)
    return isComposed ? compose() : advance(to: reported)
  }

  // MARK: Parts

  /// Makes room for a part of `share` of the whole, or of what is left.
  func reserve(_ share: Double) -> ProgressPart {
    let share = min(ProgressPart(share), .whole - shared)
    shared = shared + share
    return share
  }

  /// Notes a part that has come to an end, and was never linked.
  func addEnded(_ share: ProgressPart) -> Bool {
    done = done + share
    return !endsWithThis() && compose()
  }

  /// Notes the parts of a state that is made of several, of which some have come to an end.
  func begin(_ parts: ProgressParts) {
    shared = .whole
    done = ProgressPart(parts.done)
    awaitedParts = parts.awaited
    _ = compose()
  }

  /// Notes that one more part has ended.
  /// - Returns: Whether that ends the state, too.
  private func endsWithThis() -> Bool {
    guard let awaited = awaitedParts else { return false }
    awaitedParts = awaited - 1
    return awaited == 1
  }

  func add(_ link: ProgressLink) { links[ObjectIdentifier(link)] = link }

  /// Replaces the link to what the state is derived from.
  /// - Returns: The link before it, and whether the listeners are to be told.
  func setSource(_ link: ProgressLink) -> (replaced: [ProgressLink], isChanged: Bool) {
    let replaced = takeLinks()
    add(link)
    reported = 0  // from here on that one says how far it has come
    guard case .source(let region) = link.role else { return (replaced, false) }
    return (replaced, advance(to: region.offset))
  }

  /// Notes what one of those that make this progress has come to.
  func update(_ link: ProgressLink, to progress: FutureProgress) -> Bool {
    guard links[ObjectIdentifier(link)] != nil else { return false }
    switch link.role {
    case .source(let region) where region.isWhole:
      if progress.fractionCompleted > current.fractionCompleted { return set(progress) }
      return progress.fractionCompleted == current.fractionCompleted && set(current.advanced(to: progress))
    case .source(let region): return advance(to: region.offset + region.width * progress.fractionCompleted)
    case .rival: return advance(to: progress.fractionCompleted)
    case .part(let share):
      let part = share * progress.fractionCompleted
      guard part > link.counted else { return false }
      done = done + part - link.counted
      link.counted = part
      return compose()
    }
  }

  /// Notes that one of those that make this progress has ended.
  ///
  /// A part counts in full, however it has ended. A source says nothing: what is derived from it ends, too, or goes on with
  /// another.
  func end(_ link: ProgressLink) -> Bool {
    guard links.removeValue(forKey: ObjectIdentifier(link)) != nil, case .part(let share) = link.role else {
      return false
    }
    done = done + share - link.counted
    return !endsWithThis() && compose()
  }

  func takeLinks() -> [ProgressLink] {
    defer { links = [:] }
    return Array(links.values)
  }

  /// Notes that the future has succeeded.
  func succeed() { _ = set(current.succeeded) }
}
