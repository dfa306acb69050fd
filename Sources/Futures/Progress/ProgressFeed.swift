// The connection between a future's progress and a progress object elsewhere, such as Foundation's `Progress`.

/// Reads the progress of a promise from another object.
///
/// The progress record owns the feed until the state has ended. So the feed must not own the reporter. Any thread calls
/// it, never under a lock.
package protocol ProgressFeed: AnyObject, Sendable {
  /// Reads the object, and reports its progress once; called by `requestProgress()`, and by `follow(_:)` without listeners.
  func read()

  /// Reports the latest progress, and each later change while there are listeners; called for each new listener.
  func beginReporting()

  /// Releases the object that the feed reads; called when the state has ended, or another feed replaces this one.
  func end()

  /// Whether `pause()` and `resume()` have an effect on the work.
  var isPausable: Bool { get }
  func pause()
  func resume()
}

extension ProgressReporter {
  /// Whether a listener gets the reports, so that a feed must watch its object for changes.
  package var hasListeners: Bool {
    guard let record else { return false }
    return state.underLock { !record.listeners.isEmpty }
  }

  /// The token that is cancelled with the future.
  package var cancellationToken: CancellationToken { state.cancellationToken }

  /// Reads the progress from `feed` until the future ends, and ends the previous feed; if the future has ended, ends `feed`.
  package func follow(_ feed: any ProgressFeed) {
    let (unused, hasListeners) = state.underLock { () -> ((any ProgressFeed)?, Bool) in
      guard let record, state.hasProducer else { return (feed, false) }
      defer { record.feed = feed }
      return (record.feed, !record.listeners.isEmpty)
    }
    unused?.end()  // the previous feed, or `feed` itself if the future has ended
    guard unused !== feed else { return }  // `feed` has just been ended
    if hasListeners { feed.beginReporting() } else { feed.read() }
  }
}

extension Future {
  /// The feeds of this future and of all futures behind its progress, as far as the progress was requested; O(n), no stack.
  package var progressFeeds: [any ProgressFeed] {
    guard case .sharedState(let state) = storage else { return [] }
    return state.progressFeeds
  }

  /// How the future has ended; `nil` while it is pending.
  ///
  /// It is `cancellation` if the future was cancelled and did not succeed, or failed with an error that represents
  /// cancellation. A broken future that was not cancelled counts as failed.
  package var ending: FutureEnding? {
    switch storage {
    case .succeeded: return .success
    case .failed(let error): return Cancelled.isRepresented(by: error) ? .cancellation : .failure
    case .sharedState(let state):
      switch state.result {
      case .success?: return .success
      case .failure(let error)? where Cancelled.isRepresented(by: error): return .cancellation
      case nil where state.breakReason == nil: return nil  // pending
      case .failure?, nil: return state.wasCancelled ? .cancellation : .failure  // failed or broken
      }
    }
  }
}

/// How a future has ended, without its result.
package enum FutureEnding: Sendable { case success, failure, cancellation }

extension FutureState {
  /// The feeds of this state, and of the states behind its progress.
  fileprivate final var progressFeeds: [any ProgressFeed] {
    var feeds: [any ProgressFeed] = []
    var states = [self]
    var seen: Set<ObjectIdentifier> = []
    while let state = states.popLast() {
      guard seen.insert(ObjectIdentifier(state)).inserted else { continue }
      state.underLock {
        guard let record = state.progressRecord else { return }
        if let feed = record.feed { feeds.append(feed) }
        for link in record.links { states.append(link.source) }
      }
    }
    return feeds
  }
}
