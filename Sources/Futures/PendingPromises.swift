/// Promises by key, for protocols in which an answer names its question: delegates, requests and responses.
///
/// Who asks for a key that is pending joins it, so the bug of overwriting the continuation of an earlier caller cannot happen.
/// Each caller has a future of its own: one that is cancelled leaves, and the others do not notice; when all have left, the key
/// goes, and `onCancel` is told, so that the work can be stopped (R17).
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
/// Where the work for a key is a future itself, as of a download, it takes part in that: it is begun once, cancelled when all
/// have left, and heard by those who asked for it alone.
///
/// ```swift
/// let thumbnails = PendingPromises<URL, Thumbnail, any Error>("thumbnail")
///
/// func thumbnail(_ url: URL) -> Future<Thumbnail, any Error> {
///   thumbnails.future(sharing: url) { download(url).map(decode) }
/// }
/// ```
///
/// Keys are compared, and hashed, under its lock: `==` and `hash(into:)` must not call back into it.
///
/// Keep it as long as answers may come: when it goes away, what is pending fails with `BrokenPromise`, where `Failure` can hold that.
public final class PendingPromises<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  private typealias Caller = Promise<Value, Failure>

  /// What is pending for one key.
  private struct Entry {
    /// The key that the dictionary holds, so that it is not released where the entry is taken out, under the lock.
    let key: Key

    /// Those who wait, by the order in which they came.
    var callers: [Int: Caller] = [:]

    /// Those who were cancelled, and cannot say so: they get the result, and do not count.
    var silent: [Caller] = []

    /// The number of the caller who has asked the question.
    var asker: Int

    /// The work that was begun for it.
    var work: Future<Value, Failure>?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var callerCount = 0
  }

  private let label: String?
  private let onCancel: (@Sendable (Key) -> Void)?
  private let state = Locked(State())

  /// Has no promises yet.
  /// - Parameters:
  ///   - label: Names the promises in errors and diagnostics.
  ///   - onCancel: Stops the work for a key, when all who waited for it have been cancelled. It runs on the thread that cancels
  ///     the last one, outside every lock, so another thread may ask for the key again meanwhile; where that matters, and where
  ///     the work is a future, ask with `future(sharing:)`.
  public init(_ label: String? = nil, onCancel: (@Sendable (Key) -> Void)? = nil) {
    self.label = label
    self.onCancel = onCancel
  }

  /// A future of the answer for `key`, which joins those who wait for it already.
  ///
  /// O(1).
  /// - Parameters:
  ///   - key: What the answer will be for.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - start: Asks the question; it runs if nobody waits for the key yet, at once, outside every lock. It may resolve the key.
  /// - Returns: A future of this caller alone. Cancelling it leaves the others alone; see `onCancel` for the last one.
  public func future(
    for key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    start: () -> Void = {}
  ) -> Future<Value, Failure> {
    let caller = Caller(label, fileID: fileID, line: line)
    if join(caller, key) != nil { start() }
    return caller.future
  }

  /// A future of the work that is done for `key`: of what `work` begins, or of what goes on already.
  ///
  /// The work belongs to those who asked for it. When all of them have been cancelled it is cancelled too, unless somebody else
  /// needs its future, and who asks anew gets work of his own, whatever becomes of the old one. Its progress is theirs.
  /// `resolve` and `failAll` end their waiting, not the work.
  ///
  /// O(1).
  /// - Parameters:
  ///   - key: What the work is for.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - work: Begins the work; it runs if nobody waits for the key yet, at once, outside every lock.
  /// - Returns: A future of this caller alone. Cancelling it leaves the others alone.
  public func future(
    sharing key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    let caller = Caller(label, fileID: fileID, line: line)
    if let number = join(caller, key) { begin(work(), for: key, askedBy: number) }
    return caller.future
  }

  /// Adds a caller.
  /// - Returns: Its number, if it is the one to ask the question.
  private func join(_ caller: Caller, _ key: Key) -> Int? {
    let (number, isFirst, work) = state.withLock { state in
      state.callerCount += 1
      let number = state.callerCount
      let isFirst = state.entries[key]?.callers.isEmpty ?? true
      state.entries[key, default: Entry(key: key, asker: number)].callers[number] = caller
      if isFirst { state.entries[key]?.asker = number }
      return (number, isFirst, state.entries[key]?.work)
    }
    // Weak, since the caller is kept by this object, and breaks when it goes.
    caller.onCancel { [weak self] in self?.leave(key, number) }
    if let work { caller.progress.add(work, share: 1) }
    return isFirst ? number : nil
  }

  /// Has all who wait for the key get the result of the work, unless they have left while it was begun.
  private func begin(_ work: Future<Value, Failure>, for key: Key, askedBy asker: Int) {
    // A future of our own: cancelling it leaves the work, which others may need.
    let own = work.map { $0 }
    let callers = state.withLock { state -> [Caller]? in
      guard state.entries[key]?.asker == asker, state.entries[key]?.callers.isEmpty == false else { return nil }
      state.entries[key]?.work = own
      return state.entries[key].map { Array($0.callers.values) }
    }
    guard let callers else { return own.cancel() }
    for caller in callers { caller.progress.add(own, share: 1) }
    own.whenResolved(on: .immediate) { [weak self] in self?.end(key, askedBy: asker, with: $0) }
  }

  /// Resolves those who have asked for work that has ended, and nobody who has asked for it anew.
  private func end(_ key: Key, askedBy asker: Int, with result: Result<Value, Failure>) {
    let entry = state.withLock { state in
      state.entries[key]?.asker == asker ? state.entries.removeValue(forKey: key) : nil
    }
    if let entry { resolve(entry, with: result) }
  }

  /// Resolves the futures of all who wait for `key`, in the order in which they came, after those who were cancelled and could
  /// not say so.
  /// - Parameters:
  ///   - key: What the answer is for.
  ///   - result: The answer.
  /// - Returns: Whether anybody got it; else nothing happens.
  @discardableResult
  public func resolve(_ key: Key, with result: Result<Value, Failure>) -> Bool {
    guard let entry = state.withLock({ $0.entries.removeValue(forKey: key) }) else { return false }
    resolve(entry, with: result)
    return true
  }

  /// Fails the futures of all who wait for any key, as when a connection is lost.
  /// - Parameter error: What they fail with.
  public func failAll(_ error: Failure) {
    let entries = state.withLock { state in
      defer { state.entries = [:] }
      return state.entries
    }
    for entry in entries.values { resolve(entry, with: .failure(error)) }
  }

  /// How many keys are pending.
  ///
  /// O(number of keys).
  public var count: Int {
    state.withLock { state in state.entries.values.count { !$0.callers.isEmpty } }
  }

  private func resolve(_ entry: Entry, with result: Result<Value, Failure>) {
    for caller in entry.silent { caller.resolve(result) }
    for (_, caller) in entry.callers.sorted(by: { $0.key < $1.key }) { caller.resolve(result) }
  }

  /// Takes a caller away who was cancelled.
  private func leave(_ key: Key, _ number: Int) {
    let (caller, ended, isLast) = state.withLock { state -> (Caller?, Entry?, Bool) in
      // In place, so that no dictionary is copied.
      guard let caller = state.entries[key]?.callers.removeValue(forKey: number) else { return (nil, nil, false) }
      if !Cancelled<Failure>.isExpressible { state.entries[key]?.silent.append(caller) }
      guard state.entries[key]?.callers.isEmpty == true else { return (caller, nil, false) }
      // Those who cannot say that they were cancelled wait on, for an answer to the key, or for the work that was theirs.
      let isWaitedFor = state.entries[key]?.silent.isEmpty == false && state.entries[key]?.work == nil
      return (caller, isWaitedFor ? nil : state.entries.removeValue(forKey: key), true)
    }
    _ = caller  // released here, outside the lock
    if isLast { onCancel?(key) }
    guard let ended, let work = ended.work else { return }
    for caller in ended.silent { caller.follow(work) }
    work.cancel()
  }
}
