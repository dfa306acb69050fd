internal import Synchronization

// Who listens to the progress of a state: a callback, a state whose progress is made of it, a task that reads. Each is told
// by one thread at a time, and for the last time when the state ends, before its callbacks run (R20).

/// One listener.
@usableFromInline
package class ProgressNode: CallbackNode, @unchecked Sendable {
  // @unchecked: as the base class says; `seen` is protected by the lock of the state.

  /// The version of the progress that it was told last.
  final var seen: UInt64

  init(seen: UInt64 = 0, deliver: @escaping Delivery) {
    self.seen = seen
    super.init(kind: .progress, deliver: deliver)
  }

  /// What is to be done for this listener, which is the first of those in `record`; it makes room for the next one.
  ///
  /// Under the lock of the state.
  func takeStep(in record: ProgressRecord) -> ProgressStep {
    preconditionFailure("A listener does not say how it is told.")
  }
}

/// What is to be done next for the listeners of a state, outside its lock.
enum ProgressStep {
  case call(ProgressObserver.Call, FutureProgress)
  case update(ProgressLink, FutureProgress)
  case resume(ProgressReader)
  /// All have been told what was news at the beginning of the round, and there is more by now.
  case repeatLater
  /// All have been told, or the state has ended.
  case finish(deliversResult: Bool)
}

/// A user's callback, which is told every report.
final class ProgressObserver: ProgressNode, @unchecked Sendable {
  // @unchecked: `call` is protected by the lock of the state while the node is listed; after that, whoever took it out has it.
  typealias Callback = @Sendable (FutureProgress) -> Void

  /// Where to call whom.
  struct Call {
    let context: ExecutionContext
    let callback: Callback

    /// Calls it, or hands `progress` to the context.
    func run(_ progress: FutureProgress) {
      guard !context.isImmediate else { return callback(progress) }
      context.execute { [callback] in callback(progress) }
    }
  }

  /// A callback that a context may hold when its observer has been removed; then it is empty.
  private final class Slot: Sendable {
    private let callback: Locked<Callback?>

    init(_ callback: @escaping Callback) { self.callback = Locked(callback) }

    func call(_ progress: FutureProgress) { callback.withLock { $0 }?(progress) }

    func clear() { _ = callback.take() }
  }

  private var context: ExecutionContext?
  private var callback: Callback?
  private var slot: Slot?

  /// Whether it is called when the future has ended, even if that is no news about the progress.
  private let hearsOfEnd: Bool

  init(on context: ExecutionContext, hearingOfEnd hearsOfEnd: Bool, _ callback: @escaping Callback) {
    self.context = context
    if context.isImmediate {
      self.callback = callback
    } else {
      let slot = Slot(callback)
      self.slot = slot
      self.callback = { slot.call($0) }
    }
    self.hearsOfEnd = hearsOfEnd
    super.init { node, state, _ in
      let observer = unsafeDowncast(node, to: ProgressObserver.self)
      let progress = state.lock.withLock {
        state.unseenProgress(of: observer) ?? (observer.hearsOfEnd ? state.lastProgress : nil)
      }
      let call = observer.call
      observer.giveUp()
      if let progress { call.run(progress) }
    }
  }

  private var call: Call {
    guard let context, let callback else { preconditionFailure("A listener has lost its callback before its turn.") }
    return Call(context: context, callback: callback)
  }

  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    record.listeners.rotate()
    return .call(call, record.current)
  }

  override func release() {
    slot?.clear()
    giveUp()
  }

  private func giveUp() {
    context = nil
    callback = nil
    slot = nil
  }
}

/// A state whose progress is made of that of another.
final class ProgressLink: ProgressNode, @unchecked Sendable {
  // @unchecked: `counted` is protected by the lock of `target`.
  enum Role {
    /// The target was derived from the source: the progress of that fills this region.
    case source(ProgressRegion)
    /// The source is a part of the target.
    case part(ProgressPart)
    /// The target is the first of several: the one that has come furthest says how far.
    case rival
  }

  /// Both own the link, and it owns both, until either has ended.
  let source: AnySharedState
  let target: AnySharedState
  let role: Role

  /// How much of `target` the source has come to, where it is a part.
  var counted = ProgressPart.nothing

  init(from source: AnySharedState, to target: AnySharedState, as role: Role) {
    self.source = source
    self.target = target
    self.role = role
    super.init { node, state, _ in
      let link = unsafeDowncast(node, to: ProgressLink.self)
      let last = state.lock.withLock { state.unseenProgress(of: link) }
      link.target.sourceEnded(link, last: last)
    }
  }

  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    record.listeners.rotate()
    return .update(self, record.current)
  }
}

/// A task that waits for news.
package final class ProgressReader: ProgressNode, @unchecked Sendable {
  // @unchecked: set before the reader is listed; resumed by whoever took it from the list.
  fileprivate var continuation: UnsafeContinuation<Void, Never>?

  package init() {
    super.init { node, _, _ in unsafeDowncast(node, to: ProgressReader.self).resume() }
  }

  func resume() { continuation.unsafelyUnwrapped.resume() }

  /// It waits for one piece of news, so it leaves the list.
  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    status.store(.finished, ordering: .relaxed)
    _ = record.listeners.popFirst()
    return .resume(self)
  }
}

extension AnySharedState {
  /// What there is to be read by somebody who has read `version`, or nothing yet.
  package enum ProgressNews {
    case unread(FutureProgress, version: UInt64)
    /// Nothing, and there will be nothing.
    case ended
    /// Nothing yet.
    case none
  }

  /// What is new since `version`.
  ///
  /// O(1), no allocation.
  package final func progressNews(since version: UInt64?) -> ProgressNews {
    let state = root
    return state.lock.withLock {
      let record = state.progressRecord
      let newest = record?.version ?? version ?? 0
      if version == newest { return state.phase.load(ordering: .relaxed) > .orphaned ? .ended : .none }
      return .unread(state.lastProgress, version: newest)
    }
  }

  /// Resumes `continuation` when there is news since `version`, at once if that is already so.
  package final func attach(
    _ reader: ProgressReader,
    since version: UInt64,
    resuming continuation: UnsafeContinuation<Void, Never>
  ) {
    let state = root
    reader.continuation = continuation
    reader.seen = version
    let (isListed, feed) = state.lock.withLock { () -> (Bool, (any ProgressFeed)?) in
      guard state.phase.load(ordering: .relaxed) <= .orphaned, let record = state.progressRecord,
        record.version == version, reader.status.load(ordering: .relaxed) == .new
      else { return (false, nil) }
      reader.status.store(.listed, ordering: .relaxed)
      record.listeners.append(reader)
      return (true, record.feed)
    }
    if !isListed { continuation.resume() }
    feed?.beginReporting()
  }

  /// Resumes `reader`, which is not interested any more.
  ///
  /// O(1).
  package final func abandon(_ reader: ProgressReader) {
    let state = root
    // Before it comes here it has no continuation yet: `attach` will see that it was withdrawn.
    if state.withdraw(reader) { return }
    if state.lock.withLock({ state.unlist(reader) }) != nil { reader.resume() }
  }
}
