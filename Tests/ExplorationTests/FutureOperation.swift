/// One operation of a thread that shares a future with others.
enum FutureOperation: String, CaseIterable, Sendable {
  /// Attaches a callback.
  case attach
  /// Removes the callback that was attached before the threads began.
  case remove
  case succeed
  case cancel
  /// Drops the promise.
  case drop
  /// Reports progress.
  case report
  /// Awaits, as a task does.
  case await
  /// Ends the first await, as the cancellation of its task does; where none is among the operations, one has begun before.
  case abandon
  /// The same, and leaves the future as a consumer that is cancelled does.
  case abandonCancelling
  case fail
  /// Derives a future, and attaches a callback to that.
  case derive
  /// Derives a future, and cancels that.
  case deriveAndCancel
  /// Listens to the progress.
  case listen
  /// Looks at the result.
  case peek
  /// Removes the callback whose context holds it back.
  case removeHeld
  /// Runs what the context has held back.
  case runHeld

  /// Those of which longer programs are made.
  static let essential: [FutureOperation] = [.attach, .remove, .succeed, .cancel, .drop, .report, .await, .abandon]
}

/// What lies between the promise and the future.
enum FutureShape: CaseIterable, Sendable {
  /// Nothing.
  case plain
  /// A `map`.
  case mapped
  /// Another promise, which follows the future of the first.
  case followed
  /// A join with a future that is resolved.
  case joined
}
