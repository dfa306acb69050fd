internal import Dispatch
internal import Futures
internal import FuturesAsync
internal import FuturesTesting
internal import TestSupport
internal import Testing

@Suite("The report of a test that takes too long")
struct PendingReportTests {
  @Test("At the limit, the report has the test's pending work; tracking ends with the test")
  func report() async { await #expect(processExitsWith: .success) { try await PendingReportChecks.report() } }

  @Test("A test that ends in time has no report, and passes its value and its error on")
  func inTime() async { await #expect(processExitsWith: .success) { try await PendingReportChecks.inTime() } }
}

/// Succeeds a promise when it is released.
private final class OnRelease: Sendable {
  private let promise: Promise<Void, Never>

  init(_ promise: Promise<Void, Never>) { self.promise = promise }

  deinit { promise.succeed() }
}

private enum PendingReportChecks {
  static func report() async throws {
    let (graph, promise) = (Promise<WaitForGraph, any Error>(), Locked<Promise<Int, any Error>?>(nil))
    let threadLeft = Promise<Void, Never>()
    try await reportingPendingFutures(
      after: 0,
      to: { [onRelease = OnRelease(threadLeft)] pending in
        withExtendedLifetime(onRelease) { _ = graph.succeed(pending) }
      },
      {
        #expect(FuturesDiagnostics.tracksPendingFutures)
        let pending = Promise<Int, any Error>("left pending")
        promise.withLock { $0 = pending }
        // The limit is over at once, so this only waits for the report.
        _ = try await graph.future.value
      }
    )
    #expect(!FuturesDiagnostics.tracksPendingFutures)
    _ = try await graph.future.value
    // At the end of the process the thread of the report must not release objects any more: AddressSanitizer takes the memory
    // of a weak reference for a leak, since the runtime stores its address shifted in the object.
    await threadLeft.future.value
  }

  static func inTime() async throws {
    let reports = Locked(0)
    let value = await reportingPendingFutures(after: 3_600, to: { _ in reports.withLock { $0 += 1 } }, { 42 })
    #expect(value == 42)
    await #expect(throws: CancellationError.self) {
      try await reportingPendingFutures(after: 3_600, { throw CancellationError() })
    }
    #expect(reports.withLock { $0 } == 0)
  }
}
