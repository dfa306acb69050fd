internal import AllocationCounter
internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// In separate processes, where nothing else allocates.

@Suite("R22: memory after cancelled awaits", .enabled(if: AllocationCounts.areSupported), .timeLimit(.minutes(20)))
struct AwaitCancellationMemoryTests {
  /// Less than the smallest object for each await.
  static let tolerance = 100_000

  /// Cancels `count` awaits of `future`, half of them before they attach.
  static func cancel<Failure: Error>(_ count: Int, of future: Future<Int, Failure>, _ method: AwaitMethod) async {
    for number in 0..<count {
      let task = method.start(future, isCancelled: number.isMultiple(of: 2))
      task.cancel()
      let result = await task.value
      precondition(!result.isSuccess)
    }
  }

  /// The bytes that 10,000 cancelled awaits of `future` leave behind: the least of three rounds.
  ///
  /// A leak shows in each round. The memory of a new system thread shows in one.
  static func bytesLeft<Failure: Error>(_ future: Future<Int, Failure>, _ method: AwaitMethod) async -> Int64 {
    let registration = future.whenResolved(on: .immediate) { _ in }
    await cancel(1_000, of: future, method)
    var least = Int64.max
    for _ in 0..<3 {
      let before = AllocationCounts.ofProcess().liveBytes
      await cancel(10_000, of: future, method)
      least = min(least, AllocationCounts.ofProcess().liveBytes - before)
    }
    registration.remove()
    precondition(!future.isResolved)
    return least
  }

  /// Removes the hook by which Swift Testing records a backtrace of each thrown error and keeps it for a while.
  static func removeErrorHook() {
    for name in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      dlsym(dlopen(nil, RTLD_NOW), name)?.assumingMemoryBound(to: UnsafeRawPointer?.self).pointee = nil
    }
  }

  @Test(
    "R16, R22: 10,000 cancelled awaits of one pending future leave no memory behind",
    arguments: [AwaitMethod.result, .abandon, .cancel]
  )
  func cancelledAwaitsLeaveNoMemory(method: AwaitMethod) async {
    await #expect(processExitsWith: .success) { [method] in
      Self.removeErrorHook()
      let (open, cancellable) = (Promise<Int, any Error>(), Promise<Int, Interruption>())
      var bytes = [await Self.bytesLeft(open.future, method), await Self.bytesLeft(cancellable.future, method)]
      withExtendedLifetime((open, cancellable)) {}
      if method.endsEarly(canRepresentCancellation: false) {
        let (typed, never) = (Promise<Int, TestError>(), Promise<Int, Never>())
        bytes += [await Self.bytesLeft(typed.future, method), await Self.bytesLeft(never.future, method)]
        withExtendedLifetime((typed, never)) {}
      }
      #expect(bytes.allSatisfy { $0 < Self.tolerance }, "bytes by failure type: \(bytes)")
    }
  }

  @Test("R5, R22: cancelled awaits of a future that never resolves, or is broken, leave no memory behind")
  func cancelledAwaitsOfUnresolvableFuturesLeaveNoMemory() async {
    await #expect(processExitsWith: .success) {
      Self.removeErrorHook()
      FuturesDiagnostics.setHandler { _ in }
      let ofNever = await Self.bytesLeft(Future<Int, any Error>.never, .result)
      let ofBroken = await Self.bytesLeft(Promise<Int, Interruption>().future, .result)
      #expect([ofNever, ofBroken].allSatisfy { $0 < Self.tolerance }, "\(ofNever) and \(ofBroken) bytes")
    }
  }

  @Test("R22: awaits abandoned among 1,000 other awaits leave no memory behind")
  func abandonedAwaitsAmongOthersLeaveNoMemory() async {
    await #expect(processExitsWith: .success) {
      let promise = Promise<Int, any Error>()
      let future = promise.future
      let others = (0..<1_000).map { _ in Task.immediate { try await future.value } }
      Self.removeErrorHook()
      let bytes = await Self.bytesLeft(future, .result)
      #expect(bytes < Self.tolerance, "\(bytes) bytes")
      promise.succeed(1)
      for other in others { #expect((try? await other.value) == 1) }
    }
  }
}
