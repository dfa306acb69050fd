extension Future {
  /// A future that resolves as the one that `transform` makes of the result.
  ///
  /// Every transform is this, or a faster form of it.
  /// - Parameters:
  ///   - context: Where `transform` runs for the results that `transformed` names; the others it only passes on, inline.
  ///   - delay: How long to wait before that; zero or less is no delay.
  ///   - transformed: What `transform` is about.
  ///   - progressShare: The share of the progress that is that of this future; 1 where a stage passes progress on.
  ///   - bypass: What the derived future comes to without its effect, or its delay, where it was cancelled but cannot say so.
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future.
  @inlinable
  func derive<New: Sendable, NewFailure: Error>(
    on context: ExecutionContext = .immediate,
    after delay: Duration? = nil,
    for transformed: TransformedResults = .all,
    progressShare: Double = 1,
    bypass: (@Sendable (Result<Value, Failure>) -> Future<New, NewFailure>)? = nil,
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>
  ) -> Future<New, NewFailure> {
    let delay = delay.flatMap { $0 > .zero ? $0 : nil }
    let runsInline = context.isImmediate && delay == nil
    if let result = deliveredResult, runsInline || !transformed.contain(result) {
      let loop = DeliveryLoop.current
      if loop.enter() {
        defer { loop.leave() }
        return Future<New, NewFailure>.derived(from: transform(result), in: loop, after: progressShare)
      }
      let derived = State<New, NewFailure>(hasPromise: false)
      loop.defer { if !derived.hasEnded { derived.follow(transform(result), in: loop, after: progressShare) } }
      return Future<New, NewFailure>(derived)
    }
    let derived = State<New, NewFailure>(hasPromise: false)
    if runsInline {
      attach(.passRetained(TransformNode(derived, progressShare: progressShare, transform)), resolving: derived)
    } else {
      let stage = SubmittedStageNode(
        derived,
        on: context,
        after: delay,
        for: transformed,
        progressShare: progressShare,
        bypass: bypass,
        transform
      )
      attach(.passRetained(stage), resolving: derived)
    }
    return Future<New, NewFailure>(derived)
  }

  /// The result, if it is there and all that came before have been told.
  @inlinable
  var deliveredResult: Result<Value, Failure>? {
    hasState ? withState { $0.deliveredResult } : peek()
  }

  /// Adds a stage, which may be due at once, and which nobody else knows yet, and neither `derived`.
  @inlinable
  func attach(_ stage: Unmanaged<StageNode>, resolving derived: AnySharedState) {
    guard hasState else {
      let state = State<Value, Failure>(hasPromise: false)
      state.resolve(peek().unsafelyUnwrapped, in: nil)
      return state.attach(stage, resolving: derived)
    }
    withState { $0.attach(stage, resolving: derived) }
  }

  /// What a transform returned, as a future of its own: itself if it is resolved or nobody else has it, else a follower.
  @inlinable
  static func derived(from other: consuming Future, in loop: DeliveryLoop, after share: Double) -> Future {
    if let result = other.peek() { return .resolved(result) }
    guard var inner = other.takeState() else { preconditionFailure("An unresolved future has no state.") }
    if State<Value, Failure>.isExclusive(&inner, after: share) { return Future(inner) }
    let derived = State<Value, Failure>(hasPromise: false)
    derived.follow(Future(inner), in: loop, after: share)
    return Future(derived)
  }
}

extension AnySharedState {
  /// Adds a stage, which may be due at once, and which nobody else knows yet, and neither `derived`.
  @inlinable
  final func attach(_ stage: Unmanaged<StageNode>, resolving derived: AnySharedState) {
    derived.details = .stage(stage)
    stage._withUnsafeGuaranteedRef { $0.source = Unmanaged.passUnretained(self) }
    attach(Unmanaged<CallbackNode>.fromOpaque(stage.toOpaque()))
  }
}
