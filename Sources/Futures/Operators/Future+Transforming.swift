extension Future {
  /// Transforms the value; a failure passes on unchanged.
  ///
  /// Use it to compute something from a value that is not there yet. If the computation itself returns a future, write
  /// `flatMap`.
  ///
  /// ```swift
  /// let thumbnail = load(url).map { data in decode(data) }
  /// thumbnail.whenSucceeded(on: .main) { _ in label.text = "decoded" }
  /// ```
  ///
  /// If the derived future is dropped, `transform` still runs (R5). Cost: one allocation while this future is
  /// pending, and one more if `transform` captures something; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs; `.immediate` by default.
  ///   - transform: Makes the new value.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  @inline(__always)
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: __owned @escaping @Sendable (Value) -> New
  ) -> Future<New, Failure> {
    // Inlined, so a call site with a constant context contains one of the two calls only.
    context.isImmediate ? map(Transform(consume transform)) : map(on: context, Transform(consume transform))
  }

  /// Transforms the value inline: now if all earlier consumers have the result, otherwise in a stage.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  func map<New: Sendable>(_ transform: __owned Transform<Value, New>) -> Future<New, Failure> {
    switch deliveredResult {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let trampoline = Trampoline.current
      if trampoline.enter() {
        defer { trampoline.leave() }
        return .succeeded(transform(value))
      }
      // Deliveries nest too deeply here. So the transform runs later, unless the derived future is cancelled before.
      let derived = State<New, Failure>()
      trampoline.defer { if !derived.isResolved { derived.resolve(.success(transform(value)), in: trampoline) } }
      return Future<New, Failure>(derived)
    case nil:
      return attachStage(MapStage<Value, Outcome<New, Failure>>(of: unmanagedBase, consume transform))
    }
  }

  /// Transforms the value on a context other than `immediate`; a failure passes on inline, because of `for: .values`.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  func map<New: Sendable>(on context: ExecutionContext, _ transform: Transform<Value, New>) -> Future<New, Failure> {
    derive(on: context, for: .values) { result in result.andThen { value in .succeeded(transform(value)) } }
  }

  /// Transforms the value, or fails with the error that `transform` throws; a failure passes on unchanged.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  @_disfavoredOverload
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) throws(Failure) -> New
  ) -> Future<New, Failure> {
    // 1: the whole progress is that of this future, because the closure makes only resolved futures, which do no work.
    flatMap(on: context, progressShare: 1) { value in
      do throws(Failure) {
        return .succeeded(try transform(value))
      } catch {
        return .failed(error)
      }
    }
  }

  /// Resolves as the future that `transform` makes of the value; a failure passes on unchanged.
  ///
  /// Use it to start the next asynchronous step with the value of the one before. The steps read from top to bottom, and
  /// the first failure ends them all.
  ///
  /// ```swift
  /// let picture = loadName().flatMap { name in
  ///   load(url.appending(path: name))
  /// }
  /// ```
  ///
  /// Recursion costs neither stack nor memory: `f(n) = step().flatMap { f(n - 1) }` runs for any `n` (R6). If no
  /// other code has the future that `transform` returns, that future shares one state with the derived future.
  ///
  /// Both futures have one failure type. For a future with another one, write ``eraseFailure()`` or `mapError`.
  ///
  /// If the derived future is dropped, `transform` still runs (R5). Cost: one allocation while this future is
  /// pending, and one more if `transform` captures something. A resolved future allocates nothing if the returned
  /// future is resolved too, or was made in `transform`.
  /// - Parameters:
  ///   - context: Where `transform` runs; `.immediate` by default.
  ///   - progressShare: This future's share of the progress, in 0...1. The rest is for the second future (R19).
  ///   - transform: Makes the second future. Returning the derived future itself traps, because it would never resolve.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  @inline(__always)
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: __owned @escaping @Sendable (Value) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    // Inlining leaves one call if the context is constant. `Transform` keeps the optimizer from copying the callee per closure.
    context.isImmediate
      ? flatMap(progressShare, Transform(consume transform))
      : flatMap(on: context, progressShare, Transform(consume transform))
  }

  /// Transforms the value inline: now if all earlier consumers have the result, otherwise in a stage.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  func flatMap<New: Sendable>(
    _ progressShare: Double,
    _ transform: __owned Transform<Value, Future<New, Failure>>
  ) -> Future<New, Failure> {
    let share = progressShare.clampedToFraction
    switch deliveredResult {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let trampoline = Trampoline.current
      if trampoline.enter() {
        defer { trampoline.leave() }
        return Future<New, Failure>.derived(from: transform(value), after: share)
      }
      // Deliveries nest too deeply here. So the transform runs later, unless the derived future is cancelled before.
      let derived = FollowingStage<Outcome<New, Failure>>(progressShare: share)
      trampoline.defer { if !derived.isResolved { derived.follow(transform(value), in: trampoline) } }
      return Future<New, Failure>(derived)
    case nil:
      return attachStage(FlatMapStage(ofValue: unmanagedBase, progressShare: share, consume transform))
    }
  }

  /// Resolves as the future that `transform` makes on a context other than `immediate`; `for: .values` passes failures on inline.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  func flatMap<New: Sendable>(
    on context: ExecutionContext,
    _ progressShare: Double,
    _ transform: Transform<Value, Future<New, Failure>>
  ) -> Future<New, Failure> {
    derive(on: context, for: .values, progressShare: progressShare.clampedToFraction) { result in
      result.andThen { value in transform(value) }
    }
  }

  /// Resolves as the future that `transform` makes of the value, or fails with the error that it throws.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  @_disfavoredOverload
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: @escaping @Sendable (Value) throws(Failure) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    flatMap(on: context, progressShare: progressShare) { value in
      do throws(Failure) {
        return try transform(value)
      } catch {
        return .failed(error)
      }
    }
  }
}

extension Future {
  /// Resolves as the future that `transform` makes of the value; that future cannot fail.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types, and not in each caller
  @_disfavoredOverload
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: @escaping @Sendable (Value) -> Future<New, Never>
  ) -> Future<New, Failure> {
    flatMap(on: context, progressShare: progressShare) { value -> Future<New, Failure> in
      transform(value).setFailureType()
    }
  }

  /// Replaces the value by `Void`; a failure passes on unchanged.
  ///
  /// Cost: one allocation while this future is pending, none if it is resolved.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func ignoreValue() -> Future<Void, Failure> {
    map { _ in }
  }
}

extension Future where Failure == Never {
  /// Resolves as the future that `transform` makes of the value; that future can fail, although this one cannot.
  @_alwaysEmitIntoClient
  @inline(never)  // compiled once for each combination of types
  @_disfavoredOverload  // otherwise a call is ambiguous if neither future can fail
  public func flatMap<V: Sendable, F: Error>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: @escaping @Sendable (Value) -> Future<V, F>
  ) -> Future<V, F> {
    derive(on: context, for: .values, progressShare: progressShare.clampedToFraction) { transform($0.get()) }
  }

  /// Gives a future that cannot fail another failure type.
  ///
  /// For example, `zip` needs it for a future that `recover` made. For a future that can fail, write `mapError`.
  ///
  /// Cost: four allocations while this future is pending, none if it is resolved.
  /// - Parameter type: The failure type, if it cannot be inferred.
  /// - Returns: The derived future. Cancelling it cancels this future, too, unless something else waits for that (R16).
  @_alwaysEmitIntoClient
  public func setFailureType<New: Error>(to type: New.Type = New.self) -> Future<Value, New> {
    // `onlyWaits`: this stage does no work. If its source does none either, such as `after(_:)`, a join's progress leaves both out.
    derive(onlyWaits: true) { result in .succeeded(result.get()) }
  }
}
