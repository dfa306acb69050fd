public import Foundation
public import Futures

extension NotificationCenter {
  /// A future of what the next notification says.
  ///
  /// ```swift
  /// let level = NotificationCenter.default.future(for: .batteryLevelChanged) { $0.userInfo?["level"] as? Double ?? 0 }
  /// ```
  ///
  /// Only one notification is taken; then nothing is left in the center. The object is not kept: where it goes away without a
  /// notification, none comes. Nor is the center: where that goes away, the future fails with `BrokenPromise`.
  ///
  /// Cancellation, future to observer: cancelling the future removes the observer. Nothing passes the other way: an observer
  /// cannot be cancelled by others.
  ///
  /// Cost: O(1), an observer and a few allocations.
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - object: Whose notification is wanted; anybody's for `nil`.
  ///   - transform: Takes out of the notification, which is not `Sendable`, what is wanted; it runs on the thread that posts,
  ///     at once, and at most once. What it throws fails the future.
  /// - Returns: A future of what `transform` returns.
  public func future<Value: Sendable>(
    for name: Notification.Name,
    object: AnyObject? = nil,
    _ transform: @escaping @Sendable (Notification) throws -> Value
  ) -> Future<Value, any Error> {
    Future { promise in
      let observer = Observer()
      // The center has the block, and the block must not keep the center: where that goes away, the promise does.
      let token = addObserver(forName: name, object: object, queue: nil) { [weak self] notification in
        // A second thread that posts meanwhile comes too late.
        guard observer.remove(from: self) else { return }
        promise.resolve(Result { try transform(notification) })
      }
      observer.begin(with: token, in: self)
      promise.onCancel { [weak self] in observer.remove(from: self) }
    }
  }
}

/// An observer of a notification center, which is removed once.
private final class Observer: Sendable {
  private enum State {
    /// The center has it, and its token is on the way here. Next is `observing` or `removed`.
    case beginning
    /// Next is `removed`.
    case observing(UncheckedTransfer<any NSObjectProtocol>)
    /// Final.
    case removed
  }

  private let state = Locked(State.beginning)

  func begin(with token: any NSObjectProtocol, in center: NotificationCenter) {
    // Only this observer uses the token, and only to remove it.
    nonisolated(unsafe) let token = token
    let isRemoved = state.withLock { state in
      if case .removed = state { return true }
      state = .observing(UncheckedTransfer(token))
      return false
    }
    if isRemoved { center.removeObserver(token) }
  }

  /// Removes it from the center.
  /// - Returns: Whether this was the first call.
  @discardableResult
  func remove(from center: NotificationCenter?) -> Bool {
    let previous = state.withLock { state in
      defer { state = .removed }
      return state
    }
    if case .observing(let token) = previous { center?.removeObserver(token.value) }
    if case .removed = previous { return false }
    return true
  }
}
