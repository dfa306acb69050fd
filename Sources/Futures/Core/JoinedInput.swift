/// An input of a join: its state, and the join's consumer in that state.
@frozen
@usableFromInline
struct JoinedInput {
  @usableFromInline let state: FutureState

  /// `nil` if `state` belongs to a promise and is its own consumer: its free slot has the join's closure, which saves an object.
  @usableFromInline let separateConsumer: Consumer?

  @inlinable
  init(state: FutureState, consumer: Consumer?) {
    self.state = state
    separateConsumer = consumer
  }

  @inlinable
  var consumer: Consumer { separateConsumer ?? state }

  /// Puts the join's consumer into the list of `state`; without a separate consumer, the state enters its own list.
  @inlinable
  func attach() { state.attach(consumer) }
}
