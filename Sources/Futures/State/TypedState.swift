/// The state of a future with its outcome.
///
/// It holds only the code that needs the types. `FutureState` has the rest, which is compiled once.
@_fixed_layout
@usableFromInline
package class TypedState<Stored: OutcomeStorage>: FutureState, @unchecked Sendable {
  // @unchecked: `outcome` is written once, under the lock, before `phase` announces it.
  @exclusivity(unchecked) @usableFromInline final var outcome: Stored

  @usableFromInline package typealias Value = Stored.Value
  @usableFromInline package typealias Failure = Stored.Failure

  @inlinable
  override init(isForPromise: Bool, deliver: @escaping Delivery) {
    outcome = .pending
    super.init(isForPromise: isForPromise, deliver: deliver)
  }

  @inlinable
  override package func breakPromise(_ reason: BreakReason, in trampoline: Trampoline?) {
    // A cancelled API can drop its completion handler. The cancellation itself supplies the failure.
    if Cancelled<Failure>.isExpressible, wasCancelled { return }
    guard let error = reason.error else { return orphan() }
    if let failure = Self.failure(error) {
      resolve(.failure(failure), in: trampoline)
    } else {
      breakForever(reason, in: trampoline)
    }
  }

  /// Returns `error` as a failure, if the failure type can hold it.
  ///
  /// It compares the types first, because a cast takes 700 instructions.
  @inlinable
  final class func failure(_ error: BrokenPromise) -> Failure? {
    if Failure.self == (any Error).self { return (error as any Error as! Failure) }
    return Failure.self == Never.self ? nil : error as? Failure
  }

  override var hasSucceeded: Bool { result?.isSuccess ?? false }

  override var canRepresentCancellation: Bool { Cancelled<Failure>.isExpressible }

  override func endCancelled() {
    // The test comes first, because making the failure allocates.
    guard Cancelled<Failure>.isExpressible, let failure = Cancelled<Failure>.failure else {
      // A producer that has not started never starts (R2b), so the state never resolves.
      // Relaxed: a hint that saves an array; `orphan` looks again under the lock.
      if phase.load(ordering: .relaxed) == .dormant { orphan(fromAtMost: .dormant) }
      return
    }
    // A cancellation is not reported as an unobserved failure.
    if resolve(.failure(failure), fromAtMost: .orphaned, in: nil) {
      noteObserved()
    }
  }

  override func reportUnobservedFailure() {
    guard case .failure(let failure)? = outcome.result, !(failure is CancellationError) else { return }
    FuturesDiagnostics.report(.unobservedFailure(label: label, failure))
  }
}

/// The state of a `Future<Value, Failure>`.
@usableFromInline
package typealias State<Value: Sendable, Failure: Error> = TypedState<Outcome<Value, Failure>>

// MARK: - Reading

extension TypedState {
  /// The result of this state, without looking at its root.
  @inlinable
  package final var result: Result<Value, Failure>? {
    // Acquiring: pairs with the releasing store after `outcome` was written.
    phase.load(ordering: .acquiring) >= .delivering ? outcome.result : nil
  }

  /// The result, for a reader: a failure counts as observed.
  @inlinable
  final func peek() -> Result<Value, Failure>? {
    let result = result
    if case .failure = result { noteObserved() }
    return result
  }

  /// The result, if all earlier consumers have it, so that a new consumer need not queue.
  @inlinable
  final var deliveredResult: Result<Value, Failure>? {
    // Relaxed: `peek` loads the phase again with acquire. That value is the same or a later one.
    phase.load(ordering: .relaxed) == .resolved ? peek() : nil
  }

  /// The state that stands for this one.
  final var typedRoot: TypedState {
    phase.load(ordering: .relaxed) == .merged ? unsafeDowncast(root, to: TypedState.self) : self
  }
}

// MARK: - Resolving

extension TypedState {
  /// Resolves a pending state, as `resolve(isSuccess:fromAtMost:in:fromTask:_:)` of `FutureState` does.
  @inlinable
  @discardableResult
  package final func resolve(
    _ result: Result<Value, Failure>,
    fromAtMost last: Phase = .orphaned,
    in trampoline: Trampoline?,
    fromTask isFromTask: Bool = false
  ) -> Bool {
    resolve(isSuccess: result.isSuccess, fromAtMost: last, in: trampoline, fromTask: isFromTask) { root in
      unsafeDowncast(root, to: TypedState.self).outcome = Stored(result)
    }
  }

  /// Resolves a pending state from a task of the library (R8).
  @inlinable
  package final func resolveFromTask(_ result: Result<Value, Failure>, fromAtMost last: Phase = .following) {
    resolve(result, fromAtMost: last, in: nil, fromTask: true)
  }
}
