// The consumers by which one future resolves another. Each owns the state that it resolves: that is what keeps
// `_ = future.map { effect() }` going. Making them inlinable, with the user's closure stored as it came, is what makes a
// stage three allocations: the closure, the node, the derived state.

/// Resolves a state as its source.
@usableFromInline
final class FollowerNode<Stored: OutcomeStorage>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline let follower: SharedState<Stored>

  @inlinable
  init(_ follower: SharedState<Stored>) {
    self.follower = follower
    super.init(kind: .inline) { node, source, loop in
      let follower = unsafeDowncast(node, to: FollowerNode.self).follower
      guard let result = unsafeDowncast(source, to: SharedState<Stored>.self).result else {
        return source.passBreak(to: follower, in: loop)
      }
      follower.resolve(result, in: loop)
    }
  }
}

/// Resolves a state with the transformed value of its source, inline.
@usableFromInline
final class MapNode<Value: Sendable, New: Sendable, Failure: Error>: CallbackNode, @unchecked Sendable {
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
}

/// Resolves a state as the future that a transform makes of the value of its source, inline.
@usableFromInline
final class FlatMapNode<Value: Sendable, New: Sendable, Failure: Error>: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says.
  @usableFromInline let transform: @Sendable (Value) -> Future<New, Failure>
  @usableFromInline let derived: State<New, Failure>

  @inlinable
  init(_ derived: State<New, Failure>, _ transform: @escaping @Sendable (Value) -> Future<New, Failure>) {
    self.derived = derived
    self.transform = transform
    super.init(kind: .inline) { node, source, loop in
      let node = unsafeDowncast(node, to: FlatMapNode.self)
      switch unsafeDowncast(source, to: State<Value, Failure>.self).result {
      case .success(let value)?: node.derived.follow(node.transform(value), in: loop)
      case .failure(let error)?: node.derived.resolve(.failure(error), in: loop)
      case nil: source.passBreak(to: node.derived, in: loop)
      }
    }
  }
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

extension CallbackNode {
  /// A consumer that resolves `derived` as the future that `transform` makes of the result of its source, inline.
  @inlinable
  static func stage<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>(
    resolving derived: State<New, NewFailure>,
    _ transform: @escaping @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>
  ) -> CallbackNode {
    CallbackNode(kind: .inline) { _, source, loop in
      if let result = unsafeDowncast(source, to: State<Value, Failure>.self).result {
        derived.follow(transform(result), in: loop)
      } else {
        source.passBreak(to: derived, in: loop)
      }
    }
  }
}

/// Resolves a state as the future that a transform makes of the result of its source, on an execution context, and after a
/// delay if there is one; results that the transform only passes on take neither.
@usableFromInline
final class SubmittedStageNode<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: CallbackNode,
  @unchecked Sendable
{
  // @unchecked: as the base class says.
  @usableFromInline typealias Transform = @Sendable (Result<Value, Failure>) -> Future<New, NewFailure>

  /// Owned by whoever moves `status` to `finished`.
  @exclusivity(unchecked) @usableFromInline final var transform: Transform?
  @usableFromInline let derived: State<New, NewFailure>

  @inlinable
  init(
    _ derived: State<New, NewFailure>,
    on context: ExecutionContext,
    after delay: Duration?,
    for transformed: TransformedResults,
    _ transform: @escaping Transform
  ) {
    self.derived = derived
    self.transform = transform
    // A delay on `.immediate` is handed over, too.
    super.init(kind: context.isImmediate ? .custom : context.nodeKind) { node, source, loop in
      let node = unsafeDowncast(node, to: SubmittedStageNode.self)
      guard let result = unsafeDowncast(source, to: State<Value, Failure>.self).result else {
        return source.passBreak(to: node.derived, in: loop)
      }
      guard transformed.contain(result) else {
        return node.derived.follow(node.transform.unsafelyUnwrapped(result), in: loop)
      }
      let work = StageWork(node, result)
      if let delay {
        _ = context.schedule(after: delay) { work.run() }
      } else {
        context.execute { work.run() }
      }
    }
  }
}

/// The work of a stage while it is with an execution context: it runs once, or breaks the stage when it is dropped.
@usableFromInline
final class StageWork<Value: Sendable, Failure: Error, New: Sendable, NewFailure: Error>: Sendable {
  @usableFromInline let node: SubmittedStageNode<Value, Failure, New, NewFailure>
  @usableFromInline let result: Result<Value, Failure>

  @inlinable
  init(_ node: SubmittedStageNode<Value, Failure, New, NewFailure>, _ result: Result<Value, Failure>) {
    self.node = node
    self.result = result
  }

  @inlinable
  func run() {
    guard node.claimSubmitted(), let transform = node.transform else { return }
    node.transform = nil
    node.derived.follow(transform(result), in: nil)
  }

  deinit {
    guard node.claimSubmitted() else { return }
    node.transform = nil
    let error = BrokenPromise(
      label: "an execution context dropped the work of a derived future",
      fileID: #fileID,
      line: #line
    )
    node.derived.breakPromise(BreakReason(error), in: nil)
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
