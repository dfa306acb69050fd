/// The progress of the work behind a future.
///
/// The fraction never decreases, stays within 0...1, and is 1 exactly when the future has succeeded (R18). A failed
/// future keeps its last progress. Work that is complete except for its result has a fraction slightly below 1.
public struct FutureProgress: Sendable, Hashable {
  /// The completed amount, in units of the producer: bytes, files.
  ///
  /// If the progress combines other futures, or was reported as a fraction, the unit is a millionth of the whole.
  public let completedUnitCount: Int64

  /// The total amount; `nil` while it is unknown.
  public let totalUnitCount: Int64?

  /// The completed part of the work: 0 while the total is unknown, 1 when the future has succeeded.
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
  /// The progress of work without any report.
  static let none = FutureProgress(0, of: nil, fraction: 0)

  /// The progress of successful work without any report.
  static let finished = FutureProgress.none.succeeded

  /// The highest fraction before the success.
  private static let almostDone = 1.0.nextDown

  /// The total of a progress that has no units of its own.
  private static let millionths: Int64 = 1_000_000

  /// The progress of the same work after its success; an unknown total becomes the completed units, at least 1.
  var succeeded: FutureProgress {
    let total = totalUnitCount ?? max(completedUnitCount, 1)
    return FutureProgress(total, of: total, fraction: 1, isFinished: true)
  }

  /// The progress at `fraction`, without units of its own.
  init(fraction: Double) {
    let fraction = fraction.clampedToFraction
    self.init(
      Int64.nearest(to: fraction * Double(Self.millionths)),
      of: Self.millionths,
      fraction: min(fraction, Self.almostDone)
    )
  }

  /// The progress at `completed` units of `total`; clamps invalid numbers.
  init(completed: Int64, of total: Int64?) {
    guard let total else {
      self.init(max(0, completed), of: nil, fraction: 0)
      return
    }
    let validTotal = max(0, total)
    let completed = min(max(0, completed), validTotal)
    let fraction = validTotal == 0 ? 0 : Double(completed) / Double(validTotal)
    self.init(completed, of: validTotal, fraction: min(fraction, Self.almostDone))  // 1 only on success
  }

  /// Returns the progress after the producer's report `next`; the fraction never decreases.
  ///
  /// A lower report changes nothing, unless it has another total. Then the units change, and the fraction stays until
  /// the units have caught up.
  func advanced(to next: FutureProgress) -> FutureProgress {
    if next.totalUnitCount == totalUnitCount, next.completedUnitCount < completedUnitCount { return self }
    guard next.fractionCompleted < fractionCompleted else { return next }
    return FutureProgress(next.completedUnitCount, of: next.totalUnitCount, fraction: fractionCompleted)
  }
}

extension FutureProgress: CustomStringConvertible {
  /// The fraction and the units: `FutureProgress(50%, 512 of 1024)`, `FutureProgress(512 of unknown)`.
  public var description: String {
    guard let totalUnitCount else { return "FutureProgress(\(completedUnitCount) of unknown)" }
    let percent = isFinished ? 100 : min(99, Int(Int64.nearest(to: fractionCompleted * 100)))  // 100 only on success
    return "FutureProgress(\(percent)%, \(completedUnitCount) of \(totalUnitCount))"
  }
}

extension Int64 {
  /// The nearest integer to a number that is not negative.
  ///
  /// Q: Why not `rounded()`? A: It calls a function of libm. A program without Foundation and Glibc does not link libm.
  static func nearest(to number: Double) -> Int64 { Int64(number + 0.5) }
}
