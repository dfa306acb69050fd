/// Why a state is broken; one object for all that were derived from the same promise.
@usableFromInline
package final class BreakReason: Sendable {
  /// The error; `nil` for `Future.never`, and for a token that can no longer be cancelled.
  @usableFromInline let error: BrokenPromise?

  /// Whether a waiting consumer causes a report; `false` if the work was cancelled.
  let isMistake: Bool

  /// Whether the test kit has recorded the error; the default handler then ignores it.
  let isRecorded: Bool

  /// Whether a report covers the consumers that have waited so far.
  ///
  /// Relaxed: it only picks the thread that reports. The error never changes.
  private let isReported = AtomicByte<Bool>(false)

  init(_ error: BrokenPromise?, isMistake: Bool = true, isRecorded: Bool = false) {
    self.error = error
    self.isMistake = isMistake && error != nil
    self.isRecorded = isRecorded
  }

  /// The reason for consumers of `Future.never`.
  @usableFromInline static let never = BreakReason(nil)

  /// The reason for a cancelled state and its derived states.
  var withoutReport: BreakReason { isMistake ? BreakReason(error, isMistake: false) : self }

  /// Allows another report, for a consumer that begins to wait after the promise was dropped.
  func allowAnotherReport() { isReported.store(false, ordering: .relaxed) }

  /// Returns whether the caller reports the waiting consumers.
  func claimReport() -> Bool {
    isMistake && isReported.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
  }
}

extension BreakReason? {
  /// Takes the reason of another input that never resolves, if that reason is stronger.
  ///
  /// A mistake overrides a cancellation, and both override `never`.
  mutating func replace(with reason: BreakReason?) {
    let reason = reason ?? .never
    guard let noted = self else { return self = reason }
    if noted.error == nil || !noted.isMistake && reason.isMistake { self = reason }
  }
}
