public import Synchronization

// A side effect always says where it runs: there is no default context, and every function has a twin for the main actor.

extension Future {
  /// Calls `callback` with the result, once, now or later.
  ///
  /// The callbacks of one future on one context run in the order in which they were attached (R2), and also if the future
  /// was resolved before. `callback` and what it captures are released as soon as it has run, was removed, or can no longer
  /// run (R5).
  ///
  /// Cost: two allocations while the future is unresolved, one of them the closure; on `.immediate` none after that.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the result.
  /// - Returns: What takes the callback away again, which cancels nothing. Ignoring it is fine: a callback counts as somebody
  ///   who needs the future (R16).
  @inlinable
  @inline(__always)
  @discardableResult
  public func whenResolved(
    on context: ExecutionContext,
    _ callback: __owned @escaping @Sendable (Result<Value, Failure>) -> Void
  ) -> Registration {
    // While the result is being delivered, the callback has to queue behind those that came before it.
    if let result = deliveredResult {
      if context.isImmediate {
        let loop = DeliveryLoop.current
        if loop.enter() {
          callback(result)
          loop.leave()
          return .finished
        }
      }
      return Self.submit(consume callback, with: result, on: context)
    }
    let node =
      context.isImmediate
      ? ObserverNode(consume callback) : SubmittedObserverNode(on: context, consume callback)
    withState { _ = $0.attach(.passRetained(node)) }
    return Registration(state: unmanagedState?.takeUnretainedValue(), node: node)
  }

  /// Calls `callback` with the result, once, on the main actor; its closure needs no annotation.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - callback: Gets the result.
  /// - Returns: What takes the callback away again. Ignoring it is fine.
  @discardableResult
  public func whenResolved(
    on context: MainContext,
    _ callback: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) -> Registration {
    whenResolved(on: context.context) { result in MainActor.assumeIsolated { callback(result) } }
  }

  /// Calls `callback` with the value, if the future succeeds; else releases it.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the value.
  /// - Returns: What takes the callback away again. Ignoring it is fine.
  @inlinable
  @discardableResult
  public func whenSucceeded(
    on context: ExecutionContext,
    _ callback: @escaping @Sendable (Value) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in
      if case .success(let value) = result { callback(value) }
    }
  }

  /// Calls `callback` with the value on the main actor, if the future succeeds; else releases it.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - callback: Gets the value.
  /// - Returns: What takes the callback away again. Ignoring it is fine.
  @discardableResult
  public func whenSucceeded(
    on context: MainContext,
    _ callback: @escaping @MainActor (Value) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in
      if case .success(let value) = result { callback(value) }
    }
  }

  /// Calls `callback` with the error, if the future fails; else releases it.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the error.
  /// - Returns: What takes the callback away again. Ignoring it is fine.
  @inlinable
  @discardableResult
  public func whenFailed(
    on context: ExecutionContext,
    _ callback: @escaping @Sendable (Failure) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in
      if case .failure(let error) = result { callback(error) }
    }
  }

  /// Calls `callback` with the error on the main actor, if the future fails; else releases it.
  /// - Parameters:
  ///   - context: `.main` or `.mainImmediate`.
  ///   - callback: Gets the error.
  /// - Returns: What takes the callback away again. Ignoring it is fine.
  @discardableResult
  public func whenFailed(
    on context: MainContext,
    _ callback: @escaping @MainActor (Failure) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in
      if case .failure(let error) = result { callback(error) }
    }
  }
}

// MARK: - Handing it on

extension Future {
  /// Has `promise` resolve as this future does; the same as `promise.follow(self)`.
  /// - Parameter promise: The promise to resolve. This future keeps only its future alive, not the promise itself.
  @inlinable
  public func forward(to promise: Promise<Value, Failure>) {
    promise.follow(self)
  }
}

extension Future: FutureProtocol {
  /// Calls `completion` with the result, once, on the thread that resolves, or on this one if the future is resolved.
  /// - Parameter completion: Gets the result.
  @inlinable
  public func forward(to completion: @escaping @Sendable (Result<Value, Failure>) -> Void) {
    whenResolved(on: .immediate, completion)
  }
}

// MARK: - A result that is there

extension Future {
  /// Hands `callback` to its context, for a future that needs no state any more.
  @inlinable
  @inline(never)
  static func submit(
    _ callback: __owned @escaping @Sendable (Result<Value, Failure>) -> Void,
    with result: Result<Value, Failure>,
    on context: ExecutionContext
  ) -> Registration {
    let node = SubmittedObserverNode(on: context, callback)
    node.status.store(.submitted, ordering: .relaxed)
    let loop = DeliveryLoop.current
    let entered = loop.enter()
    if entered || context.nodeKind == .queued {
      node.submit(result)
    } else {
      loop.defer { node.submit(result) }
    }
    if entered { loop.leave() }
    return Registration(state: nil, node: node)
  }
}
