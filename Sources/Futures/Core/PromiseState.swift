/// The state of a promise's future, with room for its first callback or join.
///
/// The callback or join is stored in the state, which is then a consumer in its own list. So a promise, its future and one
/// callback are two objects and the callback's closure. An input of a join is no object at all.
@_fixed_layout
@usableFromInline
package final class PromiseState<Stored: OutcomeStorage>: TypedState<Stored>, @unchecked Sendable {
  // @unchecked: as the base class says. The thread that claimed the slot writes `callback` before it attaches the state. The
  // thread that moves `status` to `finished` takes it.
  @exclusivity(unchecked) @usableFromInline final var callback: Callback<Stored.Value, Stored.Failure>?

  @inlinable
  package init() {
    super.init(isForPromise: true, isStage: false) { consumer, source, trampoline in
      // In one expression: a variable for the callback would be another counted reference.
      takeValue(at: &unsafeDowncast(consumer, to: PromiseState.self).callback)?
        .deliver(to: consumer, from: source, in: trampoline)
    }
  }

  /// Stores the first callback, after the caller has claimed the slot; does not release the old value, because it is `nil`.
  @inlinable
  @inline(__always)
  func storeCallback(_ callback: __owned Callback<Stored.Value, Stored.Failure>) {
    withUnsafeMutablePointer(to: &self.callback) { $0.initialize(to: consume callback) }
  }

  override func dropCaptures() {
    callback = nil
  }
}
