internal import AllocationCounter
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// An object that the closures of a bridge capture; it holds the future or callback of the bridge, which makes a cycle.
private final class Captured: Sendable {
  private let held = Locked<(any Sendable)?>(nil)
  private let released: Promise<Void, Never>

  init(_ released: Promise<Void, Never>) { self.released = released }

  deinit { released.succeed() }

  func use() {}

  func keep(_ held: any Sendable) { self.held.withLock { $0 = held } }
}

/// One use of a bridge between callbacks and tasks; all closures of the bridge capture an object.
private struct Bridge: Sendable {
  let name: String
  let use: @Sendable (_ captured: Captured, _ isSuccess: Bool) async -> Void

  /// A source that outlives all registrations with its token, and is never cancelled.
  private static let longLived = CancellationTokenSource()

  /// Every bridge; half of the uses succeed, and the others fail, are cancelled, or drop their producer.
  static let all: [Bridge] = awaits + starts + callbacks + streams + tokens + readers

  private static let awaits = AwaitMethod.allCases.map { method in
    Bridge(name: "\(method), once") { captured, isSuccess in
      let promise = Promise<Int, any Error>()
      promise.onCancel { captured.use() }
      let future = promise.future
      captured.keep(future)
      let task = method.start(future)
      if isSuccess || method == .ignore { promise.succeed(1) } else { task.cancel() }
      _ = await task.value
    }
  }

  private static let starts = TaskStart.allCases.map { start in
    Bridge(name: "a task, \(start)") { captured, isSuccess in
      let future = start.make { () async throws(any Error) -> Int in
        captured.use()
        await Task.yield()
        if !isSuccess { throw TestError() }
        return 1
      }
      captured.keep(future)
      if !isSuccess { future.cancel() }
      _ = await future.result
    }
  }

  private static let callbacks = Wrapper.allCases.flatMap { wrapper in
    [
      Bridge(name: "\(wrapper), resumed or dropped") { captured, isSuccess in
        _ = await wrapper.call { callback in
          // A use that fails drops the callback.
          if isSuccess {
            captured.keep(callback)
            callback.resume(Page(1))
          }
        } onCancel: {
          captured.use()
        }
        captured.keep(0)  // the callback captures the objects of its caller
      },
      Bridge(name: "\(wrapper), cancelled before or during the call") { captured, isBefore in
        let kept = Locked<Wrapper.Handle?>(nil)
        let task = Task.immediate {
          if isBefore { cancelCurrentTask() }
          return await wrapper.call { callback in
            callback.onCancel { captured.use() }
            kept.withLock { $0 = callback }
          }
        }
        task.cancel()
        _ = await task.value
        kept.withLock { $0 }?.resume(Page(1))
      },
    ]
  }

  private static let streams = StreamKind.allCases.map { kind in
    Bridge(name: "\(kind) stream, unread") { captured, isSuccess in
      let held = HeldReference<CallbackStream<Int>>()
      let stream = kind.make { held.hold($0) }
      held.current?.onCancel { captured.use() }
      held.current?.yield(1)
      if isSuccess { held.current?.finish() }
      withExtendedLifetime(stream) {}
    }
  }

  private static let tokens: [Bridge] = [
    Bridge(name: "withCancellationToken") { captured, isSuccess in
      await withCancellationToken { token in
        for _ in 0..<3 { token.register { captured.use() } }
        if !isSuccess { cancelCurrentTask() }
      }
    },
    Bridge(name: "cancelling") { captured, isSuccess in
      let source = isSuccess ? longLived : CancellationTokenSource()
      captured.keep(source)
      _ = try? await source.token.cancelling {
        captured.use()
        if !isSuccess { source.cancel() }
      }
    },
    Bridge(name: "cancelled()") { captured, isSuccess in
      let source = isSuccess ? CancellationTokenSource() : longLived
      captured.keep(source)
      let task = Task.immediate {
        captured.use()
        await source.token.cancelled()
      }
      if isSuccess { source.cancel() } else { task.cancel() }
      await task.value
    },
  ]

  private static let readers: [Bridge] = [
    Bridge(name: "progress and events") { captured, isSuccess in
      let promise = Promise<Int, any Error>()
      let future = promise.future
      captured.keep(future)
      let progress = Task.immediate {
        captured.use()
        for await _ in future.progress where !isSuccess { break }
      }
      let events = Task.immediate {
        captured.use()
        for await _ in future.events {}
      }
      let suspended = HeldReader(future.events)
      suspended.run()
      suspended.end()
      promise.progress.report(completed: 1, of: 2)
      if isSuccess { promise.succeed(1) } else { events.cancel() }
      await progress.value
      await events.value
    }
  ]
}

#if ASAN || TSAN
  /// Sanitizers allocate memory for tasks, which the counter would count; LeakSanitizer finds the leaks.
  private let isMeasurable = false
#else
  private let isMeasurable = AllocationCounts.areSupported
#endif

@Suite(.timeLimit(.minutes(20)))
struct BridgeMemoryTests {
  static let count = TestTier.choose(standard: 2_000, thorough: 20_000)

  /// The bytes that the runtime and the system can keep for their threads.
  static let tolerance = 10 * Int64(count)

  @Test(
    "R5, R22-R25: many uses of each bridge, each in a cycle with its closures, leave no memory behind",
    .enabled(if: isMeasurable)
  )
  func bridgesLeaveNothing() async {
    // Runs in a process of its own, where nothing else allocates.
    await #expect(processExitsWith: .success) {
      ignoreLeaksFromNowOn()
      removeErrorHook()
      FuturesDiagnostics.setHandler { _ in }  // one future is broken
      for bridge in Bridge.all {
        let bytes = await Self.bytesLeft(by: bridge)
        // Less than the smallest object for every second use.
        #expect(bytes < Self.tolerance, "\(bridge.name): \(bytes) bytes")
      }
      exitWithTasksThatWaitForEver()
    }
  }

  /// The bytes that `count` uses leave behind: the least of up to three rounds, because threads start and end.
  private static func bytesLeft(by bridge: Bridge) async -> Int64 {
    await use(bridge, 1_000)
    var least = Int64.max
    for _ in 0..<3 where least >= tolerance {
      let before = AllocationCounts.ofProcess().liveBytes
      await use(bridge, count)
      least = min(least, AllocationCounts.ofProcess().liveBytes - before)
    }
    return least
  }

  /// Uses `bridge` `count` times, and waits each time until the captured object is released.
  ///
  /// With a leak, the wait would never end. A task that has resumed its awaiter holds its captures a moment longer.
  private static func use(_ bridge: Bridge, _ count: Int) async {
    for number in 0..<count {
      let released = Promise<Void, Never>()
      await Task { await bridge.use(Captured(released), number.isMultiple(of: 2)) }.value
      await released.future.value
    }
  }
}
