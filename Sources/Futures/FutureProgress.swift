/// How far the work behind a future has come.
///
/// A fraction never goes back, stays within 0...1, and is 1 exactly when the future has succeeded (R18). So a future that
/// has failed keeps the state in which it did, and work that is done, but for its result, is a hair less than 1.
public struct FutureProgress: Sendable, Hashable {
  /// How much has been done, in units of the producer: bytes, files.
  ///
  /// Where a progress is made of others, or was reported as a fraction, the unit is a millionth of the whole.
  public let completedUnitCount: Int64

  /// How much there is to do in all; `nil` while nobody knows.
  public let totalUnitCount: Int64?

  /// The part of the work that is done: 0 while nobody knows how much there is, 1 when the future has succeeded.
  public let fractionCompleted: Double

  /// Whether the future has succeeded.
  public let isFinished: Bool

  private init(_ completed: Int64, of total: Int64?, fraction: Double, isFinished: Bool = false) {
    completedUnitCount = completed
    totalUnitCount = total
    fractionCompleted = fraction
    self.isFinished = isFinished
  }
}

extension FutureProgress {
  /// The progress of work of which nothing is known.
  static let none = FutureProgress(0, of: nil, fraction: 0)

  /// The progress of work that has succeeded, and of which nothing else is known.
  static let finished = FutureProgress.none.succeeded

  /// As far as one can come without having succeeded.
  private static let almostDone = 1.0.nextDown

  /// The unit where there is no other.
  private static let millionths: Int64 = 1_000_000

  /// The same work when it has succeeded.
  var succeeded: FutureProgress {
    let total = totalUnitCount ?? max(completedUnitCount, 1)
    return FutureProgress(total, of: total, fraction: 1, isFinished: true)
  }

  /// The progress when `fraction` is done, and the unit is of no interest.
  init(fraction: Double) {
    let fraction = fraction.clampedToFraction
    self.init(
      Int64((fraction * Double(Self.millionths)).rounded()),
      of: Self.millionths,
      fraction: min(fraction, Self.almostDone)
    )
  }

  /// The progress when `completed` units of `total` are done; what makes no sense is clamped.
  init(completed: Int64, of total: Int64?) {
    guard let total else {
      self.init(max(0, completed), of: nil, fraction: 0)
      return
    }
    let last = max(0, total)
    let completed = min(max(0, completed), last)
    let fraction = last == 0 ? 0 : Double(completed) / Double(last)
    self.init(completed, of: last, fraction: min(fraction, Self.almostDone))
  }

  /// What comes after this when the producer reports `next`: a fraction that is not less.
  ///
  /// A report that would go back changes nothing, unless it says that there is another amount to do than was thought; then
  /// the units change, and the fraction waits until they have caught up.
  func advanced(to next: FutureProgress) -> FutureProgress {
    if next.totalUnitCount == totalUnitCount, next.completedUnitCount < completedUnitCount { return self }
    guard next.fractionCompleted < fractionCompleted else { return next }
    return FutureProgress(next.completedUnitCount, of: next.totalUnitCount, fraction: fractionCompleted)
  }
}

extension Double {
  /// The nearest number in 0...1; no number at all counts as 0.
  @inlinable
  var clampedToFraction: Double { self > 0 ? Swift.min(self, 1) : 0 }
}
