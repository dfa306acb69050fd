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

/// Numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
