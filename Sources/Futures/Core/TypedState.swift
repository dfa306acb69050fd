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
  override init(isForPromise: Bool, isStage: Bool, deliver: @escaping Delivery) {
    outcome = .pending
    super.init(isForPromise: isForPromise, isStage: isStage, deliver: deliver)
  }

  /// Makes a state without a source.
  @inlinable
  package convenience init() {
    self.init(isForPromise: false, isStage: false) { _, _, _ in
      preconditionFailure("A future without a source got a delivery. Attach only stages as consumers.")
    }
  }

  /// Makes a dormant state, whose producer starts with the first consumer.
  convenience init(_ start: LazyStart) {
    self.init()
    setProducer(.start(start))
  }

  @inlinable
  override package func breakPromise(_ reason: BreakReason, in trampoline: Trampoline? = nil) {
    // A cancelled API can drop its completion handler. The cancellation itself supplies the failure.
    if Cancelled<Failure>.isExpressible, wasCancelled { return }
    guard let error = reason.error else { return orphan() }  // nothing was dropped, but the source never resolves
    if let failure = Self.failure(error) {
      resolve(.failure(failure), in: trampoline)
    } else {
      breakForever(reason, in: trampoline)
    }
  }

  /// Returns `error` as a failure, or `nil` if the type cannot hold it; compares types first: a cast takes 700 instructions.
  @_alwaysEmitIntoClient
  final class func failure(_ error: BrokenPromise) -> Failure? {
    if Failure.self == (any Error).self { return (error as any Error as! Failure) }  // no cast in specialised code
    return Failure.self == Never.self ? nil : error as? Failure
  }

  override var hasSucceeded: Bool { result?.isSuccess ?? false }

  #if DEBUG
    override var hasOutcome: Bool { outcome.result != nil }
  #endif

  override var canRepresentCancellation: Bool { Cancelled<Failure>.isExpressible }

  override func resolveAsCancelled() {
    // `isExpressible` first, because making the failure allocates.
    guard Cancelled<Failure>.isExpressible, let failure = Cancelled<Failure>.failure else {
      // The producer of a dormant state never starts after the cancellation (R2b), so nothing ever resolves the state.
      // This test comes first, because `orphan` allocates an array before it tests `isDormant` again, in the transition.
      if underLock({ isDormant }) { orphan(onlyDormant: true) }
      return
    }
    // `nil`, because no delivery resolves the state. A cancellation is not reported as an unobserved failure.
    if resolve(.failure(failure), by: .library(nil)) {
      noteObserved()
    }
  }

  override func reportUnobservedFailure() {
    // A cancellation is no failure that a program has overlooked.
    guard case .failure(let failure)? = outcome.result, !Cancelled.isRepresented(by: failure) else { return }
    let place = extras?.place
    let fileID = place.map { String(cString: $0.fileID) } ?? ""
    FuturesDiagnostics.report(.unobservedFailure(label: label, fileID: fileID, line: place?.line ?? 0, failure))
  }
}

/// The state of a `Future<Value, Failure>`.
@usableFromInline
package typealias State<Value: Sendable, Failure: Error> = TypedState<Outcome<Value, Failure>>

// MARK: - Reading

extension TypedState {
  @_alwaysEmitIntoClient
  package final var result: Result<Value, Failure>? {
    isSettled ? outcome.result : nil
  }

  /// Returns the result to a reader, and notes that its failure was observed.
  @_alwaysEmitIntoClient
  final func peek() -> Result<Value, Failure>? {
    let result = result
    if case .failure = result { noteObserved() }
    return result
  }

  /// The result, if all earlier consumers have it, so that a new consumer need not queue.
  @_alwaysEmitIntoClient
  final var deliveredResult: Result<Value, Failure>? {
    isDelivered ? peek() : nil
  }
}

// MARK: - Resolving

extension TypedState {
  /// Resolves a pending state and runs its consumers; the first resolution wins (R1).
  /// - Returns: Whether this resolution was the first.
  @_alwaysEmitIntoClient
  @discardableResult
  package final func resolve(_ result: Result<Value, Failure>, by resolver: Resolver) -> Bool {
    resolve(isSuccess: result.isSuccess, by: resolver) { outcome = Stored(result) }
  }

  /// Resolves a pending state from a task of the library; callbacks and transforms run outside that task (R8).
  @_alwaysEmitIntoClient
  package final func resolveFromTask(_ result: Result<Value, Failure>) { resolve(result, by: .task) }

  /// Resolves a pending state, from code of the library.
  ///
  /// With the trampoline of a running delivery, the consumers run after that delivery; without it, now, unless deferred (R6).
  /// - Returns: Whether this resolution was the first.
  @_alwaysEmitIntoClient
  @discardableResult
  final func resolve(_ result: Result<Value, Failure>, in trampoline: Trampoline? = nil) -> Bool {
    resolve(result, by: .library(trampoline))
  }
}
