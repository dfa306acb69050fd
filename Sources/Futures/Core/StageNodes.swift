// The consumers by which one future resolves another. Each owns the state that it resolves: that is what keeps
// `_ = future.map { effect() }` going. Making them inlinable, with the user's closure stored as it came, is what makes a
// stage three allocations: the closure, the node, the derived state.

/// A consumer by which one future resolves another.
@_fixed_layout
@usableFromInline
class StageNode: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.

  /// The state whose result it waits for, set before it is attached there.
  ///
  /// Not owned. It is alive as long as the state that this stage resolves is unresolved and names this stage as its
  /// producer: before it is delivered because its producer is, and after that because the stage holds it, if it takes time.
  @exclusivity(unchecked) @usableFromInline final var source: Unmanaged<AnySharedState>?

  /// For which part of the progress of the state that it resolves this stage counts, with what comes after it.
  ///
  /// Under the lock of that state, but for the initial value.
  @exclusivity(unchecked) @usableFromInline final var region: ProgressRegion

  @inlinable
  init(kind: Kind, region: ProgressRegion = .whole, deliver: @escaping Delivery) {
    self.region = region
    super.init(kind: kind, deliver: deliver)
  }

  /// Which share of the region is that of the source; the rest is for the future that a transform makes.
  ///
  /// A stage that passes progress on gives everything to either.
  @usableFromInline var progressShare: Double { 1 }

  /// The region of the stage that comes after this one.
  final var regionOfNext: ProgressRegion { region.of(.rest(after: progressShare)) }
}

/// Resolves a state as its source.
@_fixed_layout
@usableFromInline
final class FollowerNode<Stored: OutcomeStorage>: StageNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline let follower: SharedState<Stored>

  @inlinable
  init(_ follower: SharedState<Stored>, region: ProgressRegion = .whole) {
    self.follower = follower
    super.init(kind: .inline, region: region) { node, source, loop in
      let follower = unsafeDowncast(node, to: FollowerNode.self).follower
      guard let result = unsafeDowncast(source, to: SharedState<Stored>.self).result else {
        return source.passBreak(to: follower, in: loop)
      }
      follower.resolve(result, in: loop)
    }
  }

  override func stateToOrphan() -> AnySharedState? { follower }
}

/// Resolves a state with the transformed value of its source, inline.
@_fixed_layout
@usableFromInline
final class MapNode<Value: Sendable, New: Sendable, Failure: Error>: StageNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline let transform: @Sendable (Value) -> New
  @usableFromInline let derived: State<New, Failure>

  @inlinable
  init(_ derived: State<New, Failure>, _ transform: @escaping @Sendable (Value) -> New) {
    self.derived = derived
    self.transform = transform
    super.init(kind: .inline) { node, source, loop in
      let node = unsafeDowncast(node, to: MapNode.self)
      switch unsafeDowncast(source, to: State<Value, Failure>.self).result {
      case .success(let value)?: node.derived.resolve(.success(node.transform(value)), in: loop)
      case .failure(let error)?: node.derived.resolve(.failure(error), in: loop)
      case nil: source.passBreak(to: node.derived, in: loop)
      }
    }
  }

  override func stateToOrphan() -> AnySharedState? { derived }
}

/// Resolves a state as the future that a transform makes of the value of its source, inline.
@_fixed_layout
@usableFromInline
final class FlatMapNode<Value: Sendable, New: Sendable, Failure: Error>: StageNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline let transform: @Sendable (Value) -> Future<New, Failure>
  @usableFromInline let derived: State<New, Failure>
  @usableFromInline let share: Double

  @inlinable
  init(
    _ derived: State<New, Failure>,
    progressShare: Double,
    _ transform: @escaping @Sendable (Value) -> Future<New, Failure>
  ) {
    self.derived = derived
    self.transform = transform
    share = progressShare
    super.init(kind: .inline) { node, source, loop in
      let node = unsafeDowncast(node, to: FlatMapNode.self)
      switch unsafeDowncast(source, to: State<Value, Failure>.self).result {
      case .success(let value)?: node.derived.follow(node.transform(value), in: loop)
      case .failure(let error)?: node.derived.resolve(.failure(error), in: loop)
      case nil: source.passBreak(to: node.derived, in: loop)
      }
    }
  }

  @usableFromInline override var progressShare: Double { share }

  override func stateToOrphan() -> AnySharedState? { derived }
}

/// Resolves a state as its source, unless something interrupts that: a timeout, a token.
final class InterruptibleFollowerNode<Stored: OutcomeStorage>: StageNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  private let follower: SharedState<Stored>
  private let interruption: Interruption

  /// An interruption that outlives its source still ends the state when the source breaks without being able to say so.
  init(_ follower: SharedState<Stored>, _ interruption: Interruption, outlivesSource: Bool) {
    self.follower = follower
    self.interruption = interruption
    super.init(kind: .inline) { _, source, loop in
      if let result = unsafeDowncast(source, to: SharedState<Stored>.self).result {
        follower.resolve(result, in: loop)
      } else if outlivesSource {
        return follower.setProducer(inputs: interruption)
      } else {
        source.passBreak(to: follower, in: loop)
      }
      interruption.end()
    }
  }

  /// It is no orphan: the interruption may still end it.
  override func stateToOrphan() -> AnySharedState? {
    follower.setProducer(inputs: interruption)
    return nil
  }

  override func release() { interruption.end() }
}

/// Which results a transform is about; the others it only passes on, so they need no hop.
@usableFromInline
enum TransformedResults: Sendable {
  case values, failures, all

  @inlinable
  func contain<Value, Failure>(_ result: Result<Value, Failure>) -> Bool {
    switch result {
    case .success: self != .failures
    case .failure: self != .values
    }
  }
}

/// Resolves a state as the future that a transform makes of the result of its source, inline.
@_fixed_layout
@usableFromInline
final class TransformNode<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: StageNode,
  @unchecked Sendable  // as the base class says
{
  @usableFromInline let transform: @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>
  @usableFromInline let derived: State<New, NewFailure>
  @usableFromInline let share: Double

  @inlinable
  init(
    _ derived: State<New, NewFailure>,
    progressShare: Double,
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>
  ) {
    self.derived = derived
    self.transform = transform
    share = progressShare
    super.init(kind: .inline) { node, source, loop in
      let node = unsafeDowncast(node, to: TransformNode.self)
      if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
        node.derived.follow(node.transform(result), in: loop)
      } else {
        source.passBreak(to: node.derived, in: loop)
      }
    }
  }

  @usableFromInline override var progressShare: Double { share }

  override func stateToOrphan() -> AnySharedState? { derived }
}

/// Resolves a state as the future that a transform makes of the result of its source, on an execution context, and after a
/// delay if there is one; results that the transform only passes on take neither.
@_fixed_layout
@usableFromInline
final class SubmittedStageNode<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: StageNode,
  @unchecked Sendable  // as the base class says
{
  @usableFromInline typealias Transform = @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>

  /// Owned by whoever moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var transform: Transform?
  /// Taken when the work is handed over, since the context may own the work.
  @exclusivity(unchecked) @usableFromInline final var context: ExecutionContext?
  @usableFromInline let delay: Duration?
  @usableFromInline let transformed: TransformedResults
  /// What the stage comes to without its effect, or its delay, where it was cancelled but cannot say so.
  @usableFromInline let bypass: Transform?
  @usableFromInline let derived: State<New, NewFailure>
  @usableFromInline let share: Double
  @usableFromInline let deadline: Interruption?

  @inlinable
  init(
    _ derived: State<New, NewFailure>,
    on context: ExecutionContext,
    after delay: Duration?,
    for transformed: TransformedResults,
    progressShare: Double,
    bypass: Transform?,
    _ transform: @escaping Transform
  ) {
    self.derived = derived
    share = progressShare
    self.transform = transform
    self.bypass = bypass
    self.context = context
    self.delay = delay
    self.transformed = transformed
    deadline = delay.map { _ in Interruption() }
    // A delay on `.immediate` is handed over, too.
    super.init(kind: context.isImmediate ? .custom : context.nodeKind) { node, source, loop in
      let node = unsafeDowncast(node, to: SubmittedStageNode.self)
      let source = unsafeDowncast(source, to: State<Value, Failure>.self)
      guard let result = source.result else { return source.passBreak(to: node.derived, in: loop) }
      guard node.transformed.contain(result) else {
        guard node.claimSubmitted(), let transform = node.takeTransform() else { return }
        return node.derived.follow(transform(result), in: loop)
      }
      if node.bypass != nil, node.derived.wasCancelled { return node.resolveWithoutContext(from: source) }
      guard let context = node.context else { return }
      node.context = nil
      let work = StageWork(node, source)
      if let delay = node.delay, let deadline = node.deadline {
        deadline.start { context.schedule(after: delay) { work.run() } }
      } else {
        context.execute { work.run() }
      }
    }
  }

  // Not `transform.take()`: that is generic, and wraps the closure in two allocations.
  @inlinable
  func takeTransform() -> Transform? {
    let transform = transform
    self.transform = nil
    return transform
  }

  /// Runs the transform, unless the stage was cancelled before, or has run.
  @inlinable
  func run(with source: State<Value, Failure>) {
    guard claimSubmitted(), let transform = takeTransform(), let result = source.result else { return }
    deadline?.happen()
    derived.follow(transform(result), in: nil)
  }

  @usableFromInline
  override func release() {
    transform = nil
    deadline?.end()
  }

  @usableFromInline override var progressShare: Double { share }

  override func stateToOrphan() -> AnySharedState? { derived }

  @usableFromInline
  override func resolveWithoutContext(from source: AnySharedState) {
    guard let bypass, claimSubmitted() else { return }
    release()
    guard let result = unsafeDowncast(source, to: State<Value, Failure>.self).result else { return }
    derived.follow(bypass(result), in: nil)
  }
}

/// The work of a stage while it is with an execution context: it runs once, or breaks the stage when it is dropped.
@_fixed_layout
@usableFromInline
final class StageWork<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: Sendable {
  @usableFromInline let node: SubmittedStageNode<Value, Failure, New, NewFailure>

  /// Has the result; owned, because the stage needs it as long as it has not run.
  @usableFromInline let source: State<Value, Failure>

  @inlinable
  init(_ node: SubmittedStageNode<Value, Failure, New, NewFailure>, _ source: State<Value, Failure>) {
    self.node = node
    self.source = source
  }

  @inlinable
  func run() { node.run(with: source) }

  deinit {
    guard node.claimSubmitted() else { return }
    node.derived.breakPromise(.droppedWork, in: nil)
    node.release()
  }
}

extension AnySharedState {
  /// Breaks `derived` for the reason for which this state is broken.
  @inlinable
  final func passBreak<Stored>(to derived: SharedState<Stored>, in loop: DeliveryLoop) {
    guard let reason = breakReason else {
      preconditionFailure("A consumer was delivered to although its source is neither resolved nor broken.")
    }
    derived.breakPromise(reason, in: loop)
  }
}
