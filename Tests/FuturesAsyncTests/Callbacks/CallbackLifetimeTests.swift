internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(20)))
struct CallbackLifetimeTests {
  /// The event that ends the call.
  enum End: CaseIterable {
    case returns, fails, drops, cancels

    /// Ends the call of `held`, which `task` awaits.
    func happen(to held: Locked<Wrapper.Handle?>, _ value: sending Page, _ task: Task<Void, Never>) {
      switch self {
      case .returns: held.withLock { $0 }?.resume(value)
      case .fails: held.withLock { $0 }?.fail(TestError())
      case .drops:
        let dropped = held.withLock { $0.take() }
        _ = dropped  // released here, outside the lock
      case .cancels: task.cancel()
      }
    }
  }

  @Test(
    "R5: the end of a call releases its handlers before it returns, and the value, also while the callback is held",
    arguments: End.allCases,
    Wrapper.allCases
  )
  func endedCallReleasesEverything(end: End, wrapper: Wrapper) async {
    let events = Recorder<String>()
    let executor = HeldExecutor { events.record("resumed") }
    let held = Locked<Wrapper.Handle?>(nil)
    let use = { @Sendable (name: String) -> @Sendable () -> Void in
      let captured = LastUse { events.record(name) }
      return { captured.use() }
    }
    let task = Task(executorPreference: executor) {
      _ = await wrapper.call(
        { callback in
          callback.onCancel(use("handler"))
          held.withLock { $0 = callback }
        },
        onCancel: use("onCancel")
      )
    }
    executor.runAll()
    end.happen(to: held, Page(1) { events.record("value") }, task)
    // Without the value, whose last use an optimised build can end before.
    #expect(events.events.filter { $0 != "value" }.prefix(3) == ["resumed", "handler", "resumed"])
    executor.runAll()
    await task.value
    #expect(Set(events.events) == ["resumed", "handler", "onCancel", "value"])
    // A handler that is added now never runs, or runs at once. A second value is released at once.
    held.withLock { $0 }?.onCancel(use("late"))
    held.withLock { $0 }?.resume(Page(2) { events.record("late value") })
    let late = events.events.filter { $0.hasPrefix("late") }
    #expect(late == (end == .drops ? [] : ["late", "late value"]))
  }

  @Test("R22b: a handler that is added while other handlers run waits for its turn, on any thread")
  func addedWhileOthersRun() async {
    let log = Recorder<String>()
    let cancelling = Locked<ObjectIdentifier?>(nil)
    @Sendable func record(_ name: String) {
      let isHome = cancelling.withLock { $0 } == ObjectIdentifier(Thread.current)
      log.record(isHome ? name : "\(name) on another thread")
    }
    let held = Locked<Callback<Int>?>(nil)
    let task = Task.immediate {
      try await withCallback(of: Int.self) { callback in
        held.withLock { $0 = callback }
        callback.onCancel { record("2") }
      } onCancel: {
        record("1")
        held.withLock { $0 }?.onCancel { record("3") }
        onThread { held.withLock { $0 }?.onCancel { record("4") } }
      }
    }
    cancelling.withLock { $0 = ObjectIdentifier(Thread.current) }
    task.cancel()
    #expect(log.events == ["1", "2", "3", "4"])
    await #expect(throws: CancellationError.self) { try await task.value }
    // All handlers have run, so a handler that is added now runs at once.
    onThread { held.withLock { $0 }?.onCancel { record("5") } }
    #expect(log.events.last == "5 on another thread")
  }
}
