internal import Synchronization

/// Who resolves a state, where somebody must know, and what few states have; one word.
@usableFromInline
enum StateDetails {
  /// A promise, or nobody. Next is any other.
  case none
  /// A stage of the library, whose source is to be left when the state is cancelled.
  ///
  /// Not owned, since the stage owns the state. It, and its source, are alive as long as the state is unresolved and says
  /// this: whoever runs the stage resolves the state, or puts another producer in its place, before he lets go of it, which
  /// needs the state's lock.
  case stage(Unmanaged<StageNode>)
  /// A task, to be cancelled with the state.
  case task(Task<Void, any Error>)
  /// Several inputs, to be left when the state is cancelled.
  case inputs(InputHolder)
  /// A producer, and more.
  case record(StateRecord)
  /// What starts the producer of a dormant state.
  case dormant(LazyStart)
  /// Why a state is broken. Final.
  case broken(BreakReason)
  /// What a state was merged into. Final.
  case merged(AnySharedState)

  /// Whether there is nothing to be released when the state ends.
  @inlinable
  var isTrivial: Bool {
    switch self {
    case .none, .stage: true
    default: false
    }
  }
}

/// What few states have; it is made when it is needed.
@usableFromInline
final class StateRecord {
  /// Names the state in diagnostics.
  var label: String?

  /// `none`, `stage`, `task`, `inputs`, `dormant` or `broken`.
  var producer: StateDetails

  /// How far the work has come, where somebody reports it or asks for it.
  var progress: ProgressRecord?

  /// The source of the token of the state's promise, which its `onCancel` handlers are registered with.
  var cancellation: CancellationState?

  /// The consumers that were cancelled but cannot say so: they do not count, and still get the result (R16).
  var silent = CallbackList()

  init(producer: StateDetails) { self.producer = producer }
}

/// What holds several inputs for a state that they resolve together.
///
/// Q: Why not a protocol? A: A reference to one takes two words.
@usableFromInline
class InputHolder: @unchecked Sendable {
  // @unchecked: subclasses say what protects them.

  @usableFromInline
  init() {}

  /// Leaves all inputs.
  /// - Parameter isSilent: Whether their results are still wanted, since the state cannot say "cancelled".
  /// - Returns: The inputs that nobody else needs.
  @usableFromInline
  func leaveInputs(silently isSilent: Bool) -> [AnySharedState] { [] }

  /// What the progress of the state is made of.
  ///
  /// Under the lock of the state.
  var progressParts: ProgressParts { ProgressParts() }
}

/// What starts the producer of a dormant state.
@usableFromInline
final class LazyStart: @unchecked Sendable {
  // @unchecked: `start` changes in the deinitializer only.
  typealias Start = @Sendable (AnySharedState) -> Void

  private(set) var start: Start?

  init(_ start: @escaping Start) { self.start = start }

  deinit {
    // It may hold the next lazy future, and that the next, so letting go of it nests only as deep as deliveries do.
    let loop = DeliveryLoop.current
    guard loop.enter() else {
      let start = start
      return loop.defer { _ = start }
    }
    start = nil
    loop.leave()
  }
}

/// Why a state is broken; one object for all that were derived from the same promise.
@usableFromInline
package final class BreakReason: Sendable {
  /// The mistake; `nil` where it is none, since a future was made to never resolve, or a token cannot be cancelled any more.
  @usableFromInline let error: BrokenPromise?

  init(_ error: BrokenPromise?) { self.error = error }

  /// The reason of what waits for `Future.never`.
  @usableFromInline static let never = BreakReason(nil)
}

// MARK: - Under the lock

extension AnySharedState {
  /// The producer, whether there is a record or not.
  ///
  /// Under the lock.
  final var producer: StateDetails {
    switch details {
    case .stage, .task, .inputs, .dormant, .broken: details
    case .record(let record): record.producer
    case .none, .merged: .none
    }
  }

  /// Puts `producer` in the place of the one before, unless the state has ended.
  ///
  /// Under the lock.
  final func setProducer(_ producer: StateDetails) {
    switch details {
    case .none, .stage, .task, .inputs, .dormant: details = producer
    case .record(let record): record.producer = producer
    case .broken, .merged: break
    }
  }

  /// The record of an unresolved state.
  ///
  /// Under the lock.
  final var record: StateRecord {
    if case .record(let record) = details { return record }
    let record = StateRecord(producer: producer)
    details = .record(record)
    return record
  }

  /// What a state that ends lets go of, outside the lock.
  @usableFromInline
  struct Ended {
    let producer: StateDetails
    var cancellation: CancellationState?
    var links: [ProgressLink] = []
    var reporter: ProgressReporter?
    var feed: (any ProgressFeed)?

    /// Releases the handlers of the promise, which can no longer run, and leaves those whose progress made this one's.
    @usableFromInline
    consuming func release() {
      cancellation?.end()
      for link in links { link.disconnect() }
      feed?.end()
    }
  }

  /// Takes out what nobody needs once the state has ended, and calls back those that were silenced.
  ///
  /// Under the lock.
  @usableFromInline
  final func takeDetails() -> Ended? {
    switch details {
    case .none, .stage, .broken, .merged: return nil
    case .task, .inputs, .dormant:
      defer { details = .none }
      return Ended(producer: details)
    case .record(let record):
      consumers.append(&record.silent)
      defer {
        record.producer = .none
        record.cancellation = nil
        record.progress?.reporter = nil
        record.progress?.feed = nil
      }
      return Ended(
        producer: record.producer,
        cancellation: record.cancellation,
        links: record.progress?.takeLinks() ?? [],
        reporter: record.progress?.reporter,
        feed: record.progress?.feed
      )
    }
  }
}

// MARK: - Names

extension AnySharedState {
  @usableFromInline
  final var label: String? {
    lock.withLock {
      if case .record(let record) = details { record.label } else { nil }
    }
  }

  /// Names the state.
  @usableFromInline
  final func setLabel(_ label: String) {
    lock.withLock {
      if phase.load(ordering: .relaxed) <= .following { record.label = label }
    }
  }
}
