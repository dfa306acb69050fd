/// The failure of a future whose producer has gone.
public struct BrokenPromise: Error, Sendable {
  /// Why the producer has gone.
  public enum Cause: Sendable {
    /// The program released the last reference to the promise before it resolved the promise.
    case promiseDropped
    /// An execution context dropped the work of a derived future, for example after a shutdown.
    case workDropped
  }

  /// The label of the promise.
  public let label: String?
  /// The file that made the promise, as `#fileID`; empty if a context dropped the work, and no promise and no `Future(on:)` is known.
  public let fileID: String
  /// The line that made the promise; zero if `fileID` is empty.
  public let line: UInt
  /// Why the producer has gone.
  ///
  /// With `.workDropped`, label, file and line name a labelled promise. The dropped work uses the result of that
  /// promise, or else resolves it. Without a label, file and line name the `Future(on:)` whose work was dropped.
  public let cause: Cause

  /// The type of the object that had the promise, if the program released that object.
  private let releasedOwner: StaticString?

  @usableFromInline
  package init(
    label: String?,
    fileID: String,
    line: UInt,
    cause: Cause = .promiseDropped,
    releasedOwner: StaticString? = nil
  ) {
    self.label = label
    self.fileID = fileID
    self.line = line
    self.cause = cause
    self.releasedOwner = releasedOwner
  }

  /// The advice at the end of a report.
  var cure: String {
    if releasedOwner != nil { return "Keep that object while its futures are pending." }
    return cause == .workDropped ? "Keep the context while work is pending." : "Resolve the promise on every path."
  }
}

extension BrokenPromise: CustomStringConvertible {
  /// The cause, with the label, the file and the line, in one sentence.
  public var description: String {
    let name = label.map { " \"\($0)\"" } ?? ""
    let promise = "promise\(name) made at \(fileID):\(line)"
    switch cause {
    case .promiseDropped:
      guard let releasedOwner else { return "The \(promise) was dropped without being resolved." }
      return "The \(releasedOwner)\(name) was released before its future made at \(fileID):\(line) was resolved."
    case .workDropped where fileID.isEmpty: return "An execution context dropped the work of a derived future."
    case .workDropped where label == nil:  // the place of a `Future(on:)`: an unlabelled promise gives none
      return "An execution context dropped the work of the future made at \(fileID):\(line)."
    case .workDropped: return "An execution context dropped the work of a future derived from the \(promise)."
    }
  }
}

/// Why a state is broken; one object for all states that were derived from the same promise.
@usableFromInline
package final class BreakReason: Sendable {
  /// The error; `nil` for `Future.never`, and for a token that can no longer be cancelled.
  @usableFromInline let error: BrokenPromise?

  /// Whether a waiting consumer causes a report; `false` after a cancellation, and without an error.
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

  /// Claims the report of the waiting consumers; returns `false` if another caller has claimed it, or if this is no mistake.
  func claimReport() -> Bool {
    isMistake && isReported.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged
  }
}

extension BreakReason? {
  /// Takes the reason of another input that never resolves, if that reason is stronger.
  ///
  /// A mistake overrides a cancellation, and both override `never`, which has no error. An input without a reason counts as
  /// `never`.
  mutating func takeStronger(_ other: BreakReason?) {
    let other = other ?? .never
    guard let current = self else { return self = other }
    let overrides = current.error == nil || (other.isMistake && !current.isMistake)
    if overrides { self = other }
  }
}

extension FutureState {
  /// Reports that a consumer waits for this broken future.
  ///
  /// One report covers all consumers that waited when the promise was dropped.
  @usableFromInline
  func reportWaitForBrokenPromise() {
    guard let reason = breakReason, let error = reason.error, reason.claimReport() else { return }
    FuturesDiagnostics.report(.brokenPromise(error), isRecorded: reason.isRecorded)
  }
}
