public import Futures

/// Records events in order, from any thread.
public final class Recorder<Event: Sendable>: Sendable {
  private let recorded = Locked<[Event]>([])

  /// Makes an empty recorder.
  public init() {}

  /// Appends `event`.
  public func record(_ event: Event) {
    recorded.withLock { $0.append(event) }
  }

  /// The recorded events, in order.
  public var events: [Event] { recorded.withLock { $0 } }
}

extension ExecutionContext {
  /// Submits `work` to this context.
  public func submit(_ work: @escaping @Sendable () -> Void) {
    Future<Void, Never>.succeeded(()).whenResolved(on: self) { _ in work() }
  }
}

/// An execution context that runs its work when the test asks for it.
public final class HeldContext: Sendable {
  private let held = Locked<[@Sendable () -> Void]>([])

  /// Makes a context without work.
  public init() {}

  /// The context whose work this object holds.
  public var context: ExecutionContext {
    ExecutionContext { work in self.held.withLock { $0.append(work) } }
  }

  /// The number of waiting work items.
  public var count: Int { held.withLock { $0.count } }

  /// Runs the waiting work items in order, including those that they submit.
  public func runAll() {
    while let work = takeFirst() { work() }
  }

  /// Runs the first work item the given number of times, then drops it.
  public func runFirst(times: Int = 1) {
    guard let work = takeFirst() else { return }
    for _ in 0..<times { work() }
  }

  /// Drops the waiting work items, as a broken context does.
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

/// An object whose lifetime a test observes through a weak reference.
public final class Tracked: Sendable {
  /// Makes an object.
  public init() {}

  /// Makes the calling closure hold the object.
  public func use() {}
}

/// A reference that does not keep its object.
public struct WeakReference<Object: AnyObject> {
  /// The object; `nil` after its release.
  public weak let object: Object?

  /// Makes a weak reference to `object`.
  public init(_ object: Object) { self.object = object }

  /// Whether the object was released.
  public var isReleased: Bool { object == nil }
}

extension WeakReference: Sendable where Object: Sendable {}

/// Calls `body` with a new object, which only what `body` leaves behind can keep afterwards.
/// - Parameters:
///   - make: Makes the object.
///   - body: Uses the object.
/// - Returns: A weak reference to the object, and the result of `body`.
public func withTracked<Object: AnyObject, Result>(
  _ make: @autoclosure () -> Object,
  _ body: (Object) throws -> Result
) rethrows -> (WeakReference<Object>, Result) {
  let object = make()
  return (WeakReference(object), try body(object))
}

/// Calls `body` with a new `Tracked`, as the other function does.
public func withTracked<Result>(_ body: (Tracked) throws -> Result) rethrows -> (WeakReference<Tracked>, Result) {
  try withTracked(Tracked(), body)
}

/// An error with an identity.
public struct TestError: Error, Equatable, Sendable {
  /// The identity of the error.
  public let number: Int

  /// Makes an error with the given number.
  public init(_ number: Int = 0) { self.number = number }
}
