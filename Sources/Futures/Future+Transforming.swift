extension Future {
  /// A future of the transformed value; a failure passes on unchanged.
  ///
  /// Dropping the derived future does not stop the transform (R5). Cost: three allocations, one of them the closure, while
  /// this future is unresolved; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the new value.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: __owned @escaping @Sendable (Value) -> New
  ) -> Future<New, Failure> {
    guard context.isImmediate else {
      return derive(on: context, for: .values) { result in .resolved(result.map(transform)) }
    }
    switch deliveredResult {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let loop = DeliveryLoop.current
      if loop.enter() {
        defer { loop.leave() }
        return .succeeded(transform(value))
      }
      let derived = State<New, Failure>(hasPromise: false)
      loop.defer { if !derived.hasEnded { derived.resolve(.success(transform(value)), in: loop) } }
      return Future<New, Failure>(derived)
    case nil:
      let derived = State<New, Failure>(hasPromise: false)
      attach(.passRetained(MapNode(derived, consume transform)), resolving: derived)
      return Future<New, Failure>(derived)
    }
  }

  /// A future of the transformed value, or of the error that `transform` throws; a failure passes on unchanged.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the new value, or throws what the derived future fails with.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  @_disfavoredOverload
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) throws(Failure) -> New
  ) -> Future<New, Failure> {
    flatMap(on: context, progressShare: 1) { value in
      do throws(Failure) {
        return .succeeded(try transform(value))
      } catch {
        return .failed(error)
      }
    }
  }

  /// A future that resolves as the one that `transform` makes of the value; a failure passes on unchanged.
  ///
  /// Recursion costs neither stack nor memory: `f(n) = step().flatMap { f(n - 1) }` runs for any `n`, since the future that
  /// `transform` makes shares the state of the derived one when nobody else has it (R6).
  ///
  /// Dropping the derived future does not stop the transform (R5). Cost: three allocations, one of them the closure, while
  /// this future is unresolved; none if it is resolved, and the one that `transform` returns is resolved or made there.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - progressShare: The share of the progress, in 0...1, that is that of this future; the rest is for the second (R19).
  ///   - transform: Makes the future to resolve as. Returning the derived future itself would never end, and traps.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: __owned @escaping @Sendable (Value) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    let share = progressShare.clampedToFraction
    guard context.isImmediate else {
      return derive(on: context, for: .values, progressShare: share) { result in
        switch result {
        case .success(let value): transform(value)
        case .failure(let error): .failed(error)
        }
      }
    }
    switch deliveredResult {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let loop = DeliveryLoop.current
      if loop.enter() {
        defer { loop.leave() }
        return Future<New, Failure>.derived(from: transform(value), in: loop, after: share)
      }
      let derived = State<New, Failure>(hasPromise: false)
      loop.defer { if !derived.hasEnded { derived.follow(transform(value), in: loop, after: share) } }
      return Future<New, Failure>(derived)
    case nil:
      let derived = State<New, Failure>(hasPromise: false)
      attach(.passRetained(FlatMapNode(derived, progressShare: share, consume transform)), resolving: derived)
      return Future<New, Failure>(derived)
    }
  }

  /// A future that resolves as the one that `transform` makes of the value, or fails as `transform` throws.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - progressShare: The share of the progress, in 0...1, that is that of this future; the rest is for the second (R19).
  ///   - transform: Makes the future to resolve as, or throws what the derived future fails with.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
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
  /// A future that resolves as the one that `transform` makes of the value, which cannot fail.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - progressShare: The share of the progress, in 0...1, that is that of this future; the rest is for the second (R19).
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
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

  /// A future that tells only when this one succeeds, and passes its failure on.
  ///
  /// Cost: three allocations while this future is unresolved, none if it is resolved.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func ignoreValue() -> Future<Void, Failure> {
    map { _ in }
  }
}

extension Future where Failure == Never {
  /// A future that resolves as the one that `transform` makes of the value, which may fail though this one cannot.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - progressShare: The share of the progress, in 0...1, that is that of this future; the rest is for the second (R19).
  ///   - transform: Makes the future to resolve as.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  @_disfavoredOverload
  public func flatMap<V: Sendable, F: Error>(
    on context: ExecutionContext = .immediate,
    progressShare: Double = 0.5,
    _ transform: @escaping @Sendable (Value) -> Future<V, F>
  ) -> Future<V, F> {
    derive(on: context, for: .values, progressShare: progressShare.clampedToFraction) { result in
      switch result {
      case .success(let value): transform(value)
      }
    }
  }

  /// The same future, as one that could fail.
  ///
  /// Cost: four allocations while this future is unresolved, none if it is resolved.
  /// - Parameter type: The failure type; it is inferred where the context says it.
  /// - Returns: The derived future. Cancelling it leaves this one, which is cancelled too if nobody else needs it; a transform
  ///   that has not started never runs (R16, R17).
  @inlinable
  public func setFailureType<New: Error>(to type: New.Type = New.self) -> Future<Value, New> {
    derive { result in
      switch result {
      case .success(let value): .succeeded(value)
      }
    }
  }
}
