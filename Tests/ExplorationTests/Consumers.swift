/// The result in a word or two, to be compared.
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

/// A callback that was attached.
final class ExploredCallback: @unchecked Sendable {
  // @unchecked: as the world says.

  /// When; `nil` if before the threads began.
  let attachment: Event?

  /// A number for its context: callbacks of one future and one context have an order.
  let context: Int

  var results: [Result<Int, any Error>] = []
  var removals: [Bool] = []
  weak var closure: CapturedObject?

  init(attachedAt attachment: Event?, on context: Int = 0) {
    self.attachment = attachment
    self.context = context
  }

  /// When it had run.
  var end: Event?

  /// Whether it has yet to run, and must do so before `other`.
  func isDue(before other: ExploredCallback) -> Bool {
    results.isEmpty && !removals.contains(true) && closure != nil && precedes(other)
  }

  /// Whether it must run before `other` (R2).
  func precedes(_ other: ExploredCallback) -> Bool {
    guard self !== other, context == other.context else { return false }
    guard let mine = attachment else { return other.attachment != nil }
    guard let others = other.attachment else { return false }
    return mine.thread == others.thread && mine.time < others.time
  }

  /// Its failed checks at the end.
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
  // @unchecked: as the world says.
  var fractions: [Double] = []
  weak var closure: CapturedObject?

  /// Its failed checks at the end.
  func faults(hasSucceeded: Bool) -> [String] {
    var faults: [String] = []
    if hasSucceeded, fractions.last != 1 { faults.append("the last report was lost (R20)") }
    if fractions.isEmpty { faults.append("who listens got no state (R20)") }
    if closure != nil { faults.append("who listens was not released (R5)") }
    return faults
  }
}

extension Waiting {
  /// The failed checks of its end.
  func faults(_ result: String, mayBeAbandoned: Bool) -> [String] {
    guard let end else { return ["an await was lost (R2)"] }
    guard let ended = end else { return mayBeAbandoned ? [] : ["an await ended that nobody has abandoned (R22)"] }
    return describe(ended) == result ? [] : ["an await got another result (R1)"]
  }
}
