/// An input of a join: its state, and the join's consumer in that state.
@frozen
@usableFromInline
struct JoinedInput {
  @usableFromInline let state: FutureState

  /// `nil` if the state of a promise is itself the consumer.
  @usableFromInline let separateConsumer: Consumer?

  @inlinable
  init(state: FutureState, consumer: Consumer?) {
    self.state = state
    separateConsumer = consumer
  }

  @inlinable
  var consumer: Consumer { separateConsumer ?? state }

  @inlinable
  func attach() { state.attach(consumer) }
}
