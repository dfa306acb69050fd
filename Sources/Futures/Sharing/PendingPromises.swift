/// Promises by key, for protocols in which a response names its request.
///
/// A caller that asks for a pending key joins the running request. So a second caller cannot overwrite the continuation
/// of the first. Each caller has a separate future. Cancelling one future does not affect the other callers. When all
/// callers have left, the key is removed and `onCancel` runs, so that the work can stop (R17).
///
/// ```swift
/// let replies = PendingPromises<RequestID, Data, any Error>("rpc") { id in
///   connection.send(.cancel(id))
/// }
///
/// func request(_ id: RequestID) -> Future<Data, any Error> {
///   replies.future(for: id) { connection.send(.request(id)) }
/// }
///
/// func didReceive(_ data: Data, for id: RequestID) {
///   replies.resolve(id, with: .success(data))
/// }
/// ```
///
/// The work for a key can be a future itself, for example a download. It starts once, and only its callers get its
/// result. It is cancelled when all its callers have left.
///
/// ```swift
/// let thumbnails = PendingPromises<URL, Thumbnail, any Error>("thumbnail")
///
/// func thumbnail(_ url: URL) -> Future<Thumbnail, any Error> {
///   thumbnails.future(sharing: url) { download(url).map(decode) }
/// }
/// ```
///
/// Some APIs assign the key only when the request has begun. So the answer can arrive before the caller asks for its key.
/// `keepingEarlyAnswers` keeps such answers.
///
/// ```swift
/// let prints = PendingPromises<JobID, Receipt, any Error>("print", keepingEarlyAnswers: 16)
///
/// func print(_ page: Page) -> Future<Receipt, any Error> {
///   prints.future(for: printer.begin(page))  // the delegate can already have the answer
/// }
/// ```
///
/// The key's `==` and `hash(into:)` run under a lock. They must not call back into this object.
///
/// A cancelled caller whose failure type cannot represent cancellation (`Never`) still gets the answer (R16). Its
/// promise stays until `resolve`, `failAll` or the shared work resolves it. So resolve each key, or use a failure type
/// that can represent cancellation.
///
/// Keep this object alive while answers can arrive. When it goes away, its pending futures fail with `BrokenPromise`,
/// if `Failure` can hold that. Then it leaves the shared work, which is cancelled unless its future has another
/// consumer.
public final class PendingPromises<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  typealias Caller = Promise<Value, Failure>
  typealias Answers = EarlyAnswers<Key, Result<Value, Failure>>

  /// The pending request for one key.
  ///
  /// A class: the code that copies a generic structure takes kilobytes of each executable.
  final class Entry: @unchecked Sendable {
    // @unchecked: the lock protects the variables of an entry in the dictionary. Only one thread has a removed entry.

    /// The dictionary's copy of the key; the entry keeps it, so that it is not released under the lock.
    let key: Key

    /// The callers that wait, by number, in the order of arrival.
    ///
    /// Each with the task that asked, to find work that asks for its own key; `nil` for the caller that started the request.
    var callers: [Int: (caller: Caller, task: TaskIdentity?)] = [:]

    /// The cancelled callers whose failure type cannot represent cancellation.
    ///
    /// They still get the result, but do not keep the request alive.
    var resultOnly: [Caller] = []

    /// The number of the caller that started the request.
    var request: Int

    /// The shared work of the request, if there is any.
    var work: Future<Value, Failure>?

    #if DEBUG
      /// The thread that starts the work now, to report a start that asks for its own key.
      var starter: UnsafeMutableRawPointer?
    #endif

    /// All callers, in the order of delivery.
    var inOrder: [Caller] { resultOnly + callers.sorted { $0.key < $1.key }.map(\.value.caller) }

    init(_ key: Key, request: Int) {
      self.key = key
      self.request = request
    }
  }

  struct State {
    var entries: [Key: Entry] = [:]
    var callerCount = 0
    var earlyAnswers = Answers()
  }

  let label: String?
  private let earlyAnswerLimit: Int

  /// Whether other code can call `resolve` and `failAll`.
  ///
  /// Not for a cache, whose callers get only what its loads give.
  let acceptsAnswers: Bool
  private let onCancel: (@Sendable (Key) -> Void)?
  let state = Locked(State())

  /// Makes an object without pending keys.
  /// - Parameters:
  ///   - label: The name of the promises in errors and diagnostics.
  ///   - limit: The maximum number of answers that are kept for keys that are not pending, each until a caller asks for
  ///     its key. Several answers of one key are kept in order. Above the limit, the oldest of all is dropped. If the limit
  ///     is not 0, never reuse a key: an answer that comes after its callers have left is kept, too. A negative limit traps.
  ///   - onCancel: Stops the work for a key after all its callers have been cancelled. It runs outside every lock, on
  ///     the thread that cancels the last caller. So another thread can ask for the key again meanwhile. If that
  ///     matters and the work is a future, use `future(sharing:)`.
  public convenience init(
    _ label: String? = nil,
    keepingEarlyAnswers limit: Int = 0,
    onCancel: (@Sendable (Key) -> Void)? = nil
  ) {
    require(limit >= 0, "PendingPromises needs a limit of at least 0 for early answers, but limit is \(limit).")
    self.init(label, earlyAnswerLimit: limit, acceptsAnswers: true, onCancel)
  }

  /// Does the work of the other initializers; with `acceptsAnswers: false`, makes the table of the loads of a `FutureCache`.
  init(_ label: String?, earlyAnswerLimit: Int, acceptsAnswers: Bool, _ onCancel: (@Sendable (Key) -> Void)?) {
    self.label = label
    self.earlyAnswerLimit = earlyAnswerLimit
    self.acceptsAnswers = acceptsAnswers
    self.onCancel = onCancel
  }

  /// Makes an object without pending keys, whose work stops on the main actor.
  ///
  /// With `.main`, `onCancel` runs after the cancellation has returned, so another caller can have asked for the key again.
  public convenience init(
    _ label: String? = nil,
    keepingEarlyAnswers limit: Int = 0,
    on context: MainContext,
    onCancel: @escaping @MainActor (Key) -> Void
  ) {
    let context = context.context  // read now: a test can have replaced it for this caller only
    self.init(label, keepingEarlyAnswers: limit) { key in
      context.execute { MainActor.assumeIsolated { onCancel(key) } }
    }
  }

  deinit {
    let entries = state.withLock { $0.entries }
    let owner: StaticString = acceptsAnswers ? "PendingPromises" : "FutureCache"  // a cache's table accepts no answers
    // All callers first, because one of their callbacks can attach to the work of another entry, and so keep it running.
    for entry in entries.values { for caller in entry.inOrder { caller.breakState(releasedBy: owner) } }
    for entry in entries.values { entry.work?.cancel() }  // a derived future: its source runs on for other consumers
  }

  /// Returns a future of the answer for `key`, and joins the pending request if there is one.
  ///
  /// An early answer that was kept is handed out once, the oldest first, and resolves the future at once.
  ///
  /// O(1).
  /// - Parameters:
  ///   - key: The key of the answer.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - start: Sends the request. It runs if the key is not pending and has no early answer: at once, outside every
  ///     lock. It can resolve the key.
  /// - Returns: A future for this caller alone. Cancelling it does not affect the other callers. When the last caller
  ///   is cancelled, `onCancel` runs.
  public func future(
    for key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    start: () -> Void = {}
  ) -> Future<Value, Failure> {
    let caller = Caller(label, fileID: fileID, line: line)
    switch join(caller, key, takingEarlyAnswer: true) {
    case .answered(let result): caller.resolve(result)
    case .first: start()
    case .joined: break
    }
    return caller.future
  }

  enum Joining {
    /// The caller starts the request.
    case first(number: Int)
    /// The key is pending.
    case joined
    /// The answer has arrived early. The caller was not added.
    case answered(Result<Value, Failure>)
  }

  /// Adds a caller; but if `takesAnswer` is set and an early answer for `key` is kept, takes that answer out instead.
  func join(_ caller: Caller, _ key: Key, takingEarlyAnswer takesAnswer: Bool) -> Joining {
    // `leave` needs the task to find and cancel work that asks for its own key, because such work waits for itself for ever.
    // If the key has no callers yet, its work starts after this call, and therefore did not make this call.
    let hasCallers = state.withLock { $0.entries[key]?.callers.isEmpty == false }
    let task = hasCallers ? TaskIdentity.current : nil  // outside the lock, because this formats a string
    let (number, isFirst, work, answer) = state.withLock {
      state -> (Int, Bool, Future<Value, Failure>?, Answers.Removed?) in
      // Under the same lock as the addition below. An answer between the two would be kept, and the caller would wait for ever.
      if takesAnswer, let answer = state.earlyAnswers.takeOldest(of: key) { return (0, false, nil, answer) }
      state.callerCount += 1
      let number = state.callerCount
      let entry: Entry
      if let pending = state.entries[key] {
        entry = pending
      } else {
        entry = Entry(key, request: number)
        state.entries[key] = entry
      }
      // Cancelled callers (`resultOnly`) do not count: if only such callers wait, this one starts a new request.
      let isFirst = entry.callers.isEmpty
      entry.callers[number] = (caller, isFirst ? nil : task)
      if isFirst { entry.request = number }
      return (number, isFirst, entry.work, nil)
    }
    if let answer { return .answered(answer.entry.answer) }  // entry and key are released here, outside the lock
    // Weak: this object owns the caller's promise, and breaks it when it goes away.
    caller.onCancel { [weak self] in self?.leave(key, number) }
    if let work { connect(caller, to: work) }  // not the first caller: an entry with work has callers
    return isFirst ? .first(number: number) : .joined
  }

  /// Resolves the futures of all callers of `key`, in the order of arrival.
  ///
  /// Cancelled callers whose failure type cannot represent cancellation come first.
  /// - Parameters:
  ///   - key: The key of the answer.
  ///   - result: The answer.
  /// - Returns: Whether the key was pending. If not, the answer is dropped, or kept if `keepingEarlyAnswers` is positive.
  @discardableResult
  public func resolve(_ key: Key, with result: Result<Value, Failure>) -> Bool {
    let (entry, dropped) = state.withLock { state -> (Entry?, Answers.Removed?) in
      if let entry = state.entries.removeValue(forKey: key) { return (entry, nil) }
      return (nil, earlyAnswerLimit > 0 ? state.earlyAnswers.add(result, for: key, limit: earlyAnswerLimit) : nil)
    }
    _ = dropped  // released here, outside the lock
    guard let entry else { return false }
    resolve(entry, with: result)
    return true
  }

  /// Fails the futures of all callers of all keys, for example after a lost connection, and drops early answers.
  public func failAll(_ error: Failure) {
    let (entries, earlyAnswers) = state.withLock { state in
      defer {
        state.entries = [:]
        state.earlyAnswers = Answers()
      }
      return (state.entries, state.earlyAnswers)
    }
    _ = earlyAnswers  // released here, outside the lock
    for entry in entries.values { resolve(entry, with: .failure(error)) }
  }

  /// The number of pending keys; O(number of keys).
  public var count: Int {
    state.withLock { state in state.entries.values.count { !$0.callers.isEmpty } }
  }

  /// Resolves the callers of an entry that was removed.
  private func resolve(_ entry: Entry, with result: Result<Value, Failure>) {
    for caller in entry.inOrder { caller.resolve(result) }
  }

  /// Removes a cancelled caller; after the last one, removes the key, calls `onCancel`, and cancels the shared work.
  private func leave(_ key: Key, _ number: Int) {
    var caller: Caller?  // released outside the lock
    var isLast = false
    var ended: Entry?
    // The callers that stay, if few. If the shared work made all their requests, it waits for itself, so they are cancelled.
    var remaining: [(caller: Caller, task: TaskIdentity?)] = []
    var workOfRemaining: Future<Value, Failure>?
    state.withLock { state in
      guard let entry = state.entries[key] else { return }
      caller = entry.callers.removeValue(forKey: number)?.caller
      guard let caller else { return }  // resolved meanwhile
      if !Cancelled<Failure>.isExpressible { entry.resultOnly.append(caller) }  // it still gets the result
      isLast = entry.callers.isEmpty
      guard isLast else {
        // At most 4, so that leaving is O(1).
        if entry.callers.count <= 4 { (remaining, workOfRemaining) = (Array(entry.callers.values), entry.work) }
        return
      }
      // Without work, only `resolve` can answer cancelled callers that still get the result, so their entry stays.
      let isAwaited = !entry.resultOnly.isEmpty && entry.work == nil
      if !isAwaited { ended = state.entries.removeValue(forKey: key) }
    }
    if let workOfRemaining { cancel(remaining, ifRequestsOf: workOfRemaining, for: key) }
    if isLast { onCancel?(key) }
    guard let ended, let work = ended.work else { return }
    for caller in ended.resultOnly { caller.follow(work) }  // their entry is gone, so the work's end would miss them
    work.cancel()
  }

  /// Cancels a key's remaining callers if the key's own work has made all their requests: such work waits for itself for ever.
  private func cancel(
    _ callers: [(caller: Caller, task: TaskIdentity?)],
    ifRequestsOf work: Future<Value, Failure>,
    for key: Key
  ) {
    guard case .sharedState(let work) = work.storage else { return }  // otherwise it is resolved, and waits for nothing
    // The work has made a request if it waits for the caller's future, or if a task of the work asked for the key.
    guard callers.allSatisfy({ work.waits(for: $0.caller.state, madeBy: $0.task) }) else { return }
    #if DEBUG
      reportWorkWaitingForItself(key)
    #endif
    for (caller, _) in callers { caller.future.cancel() }
  }
}

/// The one key of promises that wait for the same answer: `PendingPromises<SingleKey, Value, Failure>`.
public enum SingleKey: Hashable, Sendable {
  /// The key.
  case only
}

extension PendingPromises where Key == SingleKey {
  /// Returns a future of the answer, and joins the pending request if there is one.
  ///
  /// All else is as in `future(for:)`.
  public func future(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    start: () -> Void = {}
  ) -> Future<Value, Failure> {
    future(for: .only, fileID: fileID, line: line, start: start)
  }

  /// Resolves the futures of all callers, in the order of arrival.
  /// - Returns: Whether a caller was waiting.
  @discardableResult
  public func resolve(with result: Result<Value, Failure>) -> Bool { resolve(.only, with: result) }
}
