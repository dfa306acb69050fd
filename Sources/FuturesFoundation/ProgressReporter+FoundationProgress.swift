public import Foundation
public import Futures

// Qualified: newer versions of Foundation have a type of this name too.
extension Futures.ProgressReporter {
  /// Reports the state of a Foundation `Progress`, until the future ends or the `Progress` finishes.
  ///
  /// ```swift
  /// Future<Archive, any Error> { promise in
  ///   let progress = archiver.unpack(file, completion: promise.valueOrErrorHandler)
  ///   promise.progress.follow(progress)
  /// }
  /// ```
  ///
  /// Reports the counts. If they are invalid, or the total is not above 0, the total is unknown. If a child is partly done, the
  /// counts do not show it; then this reports the fraction, in millionths. The rules of all reports hold (R18). The reports
  /// count for the part of the work that `add` has not assigned. Following another `Progress` ends this one. The reporter
  /// keeps the `Progress` while it follows it.
  ///
  /// Cancellation:
  /// - Cancelling the future, before or after this call, cancels the `Progress`, unless it has finished or is not followed any
  ///   more.
  /// - Cancelling the `Progress` does not cancel the future. The producer notices it, and resolves the promise.
  ///
  /// Pausing and resuming the `foundationProgress()` of the future, or of a derived future, pauses and resumes the `Progress`.
  /// Pausing the `Progress` does not affect the future.
  ///
  /// When changes arrive:
  /// - On Apple platforms at once, on the thread of the change, by key-value observing.
  /// - On other platforms Foundation does not notify observers. The library reads the `Progress` when the future's progress is
  ///   read, and every 50 milliseconds while the future or a derived one has a listener, on a thread of the global queue. So a
  ///   derived future can be that late, and a failing future can miss the last change. A `Progress` has no lock there: a
  ///   reading during a change can see two counts that do not match. Then a fraction that was too large stays, within 0…1.
  ///
  /// Cost: a few allocations; on other platforms a timer for each reading.
  public func follow(_ progress: Progress) { follow(progress, polling: .global()) }

  /// Reports a `Progress`, for APIs that call a closure after each change.
  ///
  /// It reports the counts as `follow(_:)` does. It reads the `Progress` only during the call, on the calling thread.
  /// It does not keep the `Progress`, and does not cancel it with the future.
  public var foundationHandler: @Sendable (Progress) -> Void {
    { progress in
      let reading = Reading(of: progress)
      if reading.showsPartlyDoneChild {  // only the fraction counts the part that is done
        self.report(fraction: reading.fraction)
      } else {
        self.report(completed: reading.completed, of: reading.total)
      }
    }
  }

  /// Does the work of `follow(_:)`.
  ///
  /// Where Foundation does not notify observers, `context` is the clock and the thread of the readings.
  package func follow(_ progress: Progress, polling context: ExecutionContext) {
    let followed = FollowedProgress(progress, for: self, polling: context)
    followed.cancel(with: cancellationToken)
    #if canImport(ObjectiveC)
      followed.observe()
    #endif
    follow(followed)  // the future then keeps it, and calls its `read` or `beginReporting`
  }
}

/// Reports the state of a `Progress` that a future follows.
///
/// The future keeps it until the future has ended or follows another `Progress`, and calls the functions of `ProgressFeed`.
final class FollowedProgress: ProgressFeed {
  private struct Link {
    let progress: Progress
    weak var reporter: Futures.ProgressReporter?

    /// The handler that cancels the `Progress` with the future.
    var registration: Registration?

    /// Whether fractions are reported, and not counts: a reading has shown a child that is partly done.
    var reportsFractions = false

    #if canImport(ObjectiveC)
      var observations: [NSKeyValueObservation] = []
    #else
      /// Whether a reading is scheduled, which `cancelDelay` cancels.
      var isPolling = false
      var cancelDelay: (@Sendable () -> Void)?
    #endif
  }

  /// `nil` when it has ended.
  private let link: Locked<Link?>

  /// The context and clock of readings, if Foundation does not notify observers.
  private let context: ExecutionContext

  init(_ progress: Progress, for reporter: Futures.ProgressReporter, polling context: ExecutionContext) {
    link = Locked(Link(progress: progress, reporter: reporter))
    self.context = context
  }

  private var progress: Progress? { link.withLock { $0?.progress } }

  private var reporter: Futures.ProgressReporter? { link.withLock { $0?.reporter } }

  /// Cancels the `Progress` when `token` is cancelled, until `end()`; called before another thread can use this object.
  func cancel(with token: CancellationToken) {
    guard let progress else { return }  // never `nil` here, because nothing has called `end()` yet
    let registration = token.register { progress.cancel() }
    link.withLock { $0?.registration = registration }
  }

  /// Stops reporting, and releases the `Progress`: it has finished, the future has ended, or the future follows another one.
  func end() {
    let ended = link.withLock { link in
      defer { link = nil }
      return link
    }
    ended?.registration?.remove()
    #if !canImport(ObjectiveC)
      ended?.cancelDelay?()  // on Apple platforms, the observations end with `ended`
    #endif
  }

  // MARK: Reading

  /// Reports the state once: the counts, or the fraction if this reading or an earlier one has shown a child that is partly done.
  ///
  /// Drops a fraction that was read during a change: the reading after the change reports a new one.
  func read() {
    guard let progress else { return }
    let reading = Reading(of: progress)
    let (reporter, reportsFractions) = link.withLock { link in
      if reading.showsPartlyDoneChild { link?.reportsFractions = true }
      return (link?.reporter, link?.reportsFractions ?? false)
    }
    if reportsFractions {
      if reading.isConsistent { reporter?.report(fraction: reading.fraction) }
    } else {
      reporter?.report(completed: reading.completed, of: reading.total)
    }
    if reading.isFinished { end() }
  }

  // MARK: Pausing

  var isPausable: Bool { progress?.isPausable ?? false }

  func pause() {
    if let progress, !progress.isPaused { progress.pause() }  // once: several derived futures can pass a pause on
  }

  func resume() {
    if let progress, progress.isPaused { progress.resume() }
  }
}

/// The state of a `Progress`, read in several steps at a change or, where Foundation notifies of none, from time to time.
private struct Reading {
  let completed: Int64
  /// `nil` if unknown.
  let total: Int64?
  let fraction: Double
  /// Whether the counts did not change while the fraction was read.
  let isConsistent: Bool

  init(of progress: Progress) {
    completed = progress.completedUnitCount
    let count = progress.totalUnitCount
    fraction = progress.fractionCompleted
    isConsistent = completed == progress.completedUnitCount && count == progress.totalUnitCount
    // The total is unknown to Foundation if a count is negative or both are 0. If only the total is 0, it might not be set yet.
    total = completed >= 0 && count > 0 ? count : nil
  }

  var isFinished: Bool { total.map { completed >= $0 } ?? false }

  /// Whether a child is partly done: the fraction counts its part, and the counts show a child only when it has finished.
  ///
  /// `false` for a reading during a change, and while the total is unknown.
  var showsPartlyDoneChild: Bool {
    guard isConsistent, let total else { return false }
    return abs(fraction - Double(completed) / Double(total)) > 1e-6
  }
}

#if canImport(ObjectiveC)
  extension FollowedProgress {
    /// Reads the `Progress` when it changes: a child can change only the fraction, and a count can change without the fraction.
    func observe() {
      guard let progress else { return }  // never: nothing has called `end()`, which removes it
      let observations = [
        progress.observe(\.fractionCompleted) { [weak self] _, _ in self?.read() },
        progress.observe(\.completedUnitCount) { [weak self] _, _ in self?.read() },
        progress.observe(\.totalUnitCount) { [weak self] _, _ in self?.read() },
      ]
      link.withLock { $0?.observations = observations }  // if a change has caused `end()`, they end here
    }

    func beginReporting() { read() }  // the state now; the observations call `read` at later changes
  }
#else
  extension FollowedProgress {
    /// Called for each new listener of the progress.
    func beginReporting() {
      read()
      poll()
    }

    /// The time between two scheduled readings, in nanoseconds.
    private static let pollingInterval: Int64 = 50_000_000

    /// Schedules a reading, unless one is scheduled or the feed has ended.
    private func poll() {
      let isNeeded = link.withLock { link in
        guard let isPolling = link?.isPolling, !isPolling else { return false }
        link?.isPolling = true
        return true
      }
      guard isNeeded else { return }
      let cancelDelay = context.schedule(afterNanoseconds: Self.pollingInterval) { [weak self] in self?.readAndPoll() }
      let (previous, hasEnded) = link.withLock { link in
        defer { link?.cancelDelay = cancelDelay }
        return (link?.cancelDelay, link == nil)
      }
      _ = previous  // that of an earlier reading; released here, outside the lock
      if hasEnded { cancelDelay() }  // `end()` came before `cancelDelay` was stored
    }

    /// The scheduled reading, which schedules the next one while there are listeners.
    private func readAndPoll() {
      read()
      // Resets the flag before the check: a listener that is added in between schedules a reading itself.
      link.withLock { $0?.isPolling = false }
      if reporter?.hasListeners == true { poll() }
    }
  }
#endif
