/// The inputs that resolve a state together, such as those of a join; or an interruption (a timeout or a token).
///
/// The state leaves them when it is cancelled.
///
/// Q: Why not a protocol? A: A reference to one takes two words.
@usableFromInline
class Inputs: @unchecked Sendable {
  // @unchecked: each subclass says how its variables are protected.

  @usableFromInline
  init() {}

  /// Makes the cancelled state leave all inputs, so that it keeps none of them running.
  /// - Parameter needsResult: Whether the state still waits for their results, because it cannot represent cancellation.
  /// - Returns: The inputs without another consumer, for the caller to cancel.
  @usableFromInline
  func removeFromInputs(forResult needsResult: Bool) -> [FutureState] { [] }

  /// Returns the inputs; the caller raises their tasks to `priority`, that of a task that awaits the state.
  ///
  /// Some can have resolved. A subclass that starts inputs later keeps `priority` for them. `nil`, for a search, changes none.
  func pendingInputs(raisingLaterTasksTo priority: TaskPriority?) -> [FutureState] { [] }

  /// Adds the inputs of a subclass for the graph of pending futures.
  func describe(into facts: inout NodeFacts) {}

  /// Whether inputs can start later.
  var startsInputs: Bool { false }

  /// The parts of the state's progress; under the lock of the state.
  var progressParts: ProgressParts { ProgressParts() }
}
