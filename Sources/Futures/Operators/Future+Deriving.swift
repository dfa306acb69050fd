extension Future {
  /// Returns a future that resolves as the future that `transform` makes of the result.
  ///
  /// Each transforming operator calls this, or is a faster form of it.
  /// - Parameters:
  ///   - context: Where `transform` runs for the results in `transformed`.
  ///   - delay: The delay before `transform` runs there; zero or less is no delay.
  ///   - transformed: The results that `transform` changes. It only passes other results on, so it runs inline for them.
  ///   - progressShare: The share of this future in the derived progress; 1 for a stage that passes progress on.
  ///   - onlyWaits: Whether the stage only waits, as a delay does. If its source does no work either, progress leaves both out.
  ///   - bypass: Runs in place of `transform` if the stage is cancelled but cannot represent that.
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  func derive<New: Sendable, NewFailure: Error>(
    on context: ExecutionContext = .immediate,
    afterNanoseconds delay: Int64 = 0,
    for transformed: TransformedResults = .all,
    progressShare: Double = 1,
    onlyWaits: Bool = false,
    bypass: (@Sendable (Result<Value, Failure>) -> Future<New, NewFailure>)? = nil,
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>
  ) -> Future<New, NewFailure> {
    let transform = Transform(transform)  // so that the optimizer does not copy this function for each closure
    let runsInline = context.isImmediate && delay <= 0
    // A result that all earlier consumers have, and that needs neither the context nor the delay, needs no stage.
    if let result = deliveredResult, runsInline || !transformed.contain(result) {
      let trampoline = Trampoline.current
      if trampoline.enter() {
        defer { trampoline.leave() }
        return Future<New, NewFailure>.derived(from: transform(result), after: progressShare)
      }
      // Deliveries nest too deeply here. So the transform runs later, unless the derived future is cancelled before.
      let derived = FollowingStage<Outcome<New, NewFailure>>(progressShare: progressShare)
      trampoline.defer {
        guard !derived.isResolved else { return }
        let bypassed = derived.wasCancelled ? bypass?(result) : nil
        derived.follow(bypassed ?? transform(result), in: trampoline)
      }
      return Future<New, NewFailure>(derived)
    }
    let source = asSharedState
    // Only if the source does no work either. A future without a state was resolved from the start, so it did none.
    let onlyWaits = onlyWaits && (!hasState || source.withState { $0.has(.onlyWaits) })
    // Of the two kinds of stages below, only a submitted one can run `bypass` in place of the transform.
    guard runsInline, bypass == nil || Cancelled<NewFailure>.isExpressible else {
      let stage = SubmittedStage(
        of: source.unmanagedBase,
        on: context,
        afterNanoseconds: delay,
        for: transformed,
        progressShare: progressShare,
        bypass: bypass.map { Transform($0) },
        transform
      )
      if onlyWaits { stage.insert(.onlyWaits) }
      return source.attachStage(stage)
    }
    let stage = FlatMapStage(ofResult: source.unmanagedBase, progressShare: progressShare, transform)
    if onlyWaits { stage.insert(.onlyWaits) }
    return source.attachStage(stage)
  }

  /// Returns the derived future of a resolved future, if `transform` runs inline and at once.
  ///
  /// An operator tries this first, because `derive` needs an allocated closure.
  /// - Parameters:
  ///   - context: The context of `transform` for the results in `transformed`.
  ///   - transformed: The results that `transform` changes. It only passes other results on, so it runs inline for them.
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future. `nil` if this future is pending or delivers, if `transform` runs on a context, or if
  ///   deliveries nest too deeply.
  @_alwaysEmitIntoClient
  @inline(__always)
  func deriveAtOnce<New: Sendable, NewFailure: Error>(
    on context: ExecutionContext,
    for transformed: TransformedResults,
    _ transform: (Result<Value, Failure>) -> Future<New, NewFailure>
  ) -> Future<New, NewFailure>? {
    guard let result = deliveredResult, context.isImmediate || !transformed.contain(result) else { return nil }
    let trampoline = Trampoline.current
    guard trampoline.enter() else { return nil }
    defer { trampoline.leave() }
    return .derived(from: transform(result), after: 1)  // the share 1 passes progress on, as in `derive` by default
  }

  /// The result, if all earlier consumers have it, so that a new consumer can get it at once; otherwise `nil`.
  @_alwaysEmitIntoClient
  var deliveredResult: Result<Value, Failure>? {
    hasState ? withState { $0.deliveredResult } : peek()
  }

  /// The state behind the handle, as its base class and without a counted reference; the handle must have a state.
  @_alwaysEmitIntoClient
  var unmanagedBase: Unmanaged<FutureState> { .fromOpaque(unmanagedState.unsafelyUnwrapped.toOpaque()) }

  /// Attaches a new stage to the state behind the handle, and returns the stage's future.
  @_alwaysEmitIntoClient
  func attachStage<New: Sendable, NewFailure: Error>(
    _ stage: Stage<Outcome<New, NewFailure>>
  ) -> Future<New, NewFailure> {
    withState { $0.attachStage(stage) }
  }

  /// Returns the derived future after its transform has run inline and made `other`.
  ///
  /// The derived future takes over the state of a pending `other`, if no other code can reach that state; otherwise it
  /// follows `other`. In its progress, `other` fills the part after the source's `share`, or the whole if `share` is 1.
  @_alwaysEmitIntoClient
  static func derived(from other: consuming Future, after share: Double) -> Future {
    if let result = other.peek() { return .resolved(result) }
    // `takeState` consumes the handle `other`, and no variable keeps it: a second reference would make `claimExclusive` fail.
    var inner: FutureState = other.takeState().unsafelyUnwrapped
    if FutureState.claimExclusive(&inner, after: share) {
      return Future(unsafeDowncast(inner, to: State<Value, Failure>.self))
    }
    let derived = FollowingStage<Outcome<Value, Failure>>(progressShare: share)
    derived.follow(inner)
    return Future(derived)
  }
}

extension Result where Success: Sendable {
  /// Returns the future that `transform` makes of the value, or a future with the failure.
  @_alwaysEmitIntoClient
  @inline(__always)
  func andThen<New>(_ transform: (Success) -> Future<New, Failure>) -> Future<New, Failure> {
    switch self {
    case .success(let value): transform(value)
    case .failure(let error): .failed(error)
    }
  }

  /// Returns the future that `transform` makes of the failure, or a future with the value.
  @_alwaysEmitIntoClient
  @inline(__always)
  func orElse<New>(_ transform: (Failure) -> Future<Success, New>) -> Future<Success, New> {
    switch self {
    case .success(let value): .succeeded(value)
    case .failure(let error): transform(error)
    }
  }
}

extension FutureState {
  /// Attaches a new stage to this state, and returns the stage's future; if this state is settled, it delivers to the stage now.
  @_alwaysEmitIntoClient
  final func attachStage<New, NewFailure>(_ stage: Stage<Outcome<New, NewFailure>>) -> Future<New, NewFailure> {
    attach(.passRetained(stage))
    return Future(stage)
  }
}
