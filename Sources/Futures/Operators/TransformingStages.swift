// The stages that apply a user's transform inline. `map` in plain Swift:
//
//     extension Future {
//       func map<New>(_ transform: @escaping @Sendable (Value) -> New) -> Future<New, Failure> {
//         let promise = Promise<New, Failure>()
//         whenResolved(on: .immediate) { result in
//           switch result {
//           case .success(let value): promise.succeed(transform(value))
//           case .failure(let error): promise.fail(error)
//           }
//         }
//         return promise.future
//       }
//     }
//
// `MapStage` does the same, and adds:
// - Cancellation (R16, R17): the new future knows its source, and leaves it. So the stage is a consumer that can be removed, and
//   its `dropCaptures()` releases the transform unrun.
// - Depth (R6): a delivery to a stage resolves it without a nested call. The state goes to the trampoline's list of ready states.
// - A dropped promise (R4): `passBreak` gives the reason on, in place of a second dropped promise.
// - Progress (R19): the stage has a place in the progress of its target.
// - Cost: the stage is the consumer and the state at once, so it is two allocations: the closure and the stage. A source that is
//   resolved needs no stage (`Future+Transforming`).
// A transform on a context is `SubmittedStage`. A transform that makes a future is `FlatMapStage`, which then waits for it.

/// A user's transform.
///
/// Q: Why not the bare closure? A: The optimizer copies a function that applies its closure, once for each closure: the
/// operators of 1,200 call sites took 1.2 MB. This type applies the closure instead, in a function of its own, so that an
/// operator is compiled once for each combination of types. Also see `takeValue(at:)`.
@frozen
@usableFromInline
struct Transform<Argument, Value>: Sendable {
  @usableFromInline let apply: @Sendable (Argument) -> Value

  @inlinable
  init(_ apply: __owned @escaping @Sendable (Argument) -> Value) { self.apply = consume apply }

  @_alwaysEmitIntoClient
  @inline(never)
  func callAsFunction(_ argument: Argument) -> Value { apply(argument) }
}

/// A stage that resolves with the transformed value of its source.
@_fixed_layout
@usableFromInline
final class MapStage<Value: Sendable, Stored: OutcomeStorage>: Stage<Stored>, @unchecked Sendable {
  // @unchecked: as the base class says.
  @exclusivity(unchecked) @usableFromInline final var transform: Transform<Value, Stored.Value>?

  @inlinable
  init(of source: Unmanaged<FutureState>, _ transform: __owned Transform<Value, Stored.Value>) {
    self.transform = consume transform
    super.init(of: source) { stage, source, trampoline in
      let stage = unsafeDowncast(stage, to: MapStage.self)
      // If there is no value, `value(of:in:)` has ended the stage. The transform is there: a removed stage gets no delivery.
      guard let value: Value = stage.value(of: source, in: trampoline),
        let new = takeValue(at: &stage.transform)?.apply(value)  // the optimizer copies no code for a stored closure
      else { return }
      stage.resolve(.success(new), in: trampoline)
    }
  }

  @usableFromInline
  override func dropCaptures() { transform = nil }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    facts.setOperation("map", (Value.self, Stored.Value.self))
  }
}

/// A stage that resolves as the future that its transform makes of a value or a result of its source.
///
/// After that the stage is a `follower` of that future, which is its new source. So it gets a second delivery.
@_fixed_layout
@usableFromInline
final class FlatMapStage<Argument: Sendable, New: Sendable, Failure: Error>: MovingStage<Outcome<New, Failure>>,
  @unchecked Sendable  // as the base class says
{
  @exclusivity(unchecked) @usableFromInline final var transform: Transform<Argument, Future<New, Failure>>?

  /// Makes a stage that transforms the value of its source, and passes a failure on.
  @inlinable
  init(
    ofValue source: Unmanaged<FutureState>,
    progressShare: Double,
    _ transform: __owned Transform<Argument, Future<New, Failure>>
  ) {
    self.transform = consume transform
    super.init(of: source, progressShare: source.onlyWaits ? 0 : progressShare) { stage, source, trampoline in
      let stage = unsafeDowncast(stage, to: FlatMapStage.self)
      guard stage.kind != .follower else { return stage.resolve(as: source, in: trampoline) }  // the second delivery
      guard let value: Argument = stage.value(of: source, in: trampoline) else { return }  // the stage has ended
      stage.applyTransform(to: value, in: trampoline)
    }
  }

  /// Makes a stage that transforms the result of its source.
  @inlinable
  init<V, F>(
    ofResult source: Unmanaged<FutureState>,
    progressShare: Double,
    _ transform: __owned Transform<Argument, Future<New, Failure>>
  ) where Argument == Result<V, F> {
    self.transform = consume transform
    super.init(of: source, progressShare: source.onlyWaits ? 0 : progressShare) { stage, source, trampoline in
      let stage = unsafeDowncast(stage, to: FlatMapStage.self)
      guard stage.kind != .follower else { return stage.resolve(as: source, in: trampoline) }  // the second delivery
      if let result = unsafeDowncast(source, to: State<V, F>.self).result {
        stage.applyTransform(to: result, in: trampoline)
      } else {  // the source is broken
        stage.dropCaptures()
        stage.passBreak(of: source, in: trampoline)
      }
    }
  }

  /// Applies the transform, and resolves as the future that it makes.
  @_alwaysEmitIntoClient
  @inline(__always)
  func applyTransform(to argument: Argument, in trampoline: Trampoline) {
    let transform = takeValue(at: &transform).unsafelyUnwrapped  // never `nil`: a removed stage gets no delivery
    // The transform can own the new future's promise, whose release breaks that future. So it lives until the stage follows.
    // The future has no variable, because a second handle would keep a recursion from dropping the future's state (R6).
    withExtendedLifetime(transform) { follow(transform.apply(argument), in: trampoline) }
  }

  @usableFromInline
  override func dropCaptures() { transform = nil }  // the transform will not run

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    // In a stage of `derive`, `Argument` is a `Result`. Many operators call `derive`, so the graph shows "transform" for them.
    let resultType = Argument.self as? any SuccessType.Type
    facts.setOperation(resultType == nil ? "flatMap" : "transform", (resultType?.success ?? Argument.self, New.self))
  }
}

/// The type of the value in a result, for the graph of pending futures.
private protocol SuccessType { static var success: Any.Type { get } }

extension Result: SuccessType { static var success: Any.Type { Success.self } }

extension Stage {
  /// Returns the value of `source`; if the source failed or broke, fails or breaks the stage, and returns `nil`.
  @_alwaysEmitIntoClient
  @inline(__always)
  final func value<Value: Sendable>(of source: FutureState, in trampoline: Trampoline) -> Value? {
    switch unsafeDowncast(source, to: State<Value, Stored.Failure>.self).result {
    case .success(let value)?: return value
    case .failure(let error)?:
      dropCaptures()
      resolve(.failure(error), in: trampoline)
    case nil:
      dropCaptures()
      passBreak(of: source, in: trampoline)
    }
    return nil
  }
}

extension MovingStage {
  /// Resolves as `other`, which a transform made, now or when `other` resolves; `trampoline` is as for `resolve(_:in:)`.
  @_alwaysEmitIntoClient
  final func follow<V, F>(
    _ other: consuming Future<V, F>,
    in trampoline: Trampoline? = nil
  ) where Stored == Outcome<V, F> {
    if let result = other.peek() {
      resolve(result, in: trampoline)
    } else {
      // No result, so there is a state. No variable: with a second reference, each state of a recursion stays in memory (R6).
      follow(other.takeState().unsafelyUnwrapped)
    }
  }
}

extension Unmanaged<FutureState> {
  /// Whether the state only waits, as a delay does: then `FlatMapStage` and `SubmittedStage` give it no share of their progress.
  @_alwaysEmitIntoClient
  @inline(__always)
  var onlyWaits: Bool { _withUnsafeGuaranteedRef { $0.has(.onlyWaits) } }
}
