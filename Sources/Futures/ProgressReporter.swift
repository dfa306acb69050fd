internal import Synchronization

/// The side of a future's progress that reports it: `promise.progress`.
///
/// ```swift
/// Future<Data, any Error> { promise in
///   let progress = promise.progress
///   download(url, progress: { progress.report(completed: $0, of: $1) }, completion: promise.valueOrErrorHandler)
/// }
/// ```
///
/// Reports may come from any thread, also from several at once. Whatever order they come in, the fraction that others see
/// never goes back, stays within 0...1, and is 1 exactly when the future has succeeded (R18). Keeping a reporter does not
/// keep the promise, which breaks as if nobody had asked it for one.
///
/// A report takes a lock for a moment, and no allocation as long as no task is suspended to read it. Callbacks on `.immediate` run on the
/// thread that reports; where two report at once, one of them runs the callbacks for both, with the newest state.
public final class ProgressReporter: Sendable {
  let state: AnySharedState

  /// That of the state; `nil` where the future had been resolved before.
  let record: ProgressRecord?

  init(_ state: AnySharedState, _ record: ProgressRecord?) {
    self.state = state
    self.record = record
  }

  /// Reports that `completed` units of `total` are done.
  ///
  /// What makes no sense is clamped: less than nothing, more than all. Fewer than before of the same total changes nothing.
  /// A larger total is taken over, and the fraction waits until it has caught up.
  /// - Parameters:
  ///   - completed: How much has been done.
  ///   - total: How much there is in all; `nil` while nobody knows.
  /// - Returns: `false` if the future was resolved before, so that nobody can be told any more.
  @discardableResult
  public func report(completed: Int64, of total: Int64?) -> Bool {
    guard let record else { return false }
    let progress = FutureProgress(completed: completed, of: total)
    return state.changeProgress(record) { $0.report(progress) }
  }

  /// Reports which part of the work is done.
  ///
  /// What makes no sense is clamped to 0...1; less than before, or no number, changes nothing.
  /// - Parameter fraction: 0 for nothing, 1 for all of it.
  /// - Returns: `false` if the future was resolved before, so that nobody can be told any more.
  @discardableResult
  public func report(fraction: Double) -> Bool {
    guard let record else { return false }
    return state.changeProgress(record) { $0.report(fraction: fraction) }
  }

  /// Has the progress of `child` count for `share` of the whole.
  ///
  /// What is not shared out is for the promise's own reports: with a child for 0.8 of the whole, `report(fraction: 0.5)` stands
  /// for half of the rest, 0.1. However the child ends (it fails, is cancelled, finishes early), it then counts for its share.
  /// The whole never goes back: what a later child takes from the others has to be caught up first.
  ///
  /// This is no derivation: it neither starts nor cancels the child, and does not count as needing it. The child's state is
  /// kept until either has ended. Futures that are parts of each other make no sense: their reports go round until they have
  /// converged, which takes long where the shares are close to 1. Cost: one allocation here, and what the child's progress
  /// needs; a report of the child is handed on in O(1).
  /// - Parameters:
  ///   - child: The future of a part of the work. The reporter's own future would wait for itself, and traps.
  ///   - share: Which part of the whole; clamped to what other children have left of it.
  public func add<V, F>(_ child: Future<V, F>, share: Double) {
    guard let record else { return }
    guard case .shared(let part) = child.storage else { return state.addProgress(record, of: nil, share: share) }
    precondition(part.root !== state, "A future was added to its own progress.")
    state.addProgress(record, of: part, share: share)
  }
}

extension Promise {
  /// What reports the progress of the work behind this promise.
  ///
  /// Cost: three allocations, the first time; where nobody asks for it, progress costs nothing.
  public var progress: ProgressReporter { state.reporter }
}

extension AnySharedState {
  /// The reporter of an unresolved state, always the same one.
  final var reporter: ProgressReporter {
    followProgress()
    return lock.withLock {
      // When the future has ended, a reporter tells nobody anything.
      guard phase.load(ordering: .relaxed) <= .following, let record = progressRecord else {
        return ProgressReporter(self, nil)
      }
      if let reporter = record.reporter { return reporter }
      let reporter = ProgressReporter(self, record)
      record.reporter = reporter
      return reporter
    }
  }
}
