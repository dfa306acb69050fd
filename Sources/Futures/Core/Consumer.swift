/// An element of a future's list of consumers: a callback, a stage, a waiter, an input of a join.
///
/// The state of a derived future is itself the consumer of its source, so a stage is one object.
///
/// Q: Why is `deliver` a stored closure and not an overridden method? A: A method of a generic class runs unspecialised. A
/// closure that is made in inlinable code is specialised with its caller, which made a stage twice as fast.
@_fixed_layout
@usableFromInline
package class Consumer: @unchecked Sendable {
  // @unchecked: the lock of the list's owner protects the links. One thread alone uses the variables of a subclass: the thread
  // that moved `status` to `finished`, or took the consumer from the list.

  /// How a consumer gets the result.
  @usableFromInline
  package enum Kind: UInt8 {
    /// Runs during the delivery, on the delivering thread.
    case inline
    /// As `inline`: a stage that passes the result on, so that the source's producer can take its place.
    case follower
    /// As `inline`: a view through which no cancellation passes to the source (`shielded`).
    case shield
    /// As `inline`. Its source also notifies it at once when the source turns out to never resolve.
    case input
    /// Is enqueued during the delivery. It can be removed until the queue starts it.
    case queued
    /// Is handed to an execution context that can run it at once. It can be removed until the context starts it.
    case custom
    /// Listens to the progress. It is in the list of listeners, and moves before the other consumers when the state settles.
    case progress
    /// Resumes a suspended task or a blocked thread. It runs no user code, unless the future is broken and the diagnostics
    /// have a handler.
    case waiter

    /// Whether a delivery can run user code of unknown depth, so that deliveries must not nest without limit.
    var mayRunInline: Bool { self != .queued && self != .waiter }
  }

  /// The status of a consumer in its life cycle.
  ///
  /// Changes under the lock of its source, except from `submitted` to `finished`. A stage starts again from `new` when it
  /// follows another future.
  @usableFromInline
  package enum Status: UInt8, BitwiseCopyable {
    /// In no list yet. Next is any other.
    case new
    /// An input of a join whose source is an orphan and has notified it. It is in no list, but still counts as a consumer of
    /// the source. Next is `resultOnly` or `finished`.
    case notified
    /// In the list of a pending or delivering future. Next is `resultOnly`, `submitted` or `finished`.
    case listed
    /// As `listed`, attached during the delivery by another thread than the delivering one (R28). Next is `submitted` or `finished`.
    case listedByOther
    /// Cancelled, although its failure type cannot represent cancellation. It still gets the result, but no longer keeps
    /// the source running (R16). Next is `submitted` or `finished`.
    case resultOnly
    /// Handed to its execution context, which has not started it; or a waiter whose future is broken. Next is `finished`.
    case submitted
    /// It has started or left. Final, except for a stage that follows another future.
    case finished
  }

  @usableFromInline
  package typealias Delivery = @Sendable (_ consumer: Consumer, _ source: FutureState, _ trampoline: Trampoline) -> Void

  /// The neighbours in a circular list; `nil` outside a list.
  @exclusivity(unchecked) final var next: Unmanaged<Consumer>?
  @exclusivity(unchecked) final var previous: Unmanaged<Consumer>?

  /// Called once for each source, outside the lock, when the source is resolved or broken.
  ///
  /// An input also gets a delivery when its source becomes an orphan: pending without a producer.
  @usableFromInline final let deliver: Delivery

  /// Only the functions below change it.
  private final let status = AtomicByte<Status>(.new)

  /// Changes only while the consumer is in no list.
  @exclusivity(unchecked) @usableFromInline final var kind: Kind

  @usableFromInline
  init(kind: Kind, deliver: @escaping Delivery) {
    self.kind = kind
    self.deliver = deliver
  }

  /// Releases the user's closures and objects, which only subclasses have.
  ///
  /// Called at most once for each source, when the consumer will not use them: by the thread that moved `status` to `finished`, by
  /// the consumer's own delivery, for example from a broken source, or by a caller that does not attach it or finds no source.
  @usableFromInline
  func dropCaptures() {}

  /// Releases the execution context of a `SubmittedStage` that leaves its source before the delivery.
  ///
  /// Not part of `dropCaptures()`, because that also runs while the delivering thread hands the stage's work to the context.
  func dropContext() {}

  /// Called when `source` has become an orphan: pending without a producer, so that only a cancellation resolves it.
  ///
  /// Returns the derived state if it becomes an orphan, too; `nil` if none exists, or if it can still resolve.
  func stateToOrphan(from source: FutureState) -> FutureState? { nil }

  /// Resolves a cancelled stage by its `bypass`, which replaces the transform; has no effect without a `bypass`.
  ///
  /// Called if the stage cannot represent cancellation: at its cancellation or at the source's delivery, whichever is later.
  @usableFromInline
  func resolveWithoutContext(from source: FutureState) {}

  /// Returns the queue that must run a stage's transform before the stage can resolve; `nil` if the stage needs no queue.
  ///
  /// Called under the lock of the source, by the search for work that a blocked thread holds up (R10a).
  func queueToRunOn(after source: FutureState) -> AnyObject? { nil }

  /// Adds what the graph of pending futures shows about the consumer; each subclass adds its own facts.
  ///
  /// `isListed`: the caller has the lock of the source that lists the consumer. If not, it is a state, and reads only constants.
  func describe(into facts: inout NodeFacts, isListed: Bool) {}

  /// The status; the caller has the lock of the source, or no other thread has the consumer.
  ///
  /// Acquiring: a stage that follows another future has published its new source with its status. See `Stage.source`.
  final var currentStatus: Status { status.load(ordering: .acquiring) }

  #if DEBUG
    /// The status for a check of the invariants; the explorer does not count this load as a step.
    final var statusForCheck: Status { status.load(ordering: .relaxed) }
  #endif

  /// Changes the status, under the lock of the source, or before another thread has the consumer.
  ///
  /// Releasing: a stage that follows another future publishes its new source with its status. See `Stage.source`.
  @usableFromInline
  final func enter(_ status: Status) { self.status.store(status, ordering: .releasing) }

  /// Whether the consumer waits for `source`; `false` for a stage that waits for another source by now.
  ///
  /// The caller has the lock of `source`, and has loaded `currentStatus`, which publishes the source. See `Stage.source`.
  func isConsumer(of source: FutureState) -> Bool { true }

  /// Finishes a submitted consumer; returns whether the caller was the first, and so starts the consumer or drops its captures.
  ///
  /// Relaxed: the exchange only picks a winner. The context or the lock that handed the consumer over has published the
  /// variables that the winner reads.
  @usableFromInline
  final func claimSubmitted() -> Bool {
    status.compareExchange(expected: .submitted, desired: .finished, ordering: .relaxed).exchanged
  }
}
