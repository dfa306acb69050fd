public import Foundation
public import Futures

extension Future {
  /// A Foundation `Progress` that goes with the future: it shows how far that has come, cancels it, and pauses its work.
  ///
  /// ```swift
  /// let whole = Progress(totalUnitCount: 2)
  /// whole.addChild(download.foundationProgress(), withPendingUnitCount: 1)
  /// whole.addChild(upload.foundationProgress(), withPendingUnitCount: 1)
  /// bar.observedProgress = whole
  /// ```
  ///
  /// It counts in the units of the future, and is indeterminate (its total is negative) while the future does not say how much
  /// there is to do. Foundation makes its fraction of the units, so unlike the future's it goes back when the total grows; it
  /// is 0 for the moment in which the total changes. A `Progress` of equal counts is finished, so the last unit waits for the
  /// end. That comes with the end of the future, before its callbacks run: **however it has ended**, the `Progress` is then
  /// finished, since Foundation has no word for failure, and a parent would wait for ever. `isCancelled` tells if it was
  /// cancelled.
  ///
  /// Like `Progress(totalUnitCount:)`, it becomes a child of the current progress of this thread, if there is one.
  /// Like `whenProgressed`, it starts a lazy future, and does not count as needing the future (R16). Nothing but its parent and
  /// its users keep it; when they drop it the future hears nothing of that, and nothing of it is left.
  ///
  /// Cancellation:
  /// - `Progress` to future: cancelling it, or one of its ancestors, cancels the future, also for all others who have it.
  /// - Future to `Progress`: it is cancelled when the future has been, or failed with a `CancellationError` or a
  ///   `CancellableFailure` that equals `.cancelled`. Then it is finished, too. Its parent is not cancelled.
  ///
  /// Pausing it, or one of its ancestors, pauses each `Progress` that this future, or one of those that it was made of, follows
  /// at that moment (`ProgressReporter.follow`); so does resuming. It is pausable while one of those is. Everybody's work is
  /// paused, also through `shielded`.
  ///
  /// Threads: it changes on the thread that reports, or that resolves the future.
  /// - On Apple platforms `Progress` may be used from any thread; observers run where it changes. Its three handlers are
  ///   taken, so do not set them.
  /// - Elsewhere `Progress` has no lock. Changes that come from futures exclude each other, in whatever tree they are. But who
  ///   reads meanwhile may find two counts that do not fit each other, and who adds children meanwhile may break Foundation's
  ///   lists. `foundationProgress(on:)` moves the changes to where the others are. `cancel`, `pause` and `resume` reach the
  ///   future before they return, whatever the handlers are set to, which run later.
  ///
  /// Cost: as `whenProgressed`, and what Foundation needs. To pause, and to ask whether that is possible, looks at all futures
  /// that this one was made of.
  /// - Returns: The `Progress`.
  public func foundationProgress() -> Progress { foundationProgress(on: .immediate) }

  /// A Foundation `Progress` that goes with the future, and is changed by the given context alone.
  ///
  /// As `foundationProgress()`; but it finishes when the context comes to it, not before the callbacks of the future. With
  /// `.mainQueue` the main thread may use it, and its tree, without locks, and observers run there.
  /// - Parameter context: Where the `Progress` changes; one that runs one piece of work at a time.
  /// - Returns: The `Progress`.
  public func foundationProgress(on context: ExecutionContext) -> Progress {
    let progress = MirroredProgress(of: self)
    let registration = observeProgress(on: context) { [weak progress] in progress?.update(to: $0) }
    progress.keep(registration)
    return progress
  }
}

/// What a `Progress` goes with; a future of any types.
protocol MirroredFuture: Sendable {
  var currentProgress: FutureProgress { get }
  var ending: FutureEnding? { get }
  var progressFeeds: [any ProgressFeed] { get }
  func cancel()
}

extension Future: MirroredFuture {}

/// The progress of a future.
///
/// It keeps the future until that has ended. The future has a listener that does not keep this.
final class MirroredProgress: Progress, @unchecked Sendable {
  // @unchecked: the base class says that it is; `source` is locked.
  private struct Source {
    let future: any MirroredFuture
    var registration: Registration?
  }

  /// `nil` when the future has ended.
  private let source: Locked<Source?>

  init(of future: any MirroredFuture) {
    source = Locked(Source(future: future))
    super.init(parent: Progress.current(), userInfo: nil)
    setUnits(0, of: Self.unknown)
    isCancellable = true
    #if canImport(ObjectiveC)
      cancellationHandler = { [weak self] in self?.cancelFuture() }
      pausingHandler = { [weak self] in self?.pauseFuture() }
      resumingHandler = { [weak self] in self?.resumeFuture() }
    #endif
  }

  deinit { takeSource()?.registration?.remove() }

  func keep(_ registration: Registration) {
    source.withLock { $0?.registration = registration }
  }

  private var future: (any MirroredFuture)? { source.withLock { $0?.future } }

  private func takeSource() -> Source? {
    source.withLock { source in
      defer { source = nil }
      return source
    }
  }

  // MARK: From the future

  /// Shows `progress`, or the end of the future, if it has ended.
  func update(to progress: FutureProgress) {
    guard let future else { return }
    guard let ending = future.ending else { return show(progress) }
    _ = takeSource()
    if ending == .cancellation, !isCancelled { cancel() }
    isCancellable = false
    // What the listener was told may be older.
    finish(future.currentProgress)
  }

  private func show(_ progress: FutureProgress) {
    // No unit at all would be finished for Foundation.
    guard let total = progress.totalUnitCount, total > 0 else {
      return setUnits(progress.completedUnitCount, of: Self.unknown)
    }
    setUnits(min(progress.completedUnitCount, total - 1), of: total)
  }

  private func finish(_ progress: FutureProgress) {
    let total = max(progress.totalUnitCount ?? progress.completedUnitCount, 1)
    setUnits(total, of: total)
  }

  /// A total that says that nobody knows it.
  private static let unknown: Int64 = -1

  /// Sets both counts, by way of not knowing the total, where that changes.
  ///
  /// Else it might be finished for a moment, and a parent counts a child each time that it finishes. And corelibs Foundation
  /// multiplies all totals that come one after another, until it traps, if not one of them is -1.
  private func setUnits(_ completed: Int64, of total: Int64) {
    changingTree {
      if totalUnitCount != total { totalUnitCount = Self.unknown }
      if completedUnitCount != completed { completedUnitCount = completed }
      if totalUnitCount != total { totalUnitCount = total }
    }
  }

  // MARK: To the future

  override var isPausable: Bool {
    get { super.isPausable || future?.progressFeeds.contains { $0.isPausable } ?? false }
    set { super.isPausable = newValue }
  }

  private func cancelFuture() { future?.cancel() }

  private func pauseFuture() {
    for feed in future?.progressFeeds ?? [] { feed.pause() }
  }

  private func resumeFuture() {
    for feed in future?.progressFeeds ?? [] { feed.resume() }
  }

  #if canImport(ObjectiveC)
    private func changingTree(_ body: () -> Void) { body() }
  #else
    /// Protects the counts in all trees, since nothing says what tree this is in.
    ///
    /// Recursive, because a parent that finishes may be released, and with it what its handlers captured.
    private static let treeLock = NSRecursiveLock()

    private func changingTree(_ body: () -> Void) { Self.treeLock.withLock(body) }

    // Foundation calls these also for its children, at once, and the handlers later, on another thread.

    override func cancel() {
      super.cancel()
      cancelFuture()
    }

    override func pause() {
      super.pause()
      pauseFuture()
    }

    override func resume() {
      super.resume()
      resumeFuture()
    }
  #endif
}
