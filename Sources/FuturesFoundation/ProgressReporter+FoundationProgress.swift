public import Foundation
public import Futures

// Qualified, because newer versions of Foundation have a type of that name, too.
extension Futures.ProgressReporter {
  /// Has the future's progress be that of a Foundation `Progress` from now on, until the future ends or the `Progress` finishes.
  ///
  /// ```swift
  /// Future<Archive, any Error> { promise in
  ///   let progress = archiver.unpack(file, completion: promise.valueOrErrorHandler)
  ///   promise.progress.follow(progress)
  /// }
  /// ```
  ///
  /// Its counts are reported as they are; those that make no sense, or no total above 0, mean that nobody knows how much there
  /// is to do. Once a child of it is done in part, so that its counts do not say what its fraction says, the fraction is
  /// reported, in millionths. As with all reports, the future's fraction never goes back, is 1 when the future has succeeded
  /// and not before (R18), and counts for what is not shared out by `add`. Following another `Progress` leaves this one. It is
  /// kept as long as it is followed.
  ///
  /// Cancellation:
  /// - Future to `Progress`: cancelling the future, before or after this, cancels the `Progress` (not if that has finished, or
  ///   was left).
  /// - `Progress` to future: cancelling the `Progress` does not cancel the future; whoever does the work hears of it, and
  ///   resolves the promise.
  ///
  /// Pausing and resuming the `foundationProgress()` of the future, or of one that was made of it, does the same to this
  /// `Progress`. Pausing this one says nothing to the future.
  ///
  /// When changes arrive:
  /// - On Apple platforms each one does, on the thread that makes it, by key-value observing.
  /// - Elsewhere Foundation tells nobody. The `Progress` is read when the progress of this future is asked for, and while
  ///   somebody listens to it, or to one that was made of it, every 50 milliseconds, on a thread of the global queue. So a
  ///   derived future may be that much behind, and one that fails may miss the very last change. `Progress` has no lock there:
  ///   reading one while another thread changes it may find two counts that do not fit each other, and a fraction that was too
  ///   large stays. Such a reading never makes the future's progress nonsense.
  ///
  /// Cost: a few allocations; elsewhere one timer for each reading.
  /// - Parameter progress: What to follow.
  public func follow(_ progress: Progress) { follow(progress, polling: .global()) }

  /// Reports a `Progress`, for APIs that call a closure after each change.
  ///
  /// It reports the counts as `follow(_:)` does. It reads the `Progress` only during the call, on the calling thread.
  /// It does not keep the `Progress`, and does not cancel it with the future.
  public var foundationHandler: @Sendable (Progress) -> Void {
    { progress in
      let reading = Reading(of: progress)
      if reading.showsComposition {
        self.report(fraction: reading.fraction)
      } else {
        self.report(completed: reading.completed, of: reading.total)
      }
    }
  }

  /// As `follow(_:)`; where Foundation tells nobody, `context` measures the time, and reads.
  package func follow(_ progress: Progress, polling context: ExecutionContext) {
    let followed = FollowedProgress(progress, for: self, polling: context)
    followed.cancel(with: cancellationToken)
    #if canImport(ObjectiveC)
      followed.observe()
    #endif
    follow(followed)
  }
}

/// Reports what a `Progress` says.
///
/// The record of the future's progress owns it until the future ends.
final class FollowedProgress: ProgressFeed {
  private struct Link {
    let progress: Progress
    weak var reporter: Futures.ProgressReporter?

    /// What cancels the `Progress` with the future.
    var registration: Registration?

    /// Whether its fraction has been seen not to follow from its counts.
    var isComposed = false

    #if canImport(ObjectiveC)
      var observations: [NSKeyValueObservation] = []
    #else
      /// Whether it is to be read after a delay, which `cancelDelay` gives up.
      var isPolling = false
      var cancelDelay: (@Sendable () -> Void)?
    #endif
  }

  /// `nil` when it has ended.
  private let link: Locked<Link?>

  /// Where it is read, and whose clock says when, where Foundation tells nobody.
  private let context: ExecutionContext

  init(_ progress: Progress, for reporter: Futures.ProgressReporter, polling context: ExecutionContext) {
    link = Locked(Link(progress: progress, reporter: reporter))
    self.context = context
  }

  private var progress: Progress? { link.withLock { $0?.progress } }

  private var reporter: Futures.ProgressReporter? { link.withLock { $0?.reporter } }

  /// Cancels the `Progress` when `token` is.
  func cancel(with token: CancellationToken) {
    guard let progress else { return }
    let registration = token.register { progress.cancel() }
    link.withLock { $0?.registration = registration }
  }

  func end() {
    let ended = link.withLock { link in
      defer { link = nil }
      return link
    }
    ended?.registration?.remove()
    #if !canImport(ObjectiveC)
      ended?.cancelDelay?()
    #endif
  }

  // MARK: Reading

  func read() {
    guard let progress else { return }
    let reading = Reading(of: progress)
    let (reporter, isComposed) = link.withLock { link in
      if reading.showsComposition { link?.isComposed = true }
      return (link?.reporter, link?.isComposed ?? false)
    }
    if isComposed {
      if reading.isConsistent { reporter?.report(fraction: reading.fraction) }
    } else {
      reporter?.report(completed: reading.completed, of: reading.total)
    }
    if reading.isFinished { end() }
  }

  // MARK: Pausing

  var isPausable: Bool { progress?.isPausable ?? false }

  func pause() {
    if let progress, !progress.isPaused { progress.pause() }
  }

  func resume() {
    if let progress, progress.isPaused { progress.resume() }
  }
}

/// What a `Progress` said at one time, or at about one time.
private struct Reading {
  let completed: Int64
  /// `nil` while nobody knows it.
  let total: Int64?
  let fraction: Double
  /// Whether the fraction is sure to be that of the counts.
  let isConsistent: Bool

  init(of progress: Progress) {
    let counts = (progress.completedUnitCount, progress.totalUnitCount)
    fraction = progress.fractionCompleted
    isConsistent = counts == (progress.completedUnitCount, progress.totalUnitCount)
    completed = counts.0
    // Foundation counts less than nothing as not known, and all of nothing as finished, which may be half of a change.
    total = counts.0 >= 0 && counts.1 > 0 ? counts.1 : nil
  }

  var isFinished: Bool { total.map { completed >= $0 } ?? false }

  /// Whether there are children that have come to something, which is not counted until they finish.
  var showsComposition: Bool {
    guard isConsistent, let total else { return false }
    return abs(fraction - Double(completed) / Double(total)) > 1e-6
  }
}

#if canImport(ObjectiveC)
  extension FollowedProgress {
    /// Reads the `Progress` when it changes.
    func observe() {
      guard let progress else { return }
      let observations = [
        progress.observe(\.fractionCompleted) { [weak self] _, _ in self?.read() },
        progress.observe(\.completedUnitCount) { [weak self] _, _ in self?.read() },
        progress.observe(\.totalUnitCount) { [weak self] _, _ in self?.read() },
      ]
      link.withLock { $0?.observations = observations }
    }

    func beginReporting() { read() }
  }
#else
  extension FollowedProgress {
    func beginReporting() {
      read()
      poll()
    }

    /// How long it takes at least from one reading to the next, if nobody asks.
    private static let pollingInterval = Duration.milliseconds(50)

    /// Reads the `Progress` after a delay, unless that is going to happen.
    private func poll() {
      let begins = link.withLock { link in
        guard link?.isPolling == false else { return false }
        link?.isPolling = true
        return true
      }
      guard begins else { return }
      let cancelDelay = context.schedule(after: Self.pollingInterval) { [weak self] in self?.polled() }
      let (previous, hasEnded) = link.withLock { link in
        defer { link?.cancelDelay = cancelDelay }
        return (link?.cancelDelay, link == nil)
      }
      _ = previous  // released here, outside the lock
      if hasEnded { cancelDelay() }
    }

    private func polled() {
      read()
      // First this, then the question: who comes in between begins again.
      link.withLock { $0?.isPolling = false }
      if reporter?.hasListeners == true { poll() }
    }
  }
#endif
