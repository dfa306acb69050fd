/// Promises by key, for protocols in which an answer names its question: delegates, requests and responses.
///
/// Who asks for a key that is pending joins it, so the bug of overwriting the continuation of an earlier caller cannot happen.
/// Each caller has a future of its own: one that is cancelled leaves, and the others do not notice; when all have left, the key
/// goes, and `onCancel` is told, so that the work can be stopped (R17).
///
/// ```swift
/// let replies = PendingPromises<RequestID, Data, any Error>("rpc") { id in connection.send(.cancel(id)) }
///
/// func request(_ id: RequestID) -> Future<Data, any Error> {
///   replies.future(for: id) { connection.send(.request(id)) }
/// }
///
/// func connection(_ connection: Connection, didReceive data: Data, for id: RequestID) {
///   replies.resolve(id, with: .success(data))
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
  ///     the last one, outside every lock, so another thread may ask for the key again meanwhile; where that matters, have each
  ///     `start` take an identifier of its own.
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
    let (number, isFirst) = state.withLock { state in
      state.callerCount += 1
      let isFirst = state.entries[key]?.callers.isEmpty ?? true
      state.entries[key, default: Entry(key: key)].callers[state.callerCount] = caller
      return (state.callerCount, isFirst)
    }
    // Weak, since the caller is kept by this object, and breaks when it goes.
    caller.onCancel { [weak self] in self?.leave(key, number) }
    if isFirst { start() }
    return caller.future
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
    let (caller, removed, isLast) = state.withLock { state -> (Caller?, Entry?, Bool) in
      // In place, so that no dictionary is copied.
      guard let caller = state.entries[key]?.callers.removeValue(forKey: number) else { return (nil, nil, false) }
      if !Cancelled<Failure>.isExpressible { state.entries[key]?.silent.append(caller) }
      guard state.entries[key]?.callers.isEmpty == true else { return (caller, nil, false) }
      guard state.entries[key]?.silent.isEmpty == true else { return (caller, nil, true) }
      return (caller, state.entries.removeValue(forKey: key), true)
    }
    _ = (caller, removed)  // released here, outside the lock
    if isLast { onCancel?(key) }
  }
}
