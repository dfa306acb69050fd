internal import Synchronization

// What progress that is kept elsewhere, in Foundation's `Progress`, needs to come here and to go there.

/// Where the progress of a promise is read, if it is kept elsewhere.
///
/// The record of the progress owns it until the state has ended, so it must not own the reporter. Called from any thread, never
/// under a lock.
package protocol ProgressFeed: AnyObject, Sendable {
  /// Reports what is new, since somebody asks.
  func read()

  /// Reports what is new, and from now on what will be, as long as somebody listens.
  func beginReporting()

  /// Lets go of what it reads, since the state has ended, or has got another feed.
  func end()

  /// Whether the work can be told to pause.
  var isPausable: Bool { get }

  /// Tells the work to pause.
  func pause()

  /// Tells the work to go on.
  func resume()
}

extension ProgressReporter {
  /// Whether anybody is told what is reported.
  package var hasListeners: Bool {
    guard let record else { return false }
    return state.lock.withLock { !record.listeners.isEmpty }
  }

  /// The token that is cancelled when the future is.
  package var cancellationToken: CancellationToken { state.cancellationToken }

  /// Has `feed` report until the future ends, instead of the one before; it is ended at once if the future has.
  package func follow(_ feed: any ProgressFeed) {
    let (replaced, hasListeners) = state.lock.withLock { () -> ((any ProgressFeed)?, Bool) in
      guard let record, state.phase.load(ordering: .relaxed) <= .following else { return (feed, false) }
      defer { record.feed = feed }
      return (record.feed, !record.listeners.isEmpty)
    }
    replaced?.end()
    guard replaced !== feed else { return }
    if hasListeners { feed.beginReporting() } else { feed.read() }
  }
}

extension Future {
  /// The feeds that the progress comes from, as far as it has been asked for, by way of all that it is made of.
  ///
  /// O(number of futures); no stack.
  package var progressFeeds: [any ProgressFeed] {
    guard case .shared(let state) = storage else { return [] }
    return state.progressFeeds
  }

  /// How the future has ended; `nil` while it may still end in another way.
  ///
  /// Cancelled is what was, or failed with an error that says so. A future that is broken for ever has failed.
  package var ending: FutureEnding? {
    switch storage {
    case .succeeded: return .success
    case .failed(let error): return Cancelled.isSaid(by: error) ? .cancellation : .failure
    case .shared(let state):
      let state = state.typedRoot
      switch state.result {
      case .success?: return .success
      case .failure(let error)? where Cancelled.isSaid(by: error): return .cancellation
      case nil where state.breakReason == nil: return nil
      case .failure?, nil: return state.wasCancelled ? .cancellation : .failure
      }
    }
  }
}

/// How a future has ended, for somebody who does not look at the result.
package enum FutureEnding: Sendable { case success, failure, cancellation }

extension Cancelled {
  /// Whether `error` says that the work was cancelled.
  fileprivate static func isSaid(by error: Failure) -> Bool {
    error is CancellationError || (error as? any CancellableFailure)?.isCancelled ?? false
  }
}

extension CancellableFailure {
  /// Whether this equals `.cancelled`; what cannot be compared does not.
  fileprivate var isCancelled: Bool {
    func equals<Other: Equatable>(_ other: Other) -> Bool { self as? Other == other }
    // By `Any`: where Foundation can be seen, the compiler thinks of each error as an `NSError`, which can be compared.
    let cancelled: Any = Self.cancelled
    guard let cancelled = cancelled as? any Equatable else { return false }
    return equals(cancelled)
  }
}

extension AnySharedState {
  /// The feeds of this state, and of those whose progress makes its own.
  fileprivate final var progressFeeds: [any ProgressFeed] {
    var feeds: [any ProgressFeed] = []
    var states = [self]
    var seen: Set<ObjectIdentifier> = []
    while let state = states.popLast()?.root {
      guard seen.insert(ObjectIdentifier(state)).inserted else { continue }
      state.lock.withLock {
        guard let record = state.progressRecord else { return }
        if let feed = record.feed { feeds.append(feed) }
        for link in record.links.values { states.append(link.source) }
      }
    }
    return feeds
  }
}
