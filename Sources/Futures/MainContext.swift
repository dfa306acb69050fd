internal import Dispatch

/// The main actor as the place where a callback runs: `on: .main` takes `@MainActor` closures without any annotation.
///
/// It is a type of its own, so that the compiler picks the methods that take main-actor closures for it. Delivery is by
/// the main dispatch queue, which the main actor runs on; `Thread.isMainThread` is never asked, since on Linux it is
/// `false` once an async `main` has hopped (R9).
public struct MainContext: Sendable {
  let context: ExecutionContext

  /// Always through the main queue, also when the main actor already runs.
  public static let main = MainContext(context: .mainQueue)

  /// At once where the main actor already runs, else through the main queue.
  ///
  /// So a callback that is attached on the main actor to a resolved future may overtake one that is still on its way there.
  public static let mainImmediate = MainContext(context: ExecutionContext(kind: .custom(immediateOnMain)))

  /// A reference of its own, because LeakSanitizer does not see the one in an enum.
  private static let immediateOnMain = CustomContext(
    execute: { work in
      if isMainQueueCurrent { work() } else { DispatchQueue.main.async(execute: work) }
    },
    after: nil
  )

  /// Whether the calling code runs on the main queue.
  static var isMainQueueCurrent: Bool {
    _ = mainQueueIsMarked
    return DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  private static let mainQueueKey = DispatchSpecificKey<Bool>()
  private static let mainQueueIsMarked: Void = DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
}
