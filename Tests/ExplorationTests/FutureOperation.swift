/// One operation of a thread on a future that several threads share.
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
  /// Awaits as a task does.
  case await
  /// Ends the first await, as the cancellation of its task does; a program without an await gets one before the
  /// threads.
  case abandon
  /// Ends the first await, and cancels the future unless another consumer needs it.
  case abandonCancelling
  case fail
  /// Derives a future, and attaches a callback to it.
  case derive
  /// Derives a future, and cancels it.
  case deriveAndCancel
  /// Listens to the progress.
  case listen
  /// Reads the result.
  case peek
  /// Removes the callback that its context holds back.
  case removeHeld
  /// Runs the held work of the context.
  case runHeld
  /// Makes the future follow the promise's future: resolves the source of the transform, or calls `Promise.follow`.
  case follow
  /// Drops the source of the transform, or the promises of the chain that already follow.
  case dropSource
  /// Attaches a callback to the followed future.
  case attachInner

  /// The operations of longer programs.
  static let essential: [FutureOperation] = [.attach, .remove, .succeed, .cancel, .drop, .report, .await, .abandon]

  /// The operations for all shapes.
  static let common = allCases.filter { ![.follow, .dropSource, .attachInner].contains($0) }

  /// The operations that race with a future that follows another one.
  static let following: [FutureOperation] = [
    .follow, .succeed, .cancel, .drop, .remove, .attach, .deriveAndCancel, .dropSource, .attachInner, .report, .listen,
  ]
}
