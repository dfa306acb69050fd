internal import Dispatch
internal import Foundation
internal import Futures
internal import TestSupport
internal import Testing

@Suite("Diagnostics: dumps")
struct DumpTests {
  @Test("A dump to standard error has the graph as text, and says if nothing is tracked")
  func standardError() async throws {
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      FuturesDiagnostics.dump()
      DumpChecks.dumpToStandardError()
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(text.contains("Nothing is tracked: FuturesDiagnostics.tracksPendingFutures is false."), "\(text)")
    #expect(!text.contains("Nothing is pending."), "\(text)")
    #expect(text.contains("promise \"dumped\" at \(#fileID):"), "\(text)")
  }
}

private enum DumpChecks {
  static func dumpToStandardError() {
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Promise<Int, Never>("dumped")
    FuturesDiagnostics.dump()
    promise.succeed(1)
  }
}
