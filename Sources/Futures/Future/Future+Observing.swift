// A side effect always names its context; there is no default. Each function has an overload for the main actor.

extension Future {
  /// Calls `callback` with the result, once, now or later.
  ///
  /// Use it at the end of a chain, where the result has an effect: a view changes, a file is written.
  ///
  /// ```swift
  /// let registration = load(url).whenResolved(on: .main) { result in finish(with: result) }
  /// registration.remove()  // the callback does not run; the request goes on
  /// ```
  ///
  /// The callbacks of one future on one context run in the order of attachment, also after the resolution (R2).
  /// `callback` and its captures are released when it has run, was removed, or can no longer run (R5). An attached
  /// callback is a consumer: while it is attached, the future is not cancelled for lack of consumers (R16).
  ///
  /// Cost: two allocations while the future is pending, one of them the closure. On a resolved future, `.immediate`
  /// allocates nothing.
  /// - Parameters:
  ///   - context: Where `callback` runs.
  ///   - callback: Gets the result.
  /// - Returns: A registration that removes the callback without cancelling the future. It can be ignored.
  @_alwaysEmitIntoClient
  @inline(__always)
  @discardableResult
  public func whenResolved(
    on context: ExecutionContext,
    _ callback: __owned @escaping @Sendable (Result<Value, Failure>) -> Void
  ) -> Registration {
    observe(on: context, .resolved(consume callback))
  }

  /// Calls `callback` with the result, once, on the main actor.
  @_alwaysEmitIntoClient
  @discardableResult
  public func whenResolved(
    on context: MainContext,
    _ callback: @escaping @MainActor (Result<Value, Failure>) -> Void
  ) -> Registration {
    whenResolved(on: context.context) { result in MainActor.assumeIsolated { callback(result) } }
  }

  /// Calls `callback` with the value if the future succeeds; otherwise releases `callback`.
  /// - Returns: A registration that removes the callback. It can be ignored.
  @_alwaysEmitIntoClient
  @inline(__always)
  @discardableResult
  public func whenSucceeded(
    on context: ExecutionContext,
    _ callback: __owned @escaping @Sendable (Value) -> Void
  ) -> Registration {
    observe(on: context, .succeeded(consume callback))
  }

  /// Calls `callback` with the value on the main actor if the future succeeds; otherwise releases `callback`.
  @_alwaysEmitIntoClient
  @discardableResult
  public func whenSucceeded(
    on context: MainContext,
    _ callback: @escaping @MainActor (Value) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in if case .success(let value) = result { callback(value) } }
  }

  /// Calls `callback` with the error if the future fails; otherwise releases `callback`.
  /// - Returns: A registration that removes the callback. It can be ignored.
  @_alwaysEmitIntoClient
  @inline(__always)
  @discardableResult
  public func whenFailed(
    on context: ExecutionContext,
    _ callback: __owned @escaping @Sendable (Failure) -> Void
  ) -> Registration {
    observe(on: context, .failed(consume callback))
  }

  /// Calls `callback` with the error on the main actor if the future fails; otherwise releases `callback`.
  @_alwaysEmitIntoClient
  @discardableResult
  public func whenFailed(
    on context: MainContext,
    _ callback: @escaping @MainActor (Failure) -> Void
  ) -> Registration {
    whenResolved(on: context) { result in if case .failure(let error) = result { callback(error) } }
  }
}

// MARK: - Forwarding

extension Future {
  /// Resolves `promise` as this future resolves; the same as `promise.follow(self)`.
  /// - Parameter promise: The promise to resolve. This future keeps the promise's future alive, but not the promise.
  @_alwaysEmitIntoClient
  public func forward(to promise: Promise<Value, Failure>) {
    promise.follow(self)
  }
}

extension Future: FutureProtocol {
  /// Calls `completion` with the result, once: on the thread that resolves, or on this thread if already resolved.
  @_alwaysEmitIntoClient
  public func forward(to completion: @escaping @Sendable (Result<Value, Failure>) -> Void) {
    whenResolved(on: .immediate, completion)
  }
}

// MARK: - Attaching

extension Future {
  /// If all earlier consumers have the result, runs the callback now or submits it; otherwise attaches it.
  @_alwaysEmitIntoClient
  @inline(__always)
  func observe(on context: ExecutionContext, _ callback: __owned Callback<Value, Failure>) -> Registration {
    // `nil` while the future is pending or delivers: then the callback comes after the earlier ones. Such a future has a state.
    if let result = deliveredResult {
      if context.isImmediate {
        let trampoline = Trampoline.current
        // If deliveries nest too deeply, `submit` defers the callback.
        if trampoline.enter() {
          callback(result)
          trampoline.leave()
          return .finished
        }
      }
      return Self.submit(consume callback, with: result, on: context)
    }
    guard context.isImmediate else { return attachObserver(SubmittedObserver(on: context, consume callback)) }
    // The first inline callback of a promise's future takes the free slot of the state, which saves an allocated observer.
    guard withState({ $0.remove(.hasFreeSlot) }) else { return attachObserver(Observer(consume callback)) }
    // This is outside `withState`, because its closure would copy the callback.
    unmanagedPromiseState.takeUnretainedValue().storeCallback(consume callback)
    // The state is its own consumer. The list does not retain it, because the promise keeps it alive while the callback waits.
    withState { _ = $0.attach($0) }  // also delivers the result, if the future has settled meanwhile
    return Registration(.future(unmanagedBase.takeUnretainedValue(), nil))  // `nil`: the state itself
  }

  /// The state, which must be that of a promise: the caller has claimed the slot, which only such a state has.
  @_alwaysEmitIntoClient
  var unmanagedPromiseState: Unmanaged<PromiseState<Outcome<Value, Failure>>> {
    .fromOpaque(unmanagedState.unsafelyUnwrapped.toOpaque())
  }

  /// Attaches an observer, whose reference the list of the state then owns.
  @_alwaysEmitIntoClient
  @inline(__always)
  func attachObserver(_ observer: Observer<Value, Failure>) -> Registration {
    withState { _ = $0.attach(.passRetained(observer)) }  // returns `true`: no other code has the new observer yet
    return Registration(.future(unmanagedBase.takeUnretainedValue(), observer))
  }
}

// MARK: - Submitting a result

extension Future {
  /// Submits `callback` of a resolved future to its context: now, or when fewer deliveries nest.
  @_alwaysEmitIntoClient
  @inline(never)
  static func submit(
    _ callback: __owned Callback<Value, Failure>,
    with result: Result<Value, Failure>,
    on context: ExecutionContext
  ) -> Registration {
    let consumer = SubmittedObserver(on: context, callback)
    consumer.enter(.submitted)  // from now on the registration can remove it
    let trampoline = Trampoline.current
    let entered = trampoline.enter()
    // A queue never runs the callback inside this call. Other contexts can, so they get it later if deliveries nest too deeply.
    if entered || context.consumerKind == .queued {
      consumer.submit(result, from: nil)  // no state delivers to it
    } else {
      trampoline.defer { consumer.submit(result, from: nil) }
    }
    if entered { trampoline.leave() }
    return Registration(.context(consumer))
  }
}
