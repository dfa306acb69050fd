// The listeners to a state's progress: a callback, a link to another state, a task that reads. One thread at a time
// notifies them. The last notification comes when the state settles, before its callbacks run (R20).

/// A listener to the progress of a state.
@usableFromInline
package class ProgressListener: Consumer, @unchecked Sendable {
  // @unchecked: as the base class says. The lock of the state protects `seen`.

  /// The version of the progress that the listener got last.
  final var seen: UInt64

  init(seen: UInt64 = 0, deliver: @escaping Delivery) {
    self.seen = seen
    super.init(kind: .progress, deliver: deliver)
  }

  /// Returns the step that notifies this listener, the first of the list; moves it to the end, or removes it; under the lock.
  func takeStep(in record: ProgressRecord) -> ProgressStep {
    preconditionFailure("A progress listener has no step. Override `takeStep(in:)`.")
  }
}

/// The next step in notifying the listeners of a state, performed after unlocking.
enum ProgressStep {
  case call(ProgressObserver.Call, FutureProgress)
  case update(ProgressLink, FutureProgress)
  case resume(ProgressReader)
  /// All listeners have the progress from the beginning of the round, and there is newer progress.
  case repeatLater
  /// All listeners have the current progress, or the state is settled.
  case finish(deliversResult: Bool)
}

/// A user's callback that gets each change of the progress.
final class ProgressObserver: ProgressListener, @unchecked Sendable {
  // @unchecked: the lock of the state protects the variables while the observer is in the list. Afterwards only the thread
  // that removed it uses them.
  typealias Callback = @Sendable (FutureProgress) -> Void

  struct Call {
    let context: ExecutionContext
    let callback: Callback

    /// Calls the callback, inline or on its context.
    func run(_ progress: FutureProgress) {
      guard !context.isImmediate else { return callback(progress) }  // as `execute` does, but without a second closure
      if case .custom = context.kind {  // a custom context can run its work twice (R2a)
        let once = Locked<Callback?>(callback)
        return context.execute { once.take()?(progress) }
      }
      context.execute { [callback] in callback(progress) }  // not `self`, because its context can own this work
    }
  }

  /// `nil` once the observer has left the list.
  private var call: Call?

  /// The callback, for calls that a context runs later; emptied when the observer is removed, so that these calls do nothing.
  private var slot: Locked<Callback?>?

  /// Whether the callback is also called at the end of a future whose progress has not changed.
  private let includesEnd: Bool

  init(on context: ExecutionContext, includingEnd includesEnd: Bool, _ callback: @escaping Callback) {
    if context.isImmediate {
      call = Call(context: context, callback: callback)
    } else {
      let slot = Locked<Callback?>(callback)
      self.slot = slot
      call = Call(context: context) { progress in slot.withLock { $0 }?(progress) }
    }
    self.includesEnd = includesEnd
    // The delivery comes when the state has settled: it makes the last call, if there is news. It releases `slot` without
    // emptying it, for the calls that the context has not run yet.
    super.init { consumer, state, _ in
      let observer = unsafeDowncast(consumer, to: ProgressObserver.self)
      let progress = state.underLock {
        state.unseen(by: observer) ?? (observer.includesEnd ? state.lastProgressInLock : nil)
      }
      let call = observer.call.take()
      observer.slot = nil
      if let progress { call?.run(progress) }
    }
  }

  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    guard let call else {
      preconditionFailure("A progress observer is in a list without its callback. Remove it before it is cleared.")
    }
    record.listeners.rotate()  // moves this listener, the first one, to the end, because it is up to date now
    return .call(call, record.current)
  }

  override func dropCaptures() {
    _ = slot.take()?.take()  // takes the callback out of its box, so that calls that the context runs later do nothing
    call = nil
  }
}

/// The listener that passes the progress of one state to another.
final class ProgressLink: ProgressListener, @unchecked Sendable {
  // @unchecked: the lock of `target` protects `counted` and `index`.
  enum Role {
    /// The target is derived from the source, whose progress fills this region.
    case source(ProgressRegion)
    /// The source counts as this part of the target.
    case part(ProgressPart)
    /// The target takes the maximum of its sources.
    case raceInput
  }

  /// Both states own the link, and the link owns both, until one of them settles.
  let source: FutureState
  let target: FutureState
  let role: Role

  /// The amount that the target has counted for the source, if the source is a part.
  var counted = ProgressPart.nothing

  /// The index in the links of the target's record.
  var index = 0

  init(from source: FutureState, to target: FutureState, as role: Role) {
    self.source = source
    self.target = target
    self.role = role
    super.init { consumer, state, _ in
      // The delivery comes when the source has settled. The target might not have got the last progress of the source.
      let link = unsafeDowncast(consumer, to: ProgressLink.self)
      let last = state.underLock { state.unseen(by: link) }
      link.target.sourceEnded(link, last: last)
    }
  }

  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    record.listeners.rotate()  // moves this listener, the first one, to the end, because it is up to date now
    return .update(self, record.current)
  }
}

/// A suspended task that waits for new progress.
package final class ProgressReader: ProgressListener, @unchecked Sendable {
  // @unchecked: `continuation` is set before the reader is listed. Then only the thread that removes the reader uses it.
  fileprivate var continuation: UnsafeContinuation<Void, Never>?

  package init() {  // the closure runs when the state has settled; until then, news comes by `takeStep`
    super.init { consumer, _, _ in unsafeDowncast(consumer, to: ProgressReader.self).resume() }
  }

  func resume() { continuation.unsafelyUnwrapped.resume() }

  /// Removes the reader from the list, because one notification ends its wait.
  override func takeStep(in record: ProgressRecord) -> ProgressStep {
    enter(.finished)
    record.listeners.popFirst()?.release()  // the caller keeps the reader
    return .resume(self)
  }
}

extension FutureState {
  /// The progress that a reader has not read.
  package enum ProgressNews {
    case unread(FutureProgress, version: UInt64)
    /// None, and none comes: the state is settled.
    case ended
    /// None yet: the state is pending.
    case none
  }

  /// Returns the progress that is newer than `version`.
  ///
  /// O(1). Only the first request of the progress allocates.
  /// - Parameter version: The version that the reader has read; `nil` for its first read, which starts a lazy future.
  /// - Returns: The progress that the reader has not read.
  package final func progressNews(since version: UInt64?) -> ProgressNews {
    if version == nil {
      requestProgress()
      start()
    }
    return underLock {
      // A settled state can lack a record. A first read (`nil`) gets version 0. A later read finds its own version, and ends.
      let newest = progressRecord?.version ?? version ?? 0
      if version == newest { return isPending ? .none : .ended }
      return .unread(lastProgressInLock, version: newest)
    }
  }

  /// Resumes `continuation` when there is progress newer than `version`, or the state settles, or `reader` is abandoned.
  ///
  /// At once, if one of these has happened before. The caller must have requested the progress, by `progressNews(since:)`.
  package final func attach(
    _ reader: ProgressReader,
    since version: UInt64,
    resuming continuation: UnsafeContinuation<Void, Never>
  ) {
    reader.continuation = continuation
    reader.seen = version
    let (isListed, feed) = underLock { () -> (Bool, (any ProgressFeed)?) in
      guard isPending, let record = progressRecord, record.version == version, reader.currentStatus == .new
      else { return (false, nil) }
      reader.enter(.listed)
      record.listeners.append(.passRetained(reader))  // at the end: listeners that are not up to date come first
      return (true, record.feed)
    }
    if !isListed { continuation.resume() }
    feed?.beginReporting()  // for each new listener: the feed can stop reporting changes when the last one leaves
  }

  /// Ends the wait of `reader` without new progress, when the reading task is cancelled; O(1).
  package final func abandon(_ reader: ProgressReader) {
    // No reference: another thread resumes the reader, or it is not attached yet. Then `attach` finds it finished, and resumes.
    guard let reference = leave(reader)?.reference else { return }
    reader.resume()
    reference.release()
  }
}
