public import Foundation
public import Futures

extension Future {
  /// Returns a Foundation `Progress` that mirrors the future's progress, cancels the future, and pauses its work.
  ///
  /// ```swift
  /// let whole = Progress(totalUnitCount: 2)
  /// whole.addChild(download.foundationProgress(), withPendingUnitCount: 1)
  /// whole.addChild(upload.foundationProgress(), withPendingUnitCount: 1)
  /// bar.observedProgress = whole
  /// ```
  ///
  /// It has the units of the future. It is indeterminate (the total is negative) while the future's total is unknown.
  /// Foundation computes the fraction from the units. So the fraction can decrease when the total grows, unlike the future's,
  /// and is 0 while the total changes. Foundation treats equal counts as finished, so the last unit waits for the end of the
  /// future.
  ///
  /// The `Progress` finishes with the future, before the callbacks run, **also after a failure**: Foundation has no failed
  /// state, and a parent would wait for ever. After a cancellation `isCancelled` is `true`.
  ///
  /// Like `Progress(totalUnitCount:)`, it becomes a child of the thread's current progress. Like `whenProgressed`, it starts a
  /// lazy future and is not a consumer (R16). The future does not keep it. Releasing it leaves nothing in the future.
  ///
  /// Cancellation:
  /// - Cancelling the `Progress`, or one of its ancestors, cancels the future for all its consumers.
  /// - Cancelling the future cancels the `Progress`, and finishes it. So does a failure with `CancellationError`, or with a
  ///   `CancellableFailure` that equals `.cancelled`. The parent is not cancelled.
  ///
  /// Pausing the `Progress`, or one of its ancestors, pauses each `Progress` that this future or its sources follow at that
  /// moment (`ProgressReporter.follow`). Resuming resumes them. It is pausable while one of them is. This affects all
  /// consumers, also through `shielded`.
  ///
  /// Threads: the `Progress` changes on the thread that reports, or that resolves the future.
  /// - On Apple platforms any thread can use it. Observers run on the thread of the change. Do not set its three handlers: the
  ///   library uses them.
  /// - On other platforms a `Progress` has no lock. Changes by futures, and calls of `addChild`, `cancel`, `pause` and `resume` of
  ///   this `Progress`, exclude each other. An ancestor of another class is not protected: use `foundationProgress(on:)` there.
  ///   Another thread that reads can see two counts that do not match. `cancel`, `pause` and `resume` reach the future before they
  ///   return. Handlers that you set run later.
  ///
  /// Cost: as `whenProgressed`, and Foundation's object. Pausing, and reading `isPausable`, visits all sources of the future.
  public func foundationProgress() -> Progress { foundationProgress(on: .immediate) }

  /// Returns a Foundation `Progress` that mirrors the future's progress, and changes only on the given context.
  ///
  /// As `foundationProgress()`, but it finishes on the context, which can be after the callbacks of the future. With
  /// `.mainQueue` the main thread can use it and its tree without a lock, and observers run there.
  ///
  /// On other platforms than Apple's, use the tree on this context only. `cancel`, `pause`, `resume` and `addChild` of a `Progress`
  /// of Foundation use a list that a finishing child changes at the same time, without a lock. On two threads, the process
  /// can abort.
  /// - Parameter context: A context that runs one piece of work at a time.
  /// - Returns: The `Progress`.
  public func foundationProgress(on context: ExecutionContext) -> Progress {
    let progress = MirroredProgress(of: self)
    let registration = observeProgress(on: context, includingEnd: true) { [weak progress] in progress?.update(to: $0) }
    progress.keep(registration)
    return progress
  }
}

/// A future of any types, for `MirroredProgress`.
protocol MirroredFuture: Sendable {
  var currentProgress: FutureProgress { get }
  var ending: FutureEnding? { get }
  var progressFeeds: [any ProgressFeed] { get }
  func cancel()
}

extension Future: MirroredFuture {}

/// A `Progress` that mirrors a future.
///
/// It keeps the future until the future has ended. The future's listener holds it weakly.
final class MirroredProgress: Progress, @unchecked Sendable {
  // @unchecked: the base class declares it; `source` has a lock.
  private struct Source {
    let future: any MirroredFuture
    var registration: Registration?
  }

  /// `nil` when the future has ended.
  private let source: Locked<Source?>

  init(of future: any MirroredFuture) {
    source = Locked(Source(future: future))
    Self.beginChange()  // `super.init` changes the parent's children; no `changingTree`: `self` is incomplete
    super.init(parent: Progress.current(), userInfo: nil)
    Self.endChange()
    setUnits(0, of: Self.unknown)
    isCancellable = true
    #if canImport(ObjectiveC)  // elsewhere `cancel`, `pause` and `resume` are overridden
      cancellationHandler = { [weak self] in self?.cancelFuture() }
      pausingHandler = { [weak self] in self?.pauseFuture() }
      resumingHandler = { [weak self] in self?.resumeFuture() }
    #endif
  }

  /// Removes the listener and releases the future after unlocking: a change of a parent, under the lock, can release this object.
  deinit {
    let source = takeSource()
    Self.beginChange()  // `afterChange` needs the lock
    Self.afterChange { source?.registration?.remove() }
    Self.endChange()
  }

  /// Keeps the registration of the listener until the future has ended; the deinitializer removes the listener if it comes first.
  func keep(_ registration: Registration) {
    source.withLock { $0?.registration = registration }
  }

  private var future: (any MirroredFuture)? { source.withLock { $0?.future } }

  /// Removes and returns the source, so that nothing reaches the future from then on.
  private func takeSource() -> Source? {
    source.withLock { source in
      defer { source = nil }
      return source
    }
  }

  // MARK: From the future

  /// Called by the listener of the future: shows `progress` while the future is pending, and later its end, once.
  func update(to progress: FutureProgress) {
    guard let future else { return }  // its end was shown
    guard let ending = future.ending else { return show(progress) }
    // Releases the ended future, and makes later calls return above, so that the end is shown once.
    _ = takeSource()
    if ending == .cancellation, !isCancelled { cancel() }
    isCancellable = false
    // Not `progress`: another thread can have reported since then.
    finish(future.currentProgress)
  }

  /// Shows the progress of a pending future, whose last unit stays open.
  private func show(_ progress: FutureProgress) {
    // With a total of 0, Foundation treats any completed unit as the end.
    guard let total = progress.totalUnitCount, total > 0 else {
      return setUnits(progress.completedUnitCount, of: Self.unknown)
    }
    setUnits(min(progress.completedUnitCount, total - 1), of: total)
  }

  /// Shows the end of the future: all units are complete, also after a failure.
  private func finish(_ progress: FutureProgress) {
    let total = max(progress.totalUnitCount ?? progress.completedUnitCount, 1)  // 0 of 0 means unknown, not finished
    setUnits(total, of: total)
  }

  /// Foundation's total for indeterminate progress.
  private static let unknown: Int64 = -1

  /// Sets both counts, and makes the total unknown in between if it changes.
  ///
  /// Otherwise the `Progress` could be finished for a moment, and its parent counts each finish. Foundation for Linux also
  /// multiplies successive totals until it traps, if none of them is -1.
  private func setUnits(_ completed: Int64, of total: Int64) {
    changingTree {  // this also changes the parents, and Foundation for Linux has no lock for that
      if totalUnitCount != total { totalUnitCount = Self.unknown }
      if completedUnitCount != completed { completedUnitCount = completed }
      if totalUnitCount != total { totalUnitCount = total }
    }
  }

  // MARK: To the future

  override var isPausable: Bool {  // also while a feed reads a pausable `Progress` for the future or its sources
    get { super.isPausable || (future?.progressFeeds ?? []).contains { $0.isPausable } }
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
    // Called around each change of a tree, but without effect, because Foundation locks each `Progress`.
    private static func beginChange() {}
    private static func endChange() {}
    private static func afterChange(_ call: () -> Void) { call() }
  #else
    /// Foundation has no lock here, and a change of one `Progress` reads and changes its parents and children.
    private static let treeLock = TreeLock()

    private static func beginChange() { treeLock.lock() }
    private static func endChange() { treeLock.unlock() }
    private static func afterChange(_ call: @escaping () -> Void) { treeLock.afterUnlocking(call) }

    override func addChild(_ child: Progress, withPendingUnitCount count: Int64) {
      changingTree { super.addChild(child, withPendingUnitCount: count) }
    }

    // The next three take the lock: in them Foundation visits the list of children, which a child leaves when it finishes.
    // They call the future after unlocking (R3). A `cancellationHandler` would run later: Foundation submits it to a queue.

    override func cancel() {
      changingTree {
        super.cancel()
        Self.afterChange(cancelFuture)
      }
    }

    override func pause() {
      changingTree {
        super.pause()
        Self.afterChange(pauseFuture)
      }
    }

    override func resume() {
      changingTree {
        super.resume()
        Self.afterChange(resumeFuture)
      }
    }
  #endif

  /// Calls `body`, which changes a tree; on platforms where Foundation has no lock, under the lock of all trees.
  private func changingTree(_ body: () -> Void) {
    Self.beginChange()
    body()
    Self.endChange()
  }
}

#if !canImport(ObjectiveC)
  /// Protects the counts and the children in all trees: Foundation does not tell which tree a `Progress` belongs to.
  ///
  /// Recursive: a change of a parent changes its children, and releases objects whose deinitializers change a tree.
  private final class TreeLock: @unchecked Sendable {
    // @unchecked: the lock protects the variables.
    private let recursive = NSRecursiveLock()
    private var depth = 0
    private var calls: [() -> Void] = []

    func lock() {
      recursive.lock()
      depth += 1
    }

    /// Calls `call`, which runs code of the user, at the end of the outermost `unlock()`: such code never runs under a lock (R3).
    ///
    /// Only for a caller that has the lock.
    func afterUnlocking(_ call: @escaping () -> Void) { calls.append(call) }

    func unlock() {
      depth -= 1
      var due: [() -> Void] = []
      if depth == 0 { swap(&due, &calls) }
      recursive.unlock()
      for call in due { call() }
    }
  }
#endif
