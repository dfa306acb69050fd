/// Returns the result in a word or two, for comparisons.
func describe<Failure>(_ result: Result<Int, Failure>) -> String {
  switch result {
  case .success(let value): "value \(value)"
  case .failure(let error): "\(type(of: error as Any))"
  }
}

/// The failure that explored programs fail with.
struct Failed: Error {}

/// An attempt to resolve with a value.
final class Resolution {
  let event: Event
  var hasWon = false

  init(at event: Event) { self.event = event }
}

/// An attached callback.
final class ExploredCallback: @unchecked Sendable {
  // @unchecked: only one thread runs at a time, as in the worlds.

  /// The step that attached the callback; `nil` if it was attached before the threads began.
  let attachment: Event?

  /// The number of the callback's context; callbacks of one future on one context have an order.
  let context: Int

  var results: [Result<Int, any Error>] = []
  var removals: [Bool] = []
  weak var closure: CapturedObject?

  init(attachedAt attachment: Event?, on context: Int = 0) {
    self.attachment = attachment
    self.context = context
  }

  /// The step in which the callback ended.
  var end: Event?

  /// Whether this callback has not run yet and must run before `other`.
  func isDue(before other: ExploredCallback) -> Bool {
    results.isEmpty && !removals.contains(true) && closure != nil && precedes(other)
  }

  /// Whether this callback must run before `other` (R2).
  func precedes(_ other: ExploredCallback) -> Bool {
    guard self !== other, context == other.context else { return false }
    guard let mine = attachment else { return other.attachment != nil }
    guard let others = other.attachment else { return false }
    return mine.thread == others.thread && mine.time < others.time
  }

  /// Returns the failed checks after the run.
  func faults(_ result: String) -> [String] {
    var faults: [String] = []
    let wasRemoved = removals.contains(true)
    if results.count > 1 { faults.append("a callback ran twice (R2)") }
    if results.isEmpty, !wasRemoved { faults.append("a callback was lost (R2)") }
    if !results.isEmpty, wasRemoved { faults.append("a callback ran that was removed (R7)") }
    if removals.filter(\.self).count > 1 { faults.append("a callback was removed twice (R7)") }
    if let first = results.first, describe(first) != result { faults.append("a callback got another result (R1)") }
    if closure != nil { faults.append("a callback was not released (R5)") }
    return faults
  }
}

/// A callback and its registration.
final class RemovableCallback {
  let callback: ExploredCallback
  var registration: Registration?

  init(_ callback: ExploredCallback) { self.callback = callback }

  func remove() {
    if let registration { callback.removals.append(registration.remove()) }
  }
}

/// A listener to the progress.
final class Listener: @unchecked Sendable {
  // @unchecked: only one thread runs at a time, as in the worlds.
  var fractions: [Double] = []
  weak var closure: CapturedObject?

  /// Returns the failed checks after the run.
  func faults(hasSucceeded: Bool) -> [String] {
    var faults: [String] = []
    if hasSucceeded, fractions.last != 1 { faults.append("the last report was lost (R20)") }
    if fractions.isEmpty { faults.append("a listener got no state (R20)") }
    if closure != nil { faults.append("a listener was not released (R5)") }
    return faults
  }
}

extension Waiting {
  /// Returns the failed checks of the end of the await.
  func faults(_ result: String, mayBeAbandoned: Bool) -> [String] {
    guard let end else { return ["an await was lost (R2)"] }
    guard let ended = end else { return mayBeAbandoned ? [] : ["an await ended although no thread abandoned it (R22)"] }
    return describe(ended) == result ? [] : ["an await got another result (R1)"]
  }
}
