// The results of the transitions in `FutureState`: the follow-up that the caller performs after unlocking.

/// A consumer that a delivery took from the list, with the list's reference to it.
///
/// If it is the last one, the list is empty now, and the delivery can end without the lock.
typealias TakenConsumer = (reference: Unmanaged<Consumer>, isLast: Bool)

extension FutureState {
  /// The follow-up of an attachment.
  enum Attachment {
    /// It is in the list. The caller starts the producer, if this is the first consumer of a dormant state.
    case listed(LazyStart?)
    /// As `listed`: the state is an orphan, so the caller makes orphans of the consumer's own consumers.
    case orphaned
    /// The caller delivers to the consumer.
    case due
    /// The consumer was withdrawn before. The caller releases it.
    case withdrawn
  }

  /// The follow-up of a resolution.
  enum Settlement {
    /// The state was already settled, or follows another future.
    case rejected
    /// The caller has no consumers to run.
    case done
    /// The caller runs the consumers, beginning with the first one if that is already taken.
    case deliver(TakenConsumer?)
  }

  /// The follow-up of a consumer that left, or that stays for the result alone.
  struct Departure {
    /// The list's reference to the consumer, for release by the caller; `nil` if it was in no list, or stays there.
    var listed: Unmanaged<Consumer>?
    /// Whether the caller must cancel this state, because it has no other consumer.
    var isUnneeded = false
  }

  /// The follow-up of a cancellation: the objects to notify.
  struct Cancellation: ~Copyable {
    /// The objects of the producer, with the handlers to run.
    let released: Released
    /// The stage that resolves the state, and its source.
    let derivation: (stage: FutureState, source: FutureState)?
  }

  /// The follow-up of a stage's move to another source: the stage attaches to that.
  ///
  /// For a cancelled target it attaches for the result only, and the source can be unneeded.
  typealias Adoption = (isCancelled: Bool, needsRelink: Bool)

  /// The follow-up of the end of a promise whose future follows another one.
  enum Splicing {
    /// The caller puts the follower, with the list's reference to it, into the place of `stage` in the list of `source`, and
    /// into its place in the progress.
    case moving(Unmanaged<Consumer>, replacing: FutureState, in: FutureState, ProgressPlace)
    /// The future follows itself through other futures, so that nothing can ever resolve it.
    case circle
    case refused
  }
}

/// The objects that a transition took out of a state, to release after unlocking.
///
/// Not copyable, so that no second reference to one of them is released elsewhere.
struct Released: ~Copyable {
  let producer: Producer
  let cancellation: CancellationHandlers?
  let progress: ProgressRecord.Detached?

  /// Releases the handlers of the promise, which can no longer run, and disconnects the progress from its sources.
  consuming func release() {
    cancellation?.end()
    progress?.release()
  }
}
