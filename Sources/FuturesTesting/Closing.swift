internal import Futures

/// Whether a context drops the work that it receives, because its test has ended.
///
/// Dropped work breaks its future at once (R2a). If a callback of that future submits new work, the new work is dropped
/// too, and so on for ever. So after `maximumDrops` pieces of work the context keeps work again, and never runs it.
struct Closing {
  static let maximumDrops = 10_000

  var isClosed = false
  private var count = 0

  /// Called for each new piece of work: returns whether the context has to drop it, and counts the drop.
  mutating func mustDropNewWork() -> Bool {
    guard isClosed, count < Self.maximumDrops else { return false }
    count += 1
    return true
  }
}

extension BreakObservers {
  /// Runs `body`, which drops the pending work of a test that has ended.
  ///
  /// Work that is left is no mistake of the user, so the default handler of misuse ignores the futures that break meanwhile, on
  /// threads of the test (`isConcerned`).
  func excuse(onThreadsWhere isConcerned: @escaping @Sendable () -> Bool, during body: () -> Void) {
    let owner = Locked(())  // any object: it identifies the observer
    add(owner) { _ in isConcerned() }  // `true` keeps the future from the handler
    body()
    remove(owner)
  }
}
