import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("onCancel on the main actor")
@MainActor
struct CancellationOnMainTests {
  /// An API of the main actor that is not `Sendable`.
  private final class Scanner {
    private(set) var isStopped = false

    func stop() { isStopped = true }
  }

  @Test("R15: a cancellation submits the main-actor handler of a promise, or runs it at once with `.mainImmediate`")
  func promiseHandler() {
    let (manual, scanner, immediate) = (ManualContext(), Scanner(), Scanner())
    manual.asMain {
      let promise = Promise<Int, any Error>()
      promise.onCancel(on: .main) { scanner.stop() }
      promise.onCancel(on: .mainImmediate) { immediate.stop() }
      promise.future.cancel()
      #expect(promise.isResolved)
      #expect(!scanner.isStopped && immediate.isStopped)
      manual.runAll()
      #expect(scanner.isStopped)
    }
  }

  @Test("R5: a resolved promise releases its main-actor handler without running it")
  func releasesHandler() {
    let manual = ManualContext()
    weak var captured: Scanner?
    manual.asMain {
      let promise = Promise<Int, any Error>()
      do {
        let scanner = Scanner()
        captured = scanner
        promise.onCancel(on: .main) { scanner.stop() }
      }
      #expect(captured != nil)
      promise.succeed(1)
      promise.future.cancel()
    }
    #expect(captured == nil)
    #expect(manual.pendingCount == 0)
  }
}
