public import Futures

/// Notes what happens, in order, from any thread.
public final class Recorder<Event: Sendable>: Sendable {
  private let recorded = Locked<[Event]>([])

  /// Has recorded nothing.
  public init() {}

  /// Notes `event`, after all that came before.
  public func record(_ event: Event) {
    recorded.withLock { $0.append(event) }
  }

  /// What was recorded so far, in order.
  public var events: [Event] { recorded.withLock { $0 } }
}

/// An execution context that runs nothing until the test says so.
public final class HeldContext: Sendable {
  private let held = Locked<[@Sendable () -> Void]>([])

  /// Holds nothing.
  public init() {}

  /// The context that hands its work to this object.
  public var context: ExecutionContext {
    ExecutionContext { work in self.held.withLock { $0.append(work) } }
  }

  /// How many pieces of work wait.
  public var count: Int { held.withLock { $0.count } }

  /// Runs what was handed over, in order, and what that hands over.
  public func runAll() {
    while let work = takeFirst() { work() }
  }

  /// Runs the first piece of work as often as given.
  public func runFirst(times: Int = 1) {
    guard let work = takeFirst() else { return }
    for _ in 0..<times { work() }
  }

  /// Drops what was handed over, as a broken context would.
  public func dropAll() {
    let dropped = held.withLock { held in
      defer { held = [] }
      return held
    }
    _ = dropped  // released here, outside the lock
  }

  private func takeFirst() -> (@Sendable () -> Void)? {
    held.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}

/// An object whose life a test observes, by a weak reference to it.
public final class Tracked: Sendable {
  /// Lives as long as somebody holds it.
  public init() {}

  /// Does nothing; what calls it holds the object.
  public func use() {}
}

/// An error with an identity.
public struct TestError: Error, Equatable, Sendable {
  /// Tells errors apart.
  public let number: Int

  /// An error with the given number.
  public init(_ number: Int = 0) { self.number = number }
}
