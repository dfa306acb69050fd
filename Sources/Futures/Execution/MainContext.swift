internal import Dispatch

/// The main actor as the place where a callback runs: `on: .main` takes `@MainActor` closures without any annotation.
///
/// A type of its own, so that the compiler selects the overloads with main-actor closures. It delivers through the main
/// dispatch queue. It never checks `Thread.isMainThread`, which on Linux is `false` after an
/// async `main` has hopped (R9).
public struct MainContext: Sendable {
  let context: ExecutionContext

  /// Always submits to the main queue, even on the main actor.
  public static let main = MainContext(context: .mainQueue)

  /// Runs at once on the main actor; from elsewhere it submits to the main queue.
  ///
  /// So a callback attached on the main actor to a resolved future can overtake an earlier callback in the main queue.
  public static let mainImmediate = MainContext(context: ExecutionContext(kind: .custom(immediateOnMain)))

  /// A static reference: LeakSanitizer does not see a reference in the bits of an enum.
  private static let immediateOnMain = CustomContext(
    execute: { work in
      if isMainQueueCurrent { work() } else { DispatchQueue.main.async(execute: work) }
    },
    after: nil
  )

  /// Whether the caller runs on the main queue.
  package static var isMainQueueCurrent: Bool {
    _ = mainQueueIsMarked
    return DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  private static let mainQueueKey = DispatchSpecificKey<Bool>()
  private static let mainQueueIsMarked: Void = DispatchQueue.main.setSpecific(key: mainQueueKey, value: true)
}
