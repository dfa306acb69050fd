/// The facts that the graph of pending futures shows about a consumer, a state or the inputs of a state.
struct NodeFacts {
  /// The operator of a stage, and its types; `nil` for anything else.
  var operation: StaticString?
  var types: (source: Any.Type, result: Any.Type)?
  /// Whether the stage can end without its source: a timeout or a token.
  var canEndWithoutSource = false
  /// Whether a timeout or a token can end the stage: by its own result, or by a cancellation that the source turns into one.
  var isInterruptible = false
  /// Identifies a task: the suspended one of a waiter, or the one that resolves a state.
  var task: UnsafeRawPointer?
  /// The queue, or the object of the custom context; `nil` for a consumer that runs on the thread that resolves.
  var context: AnyObject?
  /// The pending inputs; `nil` if another thread has the lock.
  var inputs: [FutureState]? = []
  /// Whether the result of one input can be enough.
  var endsWithOneInput = false
  /// Whether an event that is no input can end the state: an item that another thread starts, or an answer.
  var canEndWithoutInputs = false
  /// Whether the result needs all inputs, because none can end the state early: a join that cannot fail.
  var needsEachInput = false

  /// Reads the facts of a consumer or of a state; if `isListed`, also those under its source's lock, which the caller has.
  init(of consumer: Consumer, isListed: Bool = false) { consumer.describe(into: &self, isListed: isListed) }

  mutating func setOperation(_ operation: StaticString, _ types: (source: Any.Type, result: Any.Type)? = nil) {
    (self.operation, self.types) = (operation, types)
  }
}
