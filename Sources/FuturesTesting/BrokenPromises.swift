public import Futures

/// Runs `body`, and returns the promises that were dropped unresolved meanwhile, by anybody in the process.
///
/// A dropped promise fails its future, and code that recovers from failures may hide that; this does not miss it.
///
/// If the failure type cannot hold `BrokenPromise`, a waiting consumer traps in a debug build. The promises that this
/// function returns cause no trap: the test checks them.
///
/// ```swift
/// #expect(brokenPromises { screen.reload() }.isEmpty)
/// ```
///
/// Tests that run at the same time are heard, too: ask for the promises of one file, or run such tests one after another.
/// - Parameters:
///   - fileID: Only promises that were made in this file, where it is given.
///   - body: What is to break no promise.
/// - Returns: Label, file and line of each, in order.
/// - Throws: What `body` throws.
public func brokenPromises<Failure: Error>(
  madeIn fileID: String? = nil,
  during body: () throws(Failure) -> Void
) throws(Failure) -> [BrokenPromise] {
  let recorder = BrokenPromiseRecorder(madeIn: fileID)
  defer { recorder.stop() }
  try body()
  return recorder.recorded
}

/// Runs `body`, and returns the promises that were dropped unresolved meanwhile, by anybody in the process.
///
/// As the twin for code that is not asynchronous.
/// - Parameters:
///   - fileID: Only promises that were made in this file, where it is given.
///   - isolation: The actor of the caller, on which `body` runs.
///   - body: What is to break no promise.
/// - Returns: Label, file and line of each, in order.
/// - Throws: What `body` throws.
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

/// Hears of broken promises until it is told to stop.
private final class BrokenPromiseRecorder: Sendable {
  private let fileID: String?
  private let broken = Locked<[BrokenPromise]>([])

  init(madeIn fileID: String?) {
    self.fileID = fileID
    FuturesDiagnostics.breakObservers.add(self) { [self] promise in
      guard self.fileID == nil || self.fileID == promise.fileID else { return false }
      broken.withLock { $0.append(promise) }
      return true
    }
  }

  func stop() { FuturesDiagnostics.breakObservers.remove(self) }

  var recorded: [BrokenPromise] { broken.withLock(\.self) }
}
