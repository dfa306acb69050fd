/// Values by key, each loaded once for all its callers, and kept until it expires: a token, an image, a configuration.
///
/// A caller gets the kept value, or joins the running load, or starts one. This is one step, so a value is never loaded
/// twice at the same time, unless `remove` or `removeAll` comes during a load. Failures are not kept: the next caller starts
/// a new load.
///
/// ```swift
/// let thumbnails = FutureCache<URL, Thumbnail, any Error>("thumbnail", keepingFor: .seconds(60))
///
/// func thumbnail(_ url: URL) -> Future<Thumbnail, any Error> {
///   thumbnails.future(for: url) { download(url).map(decode) }
/// }
/// ```
///
/// The lifetime can depend on the value, and `remove(_:where:)` drops a value that another party has revoked:
///
/// ```swift
/// let tokens = FutureCache<SingleKey, Token, any Error>("token") { token in token.lifetime }
///
/// func token() -> Future<Token, any Error> { tokens.future { refresh() } }
/// func serverRefused(_ token: Token) { tokens.remove { $0 == token } }  // keeps a token that is newer
/// ```
///
/// Cancellation: as in `PendingPromises.future(sharing:)`. When all callers of a load have been cancelled, the load is cancelled, and
/// nothing is kept.
///
/// The key's `==` and `hash(into:)` run under a lock. They must not call back into this object.
///
/// Keep this object alive while its futures are pending. When it goes away, they fail with `BrokenPromise`, if `Failure` can
/// hold that.
public final class FutureCache<Key: Hashable & Sendable, Value: Sendable, Failure: Error>: Sendable {
  /// A load that callers join; not only its key, because a caller after `remove(_:)` must not join the load before it.
  private struct Load: Hashable, Sendable, CustomStringConvertible {
    let key: Key
    let number: Int

    var description: String { "\(key)" }
  }

  private let loads: PendingPromises<Load, Value, Failure>
  private let state: Locked<CacheState<Key, Value>>
  private let timer: ExecutionContext

  /// Returns the lifetime of a value in nanoseconds; `nil` without an expiry.
  private let lifetime: (@Sendable (Value) -> Int64)?

  private init(_ label: String?, _ timer: ExecutionContext, _ lifetime: (@Sendable (Value) -> Int64)?) {
    let state = Locked(CacheState<Key, Value>())
    self.state = state
    // The closure runs when all callers of a load have left. A load that a new caller starts meanwhile has another number.
    loads = PendingPromises(label, earlyAnswerLimit: 0, acceptsAnswers: false) { load in  // only a load gives values
      let slot = state.withLock { $0.removeUnlessLoaded(load.key, load.number) }
      _ = slot  // released here, outside the lock
    }
    self.timer = timer
    self.lifetime = lifetime
  }

  /// Makes an empty cache whose values do not expire.
  /// - Parameter label: The name of the loads in errors and diagnostics.
  public convenience init(_ label: String? = nil) { self.init(label, .global(), nil) }

  /// Makes an empty cache whose values expire.
  /// - Parameters:
  ///   - label: The name of the loads in errors and diagnostics.
  ///   - lifetime: The time from the end of a load to the expiry of its value. Zero or less keeps nothing.
  ///   - timer: Measures the lifetimes. A test passes the context of its `ManualContext`. The clock of Dispatch stops while the
  ///     device sleeps.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public convenience init(_ label: String? = nil, keepingFor lifetime: Duration, timer: ExecutionContext = .global()) {
    let nanoseconds = lifetime.nanoseconds
    self.init(label, timer) { _ in nanoseconds }
  }

  /// Makes an empty cache whose values say when they expire.
  /// - Parameters:
  ///   - label: The name of the loads in errors and diagnostics.
  ///   - timer: Measures the lifetimes. A test passes the context of its `ManualContext`. The clock of Dispatch stops while the
  ///     device sleeps.
  ///   - lifetime: Returns the time from the end of a load to the expiry of its value. Zero or less keeps nothing. It runs
  ///     outside every lock, before the callers get the value.
  @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
  public convenience init(
    _ label: String? = nil,
    timer: ExecutionContext = .global(),
    lifetime: @escaping @Sendable (Value) -> Duration
  ) {
    self.init(label, timer) { value in lifetime(value).nanoseconds }
  }

  /// As `removeAll()`.
  @available(*, deprecated, renamed: "removeAll()")
  public func removeAllValues() { removeAll() }

  deinit { stopTimers(state.withLock { $0.takeAll() }) }

  /// Returns a future of the value for `key`: the kept value, or that of the running load, or of a new load.
  ///
  /// O(1).
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - fileID: The file that diagnostics name.
  ///   - line: The line that diagnostics name.
  ///   - work: Loads the value. It runs if there is neither a value nor a load: at once, outside every lock.
  /// - Returns: A future for this caller alone, with the progress of the load. Cancelling it does not affect other callers.
  public func future(
    for key: Key,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    switch state.withLock({ $0.join(key) }) {
    case .value(let value): .succeeded(value)
    case .load(let number):
      loads.future(sharing: Load(key: key, number: number), fileID: fileID, line: line) {
        load(key, number, fileID, line, work)
      }
    }
  }

  /// Returns a future of the value for `key`: the kept value, or that of the running load, or of a new load on the main actor.
  public func future(
    for key: Key,
    on context: MainContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @MainActor () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    future(for: key, fileID: fileID, line: line) {
      Future(on: context, fileID: fileID, line: line, flattening: work)
    }
  }

  /// Returns the kept value for `key`; `nil` if there is none, or it has expired.
  public func peek(_ key: Key) -> Value? { state.withLock { $0.value(for: key) } }

  /// Drops the value for `key`, and does not keep that of a running load.
  ///
  /// The callers of a running load still get its value. The next caller starts a new load.
  public func remove(_ key: Key) { stopTimers(state.withLock { [$0.remove(key)] }) }

  /// Drops the value for `key` if it is stale; a running load continues, and its value is kept.
  ///
  /// So of two callers whose token was refused, the second does not drop the new token that the first one caused.
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - isStale: Returns whether to drop the value. Runs at once, outside every lock, if there is a value.
  public func remove(_ key: Key, where isStale: (Value) -> Bool) {
    guard let (value, load) = state.withLock({ $0.valueAndLoad(of: key) }), isStale(value) else { return }
    remove(key, ifFrom: load)  // not a newer value
  }

  /// Drops all values, for example when the user signs out; the values of running loads are not kept.
  ///
  /// The callers of running loads still get their values. The next caller of each key starts a new load.
  public func removeAll() { stopTimers(state.withLock { $0.takeAll() }) }

  /// Starts the load with `number` for its first caller; asks for the key again if that load has ended or was removed.
  private func load(
    _ key: Key,
    _ number: Int,
    _ fileID: StaticString,
    _ line: UInt,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    // Since `join` returned the number, the load can have ended, been removed or been abandoned. Then this caller asks again.
    let (begins, abandoned) = state.withLock { $0.begin(key, number) }
    _ = abandoned  // a load that all its callers have left: released here, outside the lock
    guard begins else { return future(for: key, fileID: fileID, line: line, work) }
    // Keeps the value before the callers get it, so that a caller that comes too late to join the load finds the value.
    let future = work().map { [weak self] value in  // weak: a load does not keep the cache alive
      self?.keep(value, for: key, number)
      return value
    }
    future.whenSettled { [state] in  // a load leaves no slot if it has failed or broken, or if its value was not kept
      let slot = state.withLock { $0.removeUnlessLoaded(key, number) }
      _ = slot  // released here, outside the lock
    }
    return future
  }

  /// Keeps the value of a load until its lifetime has ended, unless the load's slot was removed.
  private func keep(_ value: Value, for key: Key, _ number: Int) {
    let lifetime = lifetime?(value)
    if let lifetime, lifetime <= 0 { return }  // keeps nothing; `whenSettled` in `load` then removes the slot
    guard state.withLock({ $0.keep(value, for: key, number) }), let lifetime else { return }
    let stopTimer = timer.schedule(afterNanoseconds: lifetime) { [weak self] in self?.remove(key, ifFrom: number) }
    if !state.withLock({ $0.setTimer(stopTimer, for: key, number) }) { stopTimer() }  // the value was dropped meanwhile
  }

  /// Drops a value that has expired or is stale, by the number of its load; keeps a newer value.
  private func remove(_ key: Key, ifFrom number: Int) {
    stopTimers(state.withLock { [$0.remove(key, ifFrom: number)] })
  }

  /// Stops the timers of removed slots outside the lock, where the caller then releases the slots' values.
  private func stopTimers(_ slots: [CacheState<Key, Value>.Slot?]) {
    for slot in slots { slot?.stopTimer?() }
  }
}

/// The values of a cache, and the numbers of its loads.
///
/// A number starts one load. A load whose slot was removed leaves no value, and its end changes nothing.
private struct CacheState<Key: Hashable & Sendable, Value: Sendable> {
  /// The value of a key, or its load: asked for → loading → loaded.
  ///
  /// A class: the code that copies a generic structure takes kilobytes of each executable.
  final class Slot: @unchecked Sendable {
    // @unchecked: the lock of the cache protects the variables of a slot in the dictionary. Only one thread has a removed slot.

    /// The dictionary's copy of the key; the slot keeps it, so that it is not released under the lock.
    let key: Key

    /// The number of the load that callers join.
    let number: Int
    var isLoading = false
    var value: Value?
    var stopTimer: (@Sendable () -> Void)?

    init(key: Key, number: Int) {
      self.key = key
      self.number = number
    }
  }

  enum Joining {
    case value(Value)
    case load(number: Int)
  }

  private var slots: [Key: Slot] = [:]
  private var lastNumber = 0

  /// Returns the kept value, or the number of the load for the key; a new key gets a slot with a new number.
  mutating func join(_ key: Key) -> Joining {
    if let slot = slots[key] {
      if let value = slot.value { return .value(value) }
      return .load(number: slot.number)
    }
    lastNumber += 1
    slots[key] = Slot(key: key, number: lastNumber)
    return .load(number: lastNumber)
  }

  /// Begins the load of a number that `join` returned, unless the load was removed, has ended or has begun.
  /// - Returns: `begins`: whether the caller starts the load; if not, it asks for the key again. `abandoned`: the removed slot
  ///   of a running load that all its callers have left; the caller releases it after unlocking.
  mutating func begin(_ key: Key, _ number: Int) -> (begins: Bool, abandoned: Slot?) {
    guard let slot = slot(key, number), slot.value == nil else { return (false, nil) }
    // Only its first caller begins a load. If it runs, its callers left `loads`, whose `onCancel` has not removed the slot yet.
    if slot.isLoading { return (false, remove(key, ifFrom: number)) }  // so that no `join` returns this number again
    slot.isLoading = true
    return (true, nil)
  }

  /// Stores the value of a load in its slot.
  /// - Returns: Whether the slot is still there, so that the value is kept.
  mutating func keep(_ value: Value, for key: Key, _ number: Int) -> Bool {
    slot(key, number)?.value = value
    return slot(key, number) != nil
  }

  /// Stores the action that stops the timer of a kept value.
  /// - Returns: Whether the value is still there; if not, the caller stops the timer.
  mutating func setTimer(_ stopTimer: @escaping @Sendable () -> Void, for key: Key, _ number: Int) -> Bool {
    slot(key, number)?.stopTimer = stopTimer
    return slot(key, number) != nil
  }

  /// Removes the slot of a load that has ended without a value, or that all its callers have left before it had one.
  mutating func removeUnlessLoaded(_ key: Key, _ number: Int) -> Slot? {
    slot(key, number)?.value == nil ? remove(key, ifFrom: number) : nil
  }

  func value(for key: Key) -> Value? { slots[key]?.value }

  /// Returns the kept value, and the number of the load that it is from.
  func valueAndLoad(of key: Key) -> (Value, Int)? {
    guard let slot = slots[key], let value = slot.value else { return nil }
    return (value, slot.number)
  }

  mutating func remove(_ key: Key) -> Slot? { slots.removeValue(forKey: key) }

  /// Removes the slot of the load with a number; `nil` if it was removed or replaced before.
  mutating func remove(_ key: Key, ifFrom number: Int) -> Slot? {
    slot(key, number) == nil ? nil : slots.removeValue(forKey: key)
  }

  mutating func takeAll() -> [Slot?] {
    defer { slots = [:] }
    return Array(slots.values)  // as optionals, which `stopTimers` takes
  }

  /// Returns the slot of the load with a number; `nil` if it was removed or replaced.
  private func slot(_ key: Key, _ number: Int) -> Slot? {
    guard let slot = slots[key], slot.number == number else { return nil }
    return slot
  }
}

extension FutureCache where Key == SingleKey {
  /// Returns a future of the value: the kept value, or that of the running load, or of a new load.
  ///
  /// All else is as in `future(for:)`.
  public func future(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    future(for: .only, fileID: fileID, line: line, work)
  }

  /// Returns a future of the value: the kept value, or that of the running load, or of a new load on the main actor.
  public func future(
    on context: MainContext,
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ work: @escaping @MainActor () -> Future<Value, Failure>
  ) -> Future<Value, Failure> {
    future(for: .only, on: context, fileID: fileID, line: line, work)
  }

  /// The kept value; `nil` if there is none, or it has expired.
  public func peek() -> Value? { peek(.only) }

  /// Drops the value, and does not keep that of a running load.
  public func remove() { remove(.only) }

  /// Drops the value if it is stale; a running load continues, and its value is kept.
  public func remove(where isStale: (Value) -> Bool) { remove(.only, where: isStale) }
}
