internal import Dispatch

/// The results that a stage transforms; it passes other results on, without its context.
@frozen
@usableFromInline
struct TransformedResults: Sendable {
  @usableFromInline let hasValues: Bool
  @usableFromInline let hasFailures: Bool

  @inlinable
  init(values hasValues: Bool, failures hasFailures: Bool) {
    self.hasValues = hasValues
    self.hasFailures = hasFailures
  }

  @inlinable static var values: TransformedResults { TransformedResults(values: true, failures: false) }
  @inlinable static var failures: TransformedResults { TransformedResults(values: false, failures: true) }
  @inlinable static var all: TransformedResults { TransformedResults(values: true, failures: true) }

  /// Whether the stage transforms `result`.
  @_alwaysEmitIntoClient
  func contain<Value, Failure>(_ result: Result<Value, Failure>) -> Bool {
    switch result {
    case .success: hasValues
    case .failure: hasFailures
    }
  }
}

/// A stage that applies its transform on an execution context, after a delay if there is one.
///
/// Results that the transform only passes on take neither the context nor the delay. Once the stage is a `follower`, its
/// source is the future that the transform made.
@_fixed_layout
@usableFromInline
final class SubmittedStage<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: MovingStage<
  Outcome<New, NewFailure>
>, @unchecked Sendable  // as the base class says
{
  @usableFromInline typealias ResultTransform = Transform<Result<Value, Failure>, Future<New, NewFailure>>

  /// Taken by the thread that moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var transform: ResultTransform?
  /// Where the transform runs; taken when a custom context gets the work, because that context can own the work.
  ///
  /// The work owns this stage, so a cycle would form. A queue owns it only until the work has run, so the stage keeps the queue.
  @exclusivity(unchecked) @usableFromInline final var context: ExecutionContext?
  @usableFromInline let delay: Int64  // in nanoseconds; zero for no delay
  @usableFromInline let transformed: TransformedResults
  /// Replaces `transform` if the stage is cancelled but cannot represent that; skips the effect or the delay.
  ///
  /// Taken as `transform` is. Any thread can read `hasBypass` instead.
  @exclusivity(unchecked) @usableFromInline final var bypass: ResultTransform?
  @usableFromInline let hasBypass: Bool
  /// The timer of the delay; `nil` without a delay.
  @usableFromInline let deadline: Interruption?

  @inlinable
  init(
    of source: Unmanaged<FutureState>,
    on context: ExecutionContext,
    afterNanoseconds delay: Int64,
    for transformed: TransformedResults,
    progressShare: Double,  // of the source
    bypass: ResultTransform?,
    _ transform: ResultTransform
  ) {
    self.transform = transform
    self.bypass = bypass
    hasBypass = bypass != nil
    self.context = context
    self.delay = delay
    self.transformed = transformed
    deadline = delay > 0 ? Interruption() : nil
    super.init(of: source, progressShare: source.onlyWaits ? 0 : progressShare) { stage, source, trampoline in
      unsafeDowncast(stage, to: SubmittedStage.self).deliver(from: source, in: trampoline)
    }
    // Never `.inline`: such a stage is `finished` before `deliver`, whose `claimSubmitted()` would then fail.
    kind = context.isImmediate ? .custom : context.consumerKind
  }

  /// Gets the result of the source: submits the transform to the context, or passes on a result that needs no transform.
  ///
  /// Another thread can cancel the stage meanwhile. Whichever thread wins `claimSubmitted()` uses or drops the transform.
  @_alwaysEmitIntoClient
  func deliver(from source: FutureState, in trampoline: Trampoline) {
    guard kind != .follower else { return resolve(as: source, in: trampoline) }  // the transform has made `source`
    let context = kind == .custom ? takeValue(at: &context) : context  // a custom one can own the work, and so `self`
    let typedSource = unsafeDowncast(source, to: State<Value, Failure>.self)
    guard let result = typedSource.result else {  // a broken source
      if claimSubmitted() { dropCaptures() }
      return passBreak(of: source, in: trampoline)
    }
    guard transformed.contain(result) else {  // a result that the transform only passes on
      guard claimSubmitted(), let transform = takeTransform() else { return }  // the winner always has a transform
      return follow(transform(result), in: trampoline)
    }
    if hasBypass, wasCancelled { return resolveWithoutContext(from: source) }  // by `bypass`, not the transform
    guard let context else { return }  // only a cancelled stage has none
    let work = StageWork(self, typedSource)
    if FuturesDiagnostics.mayTrackPendingFutures { trackWork(on: context, from: source) }
    if let deadline {
      deadline.start { context.schedule(afterNanoseconds: delay) { work.run() } }
    } else {
      context.execute { work.run() }
    }
  }

  /// Registers the submitted work, or its timer, in the table of pending futures.
  @usableFromInline
  func trackWork(on context: ExecutionContext, from source: FutureState) {
    let due = delay > 0 ? DispatchTime(afterNanoseconds: delay) : nil
    PendingFutures.shared.add(due == nil ? .work : .timer, self, due: due, context: context.identity, source: source)
  }

  /// Returns the queue that the stage is sure to need, or `nil`; called by the search for work that a blocked thread holds up.
  override func queueToRunOn(after source: FutureState) -> AnyObject? {
    if hasBypass, isCancelled { return nil }  // the bypass resolves the stage without the queue
    switch currentStatus {  // the search asks no follower, so `source` is not the future that the transform made
    case .listed, .listedByOther, .resultOnly:  // it still waits for the source's delivery
      // The answer is `nil` for a settled source, because its delivery is about to change the status. A pending source can still
      // have any result, so the stage is sure to need the queue only if it transforms each possible result.
      let transformsEachResult = transformed.hasValues && (transformed.hasFailures || Failure.self == Never.self)
      guard transformsEachResult, !source.isSettled else { return nil }
    case .submitted:  // the delivery sets this for each result, also for one that the stage only passes on
      let result = unsafeDowncast(source, to: State<Value, Failure>.self).result
      guard let result, transformed.contain(result) else { return nil }  // passes on without the queue
    case .new, .notified, .finished: return nil  // not attached yet, started, or left; only joins use `notified`
    }
    return context?.identity  // a delivery takes only a custom one, and the search asks only `queued` stages
  }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    facts.setOperation("transform", (Value.self, New.self))
    if isListed { facts.context = context?.identity }  // else a delivering thread can take the context meanwhile
  }

  /// Takes the transform for its only run, and drops `bypass`, which would replace it.
  @_alwaysEmitIntoClient
  func takeTransform() -> ResultTransform? {
    bypass = nil
    return takeValue(at: &transform)
  }

  @usableFromInline
  override func dropCaptures() {  // the transform will not run
    _ = takeTransform()
    deadline?.cancel()
  }

  override func dropContext() { context = nil }  // never runs while a delivery reads `context`; `dropCaptures()` can

  @usableFromInline
  override func resolveWithoutContext(from source: FutureState) {  // this stage is cancelled, but cannot represent that
    guard hasBypass, claimSubmitted(), let bypass else { return }  // only the thread that claims can read `bypass`
    dropCaptures()
    // Without a result the source is broken, and its delivery breaks the stage.
    guard let result = unsafeDowncast(source, to: State<Value, Failure>.self).result else { return }
    follow(bypass(result))  // so that a cancelled stage waits for no context and no delay
  }
}

/// The work that a stage submits to its context; breaks the stage if the context releases the work without running it (R2a).
@_fixed_layout
@usableFromInline
final class StageWork<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: Sendable {
  @usableFromInline let stage: SubmittedStage<Value, Failure, New, NewFailure>

  /// The source, which has the result; owned, because the stage needs it until it has run.
  @usableFromInline let source: State<Value, Failure>

  @inlinable
  init(_ stage: SubmittedStage<Value, Failure, New, NewFailure>, _ source: State<Value, Failure>) {
    self.stage = stage
    self.source = source
  }

  /// Applies the transform, unless the stage was cancelled before, or has run.
  @_alwaysEmitIntoClient
  func run() {
    guard stage.claimSubmitted(), let transform = stage.takeTransform(), let result = source.result else { return }
    stage.deadline?.fire()  // releases the closure that would cancel the timer, which has fired
    stage.follow(transform(result))
  }

  deinit {
    guard stage.claimSubmitted() else { return }
    stage.breakPromise(.droppedWork(of: source, resolving: stage))
    stage.dropCaptures()
  }
}
