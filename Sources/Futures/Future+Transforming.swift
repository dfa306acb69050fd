extension Future {
  /// A future of the transformed value; a failure passes on unchanged.
  ///
  /// Dropping the derived future does not stop the transform (R5). Cost: three allocations, one of them the closure, while
  /// this future is unresolved; none if it is resolved.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the new value.
  /// - Returns: The derived future.
  @inlinable
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) -> New
  ) -> Future<New, Failure> {
    switch immediateResult(on: context) {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let loop = DeliveryLoop.current
      if loop.enter() {
        defer { loop.leave() }
        return .succeeded(transform(value))
      }
      let derived = State<New, Failure>(hasPromise: false)
      loop.defer { derived.resolve(.success(transform(value)), in: loop) }
      return Future<New, Failure>(derived)
    case nil:
      let derived = State<New, Failure>(hasPromise: false)
      if context.isImmediate {
        attach(MapNode(derived, transform))
      } else {
        attach(
          SubmittedStageNode(derived, on: context) { value, derived in
            derived.resolve(.success(transform(value)), in: nil)
          }
        )
      }
      return Future<New, Failure>(derived)
    }
  }

  /// A future of the transformed value, or of the error that `transform` throws; a failure passes on unchanged.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the new value, or throws what the derived future fails with.
  /// - Returns: The derived future.
  @inlinable
  @_disfavoredOverload
  public func map<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) throws(Failure) -> New
  ) -> Future<New, Failure> {
    flatMap(on: context) { value in
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
  ///   - transform: Makes the future to resolve as. Returning the derived future itself would never end, and traps.
  /// - Returns: The derived future.
  @inlinable
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    switch immediateResult(on: context) {
    case .failure(let error)?: return .failed(error)
    case .success(let value)?:
      let loop = DeliveryLoop.current
      if loop.enter() {
        defer { loop.leave() }
        return Future<New, Failure>.derived(from: transform(value), in: loop)
      }
      let derived = State<New, Failure>(hasPromise: false)
      loop.defer { derived.follow(transform(value), in: loop) }
      return Future<New, Failure>(derived)
    case nil:
      let derived = State<New, Failure>(hasPromise: false)
      if context.isImmediate {
        attach(FlatMapNode(derived, transform))
      } else {
        attach(
          SubmittedStageNode(derived, on: context) { value, derived in derived.follow(transform(value), in: nil) }
        )
      }
      return Future<New, Failure>(derived)
    }
  }

  /// A future that resolves as the one that `transform` makes of the value, or fails as `transform` throws.
  /// - Parameters:
  ///   - context: Where `transform` runs: inline, on the thread that resolves this future, unless told otherwise.
  ///   - transform: Makes the future to resolve as, or throws what the derived future fails with.
  /// - Returns: The derived future.
  @inlinable
  @_disfavoredOverload
  public func flatMap<New: Sendable>(
    on context: ExecutionContext = .immediate,
    _ transform: @escaping @Sendable (Value) throws(Failure) -> Future<New, Failure>
  ) -> Future<New, Failure> {
    flatMap(on: context) { value in
      do throws(Failure) {
        return try transform(value)
      } catch {
        return .failed(error)
      }
    }
  }
}

extension Future {
  /// The result, if a transform on `context` may see it at once: it is there, its delivery is over, and no hop is asked for.
  @inlinable
  func immediateResult(on context: ExecutionContext) -> Result<Value, Failure>? {
    switch storage {
    case .succeeded(let value): return context.isImmediate ? .success(value) : nil
    case .failed(let error): return .failure(error)
    case .shared(let state):
      return context.isImmediate ? state.deliveredResult : nil
    }
  }

  /// Adds a stage, which may be due at once.
  @inlinable
  func attach(_ node: CallbackNode) {
    switch storage {
    case .shared(let state): state.attach(node)
    case .succeeded, .failed:
      let state = State<Value, Failure>(hasPromise: false)
      state.resolve(peek().unsafelyUnwrapped, in: nil)
      state.attach(node)
    }
  }

  /// What a transform returned, as a future of its own: itself if it is resolved or nobody else has it, else a follower.
  @inlinable
  static func derived(from other: consuming Future, in loop: DeliveryLoop) -> Future {
    if let result = other.peek() { return .resolved(result) }
    guard var inner = other.takeState() else { preconditionFailure("An unresolved future has no state.") }
    if State<Value, Failure>.isExclusive(&inner) { return Future(inner) }
    let derived = State<Value, Failure>(hasPromise: false)
    derived.follow(Future(inner), in: loop)
    return Future(derived)
  }
}
