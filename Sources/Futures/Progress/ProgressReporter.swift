/// Reports the progress of a future: `promise.progress`.
///
/// ```swift
/// Future<Data, any Error> { promise in
///   let progress = promise.progress
///   download(url, progress: progress.unitCountHandler, completion: promise.valueOrErrorHandler)
/// }
/// ```
///
/// Any thread can report, also several at once. In any order of reports, the visible fraction never decreases and stays
/// within 0...1. It is 1 exactly when the future has succeeded (R18). A reporter does not keep its promise alive, so a
/// released promise still breaks.
///
/// A report holds a lock for a moment. It allocates only if a suspended task waits to read it. Callbacks on
/// `.immediate` run on the thread that reports. If two threads report at once, one of them runs the callbacks for both,
/// with the newest state.
public final class ProgressReporter: Sendable {
  let state: FutureState

  /// The record of the state; `nil` if the future was resolved already, or had no producer any more.
  let record: ProgressRecord?

  init(_ state: FutureState, _ record: ProgressRecord?) {
    self.state = state
    self.record = record
  }

  /// Reports that `completed` units of `total` are done.
  ///
  /// Invalid numbers are clamped: below zero, or above the total. A lower number of the same total changes nothing. A
  /// larger total takes effect, and the fraction stays until the units have caught up.
  /// - Parameters:
  ///   - completed: The number of completed units.
  ///   - total: The number of all units; `nil` while it is unknown.
  /// - Returns: `false` if the future was already resolved, so that the report has no effect.
  @discardableResult
  public func report(completed: Int64, of total: Int64?) -> Bool {
    guard let record else { return false }
    let progress = FutureProgress(completed: completed, of: total)
    return state.changeProgress(record) { $0.report(progress) }
  }

  /// Reports the completed fraction of the work.
  ///
  /// Invalid numbers are clamped to 0...1. A lower fraction than before, or NaN, changes nothing.
  /// - Parameter fraction: 0 for nothing, 1 for all of the work.
  /// - Returns: `false` if the future was already resolved, so that the report has no effect.
  @discardableResult
  public func report(fraction: Double) -> Bool {
    guard let record else { return false }
    return state.changeProgress(record) { $0.report(fraction: fraction) }
  }

  /// Reports that `completed` units of `total` are done, as the overload for `Int64`.
  @discardableResult
  public func report(completed: Int, of total: Int?) -> Bool {
    report(completed: Int64(completed), of: total.map(Int64.init))
  }

  /// Counts the progress of `child` as `share` of the whole.
  ///
  /// The rest belongs to the promise's own reports. With a child of share 0.8, `report(fraction: 0.5)` counts for half
  /// of the rest: 0.1. When the child ends (by success, failure or cancellation), it counts for its full share. The
  /// whole never decreases. If a later child takes a part of the rest, the sum must first catch up.
  ///
  /// The child is not a source of this future. This neither starts nor cancels the child, and adds no consumer to it.
  /// The child's state is kept until the child or this future has ended. Do not make two futures parts of each other.
  /// Their reports circulate until they converge, which takes long if the shares are close to 1.
  ///
  /// Cost: one allocation here, and the cost of the child's progress. A report of the child is passed on in O(1).
  /// - Parameters:
  ///   - child: The future of a part of the work. The reporter's own future traps, because it would wait for itself.
  ///   - share: The part of the whole, clamped to the part that other children have left.
  public func add<V, F>(_ child: Future<V, F>, share: Double) {
    guard let record else { return }
    let part = child.state  // `nil` for a child that was resolved from the start: its share counts at once
    require(part !== state, "A future was added to its own progress.")
    state.addProgress(record, of: part, share: share)
  }
}

// MARK: - Handlers

extension ProgressReporter {
  // With main actor default isolation, a closure that is not `@Sendable` is isolated to the main actor. It traps when a
  // legacy API calls it on another thread. The closures below are nonisolated.

  /// Reports the completed and the total number of units; a total below zero is unknown.
  public var unitCountHandler: @Sendable (Int64, Int64) -> Void {
    { completed, total in self.report(completed: completed, of: total < 0 ? nil : total) }
  }

  /// Reports the completed and the total number of units as `Int`; a total below zero is unknown.
  public var countHandler: @Sendable (Int, Int) -> Void {
    { completed, total in self.report(completed: completed, of: total < 0 ? nil : total) }
  }

  /// Reports a fraction, in 0...1.
  public var fractionHandler: @Sendable (Double) -> Void {
    { fraction in self.report(fraction: fraction) }
  }

  /// Reports a fraction, in 0...1, as `Float`.
  public var floatFractionHandler: @Sendable (Float) -> Void {
    { fraction in self.report(fraction: Double(fraction)) }
  }
}

extension Promise {
  /// The reporter of the progress of the promise's work.
  ///
  /// Cost: three allocations at the first call. Without a call, progress costs nothing.
  public var progress: ProgressReporter { state.reporter }
}

extension FutureState {
  /// The reporter of a pending state, always the same one.
  final var reporter: ProgressReporter {
    requestProgress()  // makes the record, which keeps the reporter
    return underLock {
      // After the end of the future each call gets a new reporter, whose reports change nothing.
      guard hasProducer, let record = progressRecord else { return ProgressReporter(self, nil) }  // `nil`: no effect
      if let reporter = record.reporter { return reporter }
      let reporter = ProgressReporter(self, record)
      record.reporter = reporter
      return reporter
    }
  }
}
