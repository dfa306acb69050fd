public import Futures

/// The work of one run of `exploreOrders`: contexts, time, and the points at which other work can run first.
///
/// Each run has a new object. Use it only in its run.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
public final class Orders: Sendable {
  let run: OrderRun

  init(run: OrderRun) { self.run = run }

  /// Returns a serial context, whose next item is one of the moves that can come next.
  ///
  /// Its items run in the order of submission. A delay is a timer of a virtual clock. Timers fire in the order of their times, at
  /// any point relative to other work, and run in the context.
  /// - Parameter name: The name in the order. The same name is the same context.
  /// - Returns: The context. Submit to it from the run only: work from another thread is a failure.
  public func context(_ name: String) -> ExecutionContext { run.context(.context(name)) }

  /// Suspends the task, so that other work can run first; the order shows this step as `name`.
  ///
  /// Returns at once after the end of the run. Cancelling the task does not end the suspension.
  nonisolated(nonsending) public func step(_ name: String) async {
    await withUnsafeContinuation { run.step($0, name) }
  }

  /// Runs all work of the contexts, timers and tasks, in the order of this run, and returns when nothing is left.
  ///
  /// Tasks that wait for something that never comes stay suspended.
  /// - Throws: `CancellationError` if the order has ended: the run has failed, or, for a call in another task, the body has returned.
  nonisolated(nonsending) public func runAll() async throws {
    await withUnsafeContinuation { run.resumeWhenIdle($0) }
    if run.state.withLock(\.isEnding) { throw CancellationError() }  // this call was resumed early: work can be left
  }

  /// The time of the virtual clock: the sum of the delays up to the last timer that fired.
  public var now: Duration { run.now }

  /// Adds a note that the failure shows beside the present move, for example the value of a variable.
  ///
  /// ```
  /// orders.note("shown: \(screen.title)")
  /// ```
  ///
  /// `text` is evaluated only where the order is shown: in the run that repeats the failed order, and with `repeating`.
  public func note(_ text: @autoclosure () -> String) {
    if run.isShown { run.note(text()) }
  }
}
