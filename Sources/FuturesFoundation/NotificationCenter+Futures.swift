public import Foundation
public import Futures

extension NotificationCenter {
  /// Returns a future of a value from the next notification.
  ///
  /// ```swift
  /// let level = NotificationCenter.default.future(for: .batteryLevelChanged) { $0.userInfo?["level"] as? Double ?? 0 }
  /// ```
  ///
  /// Takes one notification, and removes its observer. It keeps neither the object nor the center. If the object is released
  /// first, no notification comes. If the center is released first, the future fails with `BrokenPromise`.
  ///
  /// Cancellation: cancelling the future removes the observer.
  ///
  /// Cost: O(1), an observer and a few allocations.
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - object: The sender of the notification, or `nil` for any sender.
  ///   - transform: Makes the value from the notification, which is not `Sendable`. It runs at once on the posting thread, and
  ///     at most once. An error that it throws fails the future.
  /// - Returns: A future of the value.
  public func future<Value: Sendable>(
    for name: Notification.Name,
    object: AnyObject? = nil,
    _ transform: @escaping @Sendable (Notification) throws -> Value
  ) -> Future<Value, any Error> {
    Future { promise in
      let observer = Observer()
      // Weak: the center owns the block, and the block the promise. So the promise is released with the center, and breaks.
      let token = addObserver(forName: name, object: object, queue: nil) { [weak self] notification in
        // Another thread can post at the same time. The first one removes the observer.
        guard observer.remove(from: self) else { return }
        promise.resolve(Result { try transform(notification) })
      }
      observer.begin(with: token, in: self)
      promise.onCancel { [weak self] in observer.remove(from: self) }
    }
  }
}

/// An observer of a notification center; the first notification removes it, or a cancellation that comes earlier.
private final class Observer: Sendable {
  private enum State {
    /// Added to the center, before its token is stored. Next is `observing` or `removed`.
    case beginning
    /// Next is `removed`.
    case observing(UncheckedTransfer<any NSObjectProtocol>)
    /// Final.
    case removed
  }

  private let state = Locked(State.beginning)

  /// Stores the token of the added observer; removes that observer if `remove` was called before.
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

  /// Removes the observer from the center.
  /// - Returns: Whether this was the first call.
  @discardableResult
  func remove(from center: NotificationCenter?) -> Bool {
    let previous = state.withLock { state in
      defer { state = .removed }
      return state
    }
    // If it is `beginning`, `begin` removes the observer.
    if case .observing(let token) = previous { center?.removeObserver(token.value) }
    if case .removed = previous { return false }
    return true
  }
}
