import Futures
import TestSupport
import Testing

/// Records the progress of one listener, and checks the guarantees of every listener.
final class ProgressLog: Sendable {
  private let notified = Recorder<FutureProgress>()

  /// Makes an empty log.
  init() {}

  /// Listens to `future`.
  convenience init<Value, Failure>(_ future: Future<Value, Failure>) {
    self.init()
    future.whenProgressed(on: .immediate) { self.note($0) }
  }

  func note(_ progress: FutureProgress) { notified.record(progress) }

  var events: [FutureProgress] { notified.events }
  var fractions: [Double] { events.map(\.fractionCompleted) }
  var units: [String] { events.map(\.units) }

  /// Whether the events keep the guarantees of every listener: R18, and only new states.
  var isSound: Bool {
    let events = events
    return zip(events, events.dropFirst()).allSatisfy { $0.fractionCompleted <= $1.fractionCompleted && $0 != $1 }
      && events.allSatisfy(\.isSound) && events.dropLast().allSatisfy { !$0.isFinished }
  }
}

extension FutureProgress {
  /// The units as text, such as "3 of 10".
  var units: String { "\(completedUnitCount) of \(totalUnitCount.map { "\($0)" } ?? "?")" }

  /// Whether this progress keeps the rules of every progress (R18).
  var isSound: Bool {
    (0...1).contains(fractionCompleted) && isFinished == (fractionCompleted == 1) && completedUnitCount >= 0
      && completedUnitCount <= totalUnitCount ?? .max
  }
}

/// The greatest fraction before success.
let almostDone = 1.0.nextDown
