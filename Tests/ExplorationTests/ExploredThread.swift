internal import Dispatch
internal import TestSupport

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// A thread that runs when the explorer gives it the turn.
@usableFromInline
final class ExploredThread: @unchecked Sendable {
  // @unchecked: the explored thread uses the variables. Other threads use them only while that thread waits for `turn`.
  let explorer: Explorer
  let number: Int

  /// The steps that the thread has seen.
  ///
  /// All threads have seen the steps before their start, so these do not count.
  private(set) var clock = VectorClock()

  private var locks = 0

  private let turn = DispatchSemaphore(value: 0)
  private var body: (@Sendable () -> Void)?

  init(_ number: Int, of explorer: Explorer) {
    self.explorer = explorer
    self.number = number
    startThread { self.work() }
  }

  /// Makes this thread run `body` when it next gets the turn.
  func prepare(_ body: @escaping @Sendable () -> Void) {
    self.body = body
    clock = VectorClock()
  }

  /// Ends the thread, which waits for its turn.
  func finish() {
    body = nil
    giveTurn()
  }

  func giveTurn() { turn.signal() }

  func waitForTurn() { turn.wait() }

  private func work() {
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    waitForTurn()
    while runBody() {
      explorer.ended(self)
      waitForTurn()
    }
    pthread_setspecific(Self.key, nil)
  }

  /// Runs and releases the body, both in the turn of this thread.
  ///
  /// The body can hold the last reference to the tested objects.
  private func runBody() -> Bool {
    guard let body else { return false }
    body()
    self.body = nil
    return true
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    precondition(pthread_key_create(&key, nil) == 0, "There is no thread-specific key left.")
    return key
  }()

  /// The calling thread, if it is an explored one.
  static var current: ExploredThread? {
    pthread_getspecific(key).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: - Steps

  /// Returns when the explorer has chosen this step as the next one.
  func step(_ kind: Step.Kind, at location: ExploredLocation) {
    explorer.step(Step(kind: kind, location: location), of: self)
    clock[number] += 1
  }

  /// Adds the published steps to the steps that the thread has seen.
  func acquire(_ published: VectorClock) { clock.merge(published) }

  /// Publishes the steps that the thread has seen, in addition to earlier publications.
  func release(_ location: ExploredLocation) { location.released.merge(clock) }

  /// Whether the thread holds a lock of the core.
  var hasLock: Bool { locks > 0 }

  func lock(_ location: ExploredLocation) {
    location.isLocked = true
    locks += 1
    acquire(location.released)
  }

  func unlock(_ location: ExploredLocation) {
    clock[number] += 1  // after the steps under the lock
    release(location)
    explorer.unlock(location, by: self)
    location.isLocked = false
    locks -= 1
  }

  /// The last step of the thread.
  var lastStep: Event { Event(thread: number, time: clock[number]) }

  /// The current step of the thread, for comparison with the steps that other threads have seen.
  var now: Event { Event(thread: number, time: clock[number] + 1) }

  /// Whether the thread has seen `event`.
  func hasSeen(_ event: Event) -> Bool { event.thread == number || clock[event.thread] >= event.time }
}
