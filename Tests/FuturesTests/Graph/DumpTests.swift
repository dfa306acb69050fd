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

  @Test("A dump appends to a file, and reports a file that it cannot open")
  func file() async { await #expect(processExitsWith: .success) { try DumpChecks.dumpToFile() } }

  #if os(macOS) || os(Linux)
    @Test("A signal writes a dump although every thread of Dispatch and the main thread are blocked")
    func signal() async { await #expect(processExitsWith: .success) { try DumpChecks.dumpOnSignal() } }
  #endif
}

private enum DumpChecks {
  static func dumpToStandardError() {
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Promise<Int, Never>("dumped")
    FuturesDiagnostics.dump()
    promise.succeed(1)
  }

  static func path() -> String { NSTemporaryDirectory() + "futures-dump-\(UUID().uuidString)" }

  static func dumpToFile() throws {
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Promise<Int, Never>("dumped")
    let path = path()
    defer { try? FileManager.default.removeItem(atPath: path) }
    #expect(FuturesDiagnostics.dump(to: .file(path)))
    #expect(FuturesDiagnostics.dump(to: .file(path)))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.components(separatedBy: "promise \"dumped\"").count == 3)
    #expect(!FuturesDiagnostics.dump(to: .file("/no/such/folder")))
    promise.succeed(1)
  }

  #if os(macOS) || os(Linux)
    static func dumpOnSignal() throws {
      let path = path()
      #expect(mkfifo(path, 0o600) == 0)
      defer { unlink(path) }
      #expect(FuturesDiagnostics.dump(on: .signal(SIGUSR1), to: .file(path)))
      #expect(FuturesDiagnostics.tracksPendingFutures)
      let promise = Promise<Int, Never>("stuck")
      let gate = DispatchSemaphore(value: 0)
      for _ in 0..<600 { DispatchQueue.global().async { gate.wait() } }
      kill(getpid(), SIGUSR1)
      // Blocks until the dump has been written: a pipe has no end before that.
      let pipe = try #require(FileHandle(forReadingAtPath: path))
      let text = String(decoding: try pipe.readToEnd() ?? Data(), as: UTF8.self)
      #expect(text.contains("promise \"stuck\""), "\(text)")
      promise.succeed(1)
      for _ in 0..<600 { gate.signal() }
    }
  #endif
}
