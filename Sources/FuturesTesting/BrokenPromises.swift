public import Futures

/// Runs `body`, and returns the promises of the whole process that were dropped without a result while it ran.
///
/// A dropped promise counts even if other code has recovered from its failure.
///
/// If the failure type cannot hold `BrokenPromise`, a waiting consumer traps in a debug build. The promises that this
/// function returns cause no trap: the test checks them.
///
/// ```swift
/// #expect(brokenPromises { screen.reload() }.isEmpty)
/// ```
///
/// Promises of tests that run at the same time count too. Pass `madeIn`, or run such tests one after another.
/// - Parameters:
///   - fileID: The file of the promises, or `nil` for all files.
///   - body: The code under test.
/// - Returns: Label, file and line of each promise, in the order in which they were dropped.
/// - Throws: The error of `body`.
public func brokenPromises<Failure: Error>(
  madeIn fileID: String? = nil,
  during body: () throws(Failure) -> Void
) throws(Failure) -> [BrokenPromise] {
  let recorder = BrokenPromiseRecorder(madeIn: fileID)
  defer { recorder.stop() }
  try body()
  return recorder.recorded
}

/// Runs an asynchronous `body`, and returns the promises that were dropped without a result while it ran.
///
/// Promises of the whole process count, as in `brokenPromises(madeIn:during:)`. `body` runs on the caller's actor.
public func brokenPromises(
  madeIn fileID: String? = nil,
  isolation: isolated (any Actor)? = #isolation,
  during body: () async throws -> Void
) async rethrows -> [BrokenPromise] {
  let recorder = BrokenPromiseRecorder(madeIn: fileID)
  defer { recorder.stop() }
  try await body()
  return recorder.recorded
}

/// Records broken promises until `stop()`; the list of observers keeps it alive until then.
private final class BrokenPromiseRecorder: Sendable {
  private let fileID: String?
  private let broken = Locked<[BrokenPromise]>([])

  init(madeIn fileID: String?) {
    self.fileID = fileID
    FuturesDiagnostics.breakObservers.add(self) { [self] promise in
      let isOfFile = self.fileID == nil || self.fileID == promise.fileID
      guard isOfFile, promise.cause == .promiseDropped else { return false }  // the usual report or trap follows
      broken.withLock { $0.append(promise) }
      return true  // no trap, and a report only to a handler that the program has set
    }
  }

  func stop() { FuturesDiagnostics.breakObservers.remove(self) }

  var recorded: [BrokenPromise] { broken.withLock(\.self) }
}
