// The results of the transitions in `FutureState`: the follow-up that the caller performs after unlocking.

/// A consumer that a delivery took from the list, with the list's reference to it.
///
/// If it is the last one, the list is empty now, and the delivery can end without the lock.
struct TakenConsumer {
  let reference: Unmanaged<Consumer>
  let isLast: Bool
  /// Whether another thread attached it during the delivery.
  let isOfOtherThread: Bool
}

/// The stage that resolves a state, and its source.
struct Derivation {
  let stage: FutureState
  let source: FutureState
}

extension FutureState {
  /// The follow-up of an attachment.
  enum Attachment {
    /// The consumer is in the list. The caller starts the producer, if this is the first consumer of a dormant state.
    case listed(starting: LazyStart?)
    /// The consumer is in the list of an orphan. The caller makes an orphan of the consumer's derived state, and releases its own
    /// reference.
    case orphaned
    /// The caller delivers to the consumer.
    case due
    /// The consumer was removed or cancelled before. The caller releases it.
    case left
  }

  /// The follow-up of a resolution.
  enum Settlement {
    /// The state was already settled, or follows another future.
    case rejected
    /// The caller has no consumers to run.
    case done
    /// The caller runs the consumers, beginning with the first one if that is already taken.
    case deliver(startingWith: TakenConsumer?)
  }

  /// The follow-up of a consumer that has left, or that stays for the result alone.
  struct Departure {
    /// The list's reference to the consumer, for release by the caller; `nil` if it was in no list, or stays there.
    let reference: Unmanaged<Consumer>?
    /// The status before.
    ///
    /// `new`: a later `attach` finds that the consumer has left. `notified`: the consumer has got its delivery, or gets it now.
    let previous: Consumer.Status
    /// Whether no other consumer needs the source, so that a cancelled consumer also cancels the source; `false` for a shield.
    let isUnneeded: Bool
  }

  /// The follow-up of a cancellation: the objects to notify.
  struct Cancellation: ~Copyable {
    /// The objects of the producer, with the handlers to run.
    let released: Released
    /// The stage that leaves its source; `nil` if the state has another producer.
    let derivation: Derivation?
  }

  /// The follow-up of becoming an orphan.
  struct Orphaning {
    /// The consumers that stay in the list, whose derived states become orphans too.
    var consumers: [Consumer] = []
    /// The inputs to notify, which are in no list any more.
    var inputs: [Consumer] = []
  }

  /// The follow-up of a stage's move to another source, to which the caller attaches the stage.
  struct Adoption {
    /// Whether the state that the stage resolves was cancelled.
    ///
    /// Then the stage attaches for the result only, so the new source can be without a consumer that keeps it running.
    let isCancelled: Bool
    /// Whether the caller links the progress of that state to the new source.
    let needsRelink: Bool
  }

  /// The follow-up of the end of a promise whose future follows another one.
  enum Splicing {
    /// The caller puts the follower (here the list's reference to it) into the place of `past.stage`: in the list of
    /// `past.source`, and in the progress.
    case moving(Unmanaged<Consumer>, past: Derivation, ProgressPlace)
    /// The future follows itself through other futures, so that nothing can ever resolve it.
    case circle
    /// The follower stays in the list of the following state.
    case refused
  }
}

/// The objects that a transition took out of a state, to release after unlocking.
///
/// Not copyable, so that no second reference to one of them is released elsewhere.
struct Released: ~Copyable {
  let producer: Producer
  let cancellation: CancellationHandlers?  // `nil` for an orphan, which keeps its handlers
  let progress: ProgressRecord.Detached?

  /// Releases the handlers of the promise, which can no longer run, and disconnects the progress from its sources.
  consuming func release() {
    cancellation?.end()
    progress?.release()
  }
}
