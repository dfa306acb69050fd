extension ExecutionContext {
  /// Returns this context with the present value of a task-local, which callbacks on it see.
  ///
  /// A callback does not run in the task that attaches it. So it sees none of that task's locals (R8). This carries the value of
  /// one local that you name, and nothing else. It reads the value now: call it where you attach the callback.
  ///
  /// ```swift
  /// load(url).whenResolved(on: .global().carrying(RequestID.$current)) { result in
  ///   print("\(RequestID.current): \(result)")
  /// }
  /// ```
  ///
  /// Several locals: `.global().carrying(RequestID.$current).carrying(User.$current)`. The order of callbacks, the clock of the
  /// context and its cancellation stay as they are. Cost: two allocations, and one for each callback.
  /// - Parameter local: The task-local: `$` and its name.
  /// - Returns: A context that runs callbacks where this one does, with the value bound.
  public func carrying<Value: Sendable>(_ local: TaskLocal<Value>) -> Self {
    let value = local.get()
    let base = self
    return Self(
      kind: .custom(
        CustomContext(
          execute: { work in base.execute { local.withValue(value) { work() } } },
          after: { delay, work in
            base.schedule(afterNanoseconds: delay) { local.withValue(value) { work() } }
          },
          now: base.clock
        )
      )
    )
  }
}

extension MainContext {
  /// Returns this context with the present value of a task-local, which callbacks on it see.
  ///
  /// As `carrying(_:)` of `ExecutionContext`.
  public func carrying<Value: Sendable>(_ local: TaskLocal<Value>) -> Self {
    let value = local.get()
    return wrapped { work in local.withValue(value) { work() } }
  }
}
