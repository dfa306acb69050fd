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
  /// Runs the held work of the context.
  case runHeld
  /// Makes the future follow that of the promise: resolves the source of the transform, or calls `Promise.follow`.
  case follow
  /// Drops the source of the transform, or the promises of the chain that follow already.
  case dropSource
  /// Attaches a callback to the followed future.
  case attachInner

  /// The operations of longer programs.
  static let essential: [FutureOperation] = [.attach, .remove, .succeed, .cancel, .drop, .report, .await, .abandon]

  /// The operations for all shapes.
  static let common = allCases.filter { ![.follow, .dropSource, .attachInner].contains($0) }

  /// The operations that race with a future that follows another one.
  static let following: [FutureOperation] = [
    .follow, .succeed, .cancel, .drop, .remove, .attach, .deriveAndCancel, .dropSource, .attachInner,
  ]
}
