internal import Foundation
internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// The time at which the task is cancelled.
private enum Cancelled: CaseIterable { case never, before, during, meanwhile, after }

/// The way in which the API treats its callback.
private enum Behaviour: CaseIterable {
  case drops, calls, callsTwice, fails, callsInBody, failsInBody, callsFromThread, callsInOnCancel

  var isInBody: Bool { [.callsInBody, .failsInBody].contains(self) }

  /// The outcome of the call without a cancellation.
  var outcome: String {
    switch self {
    case .drops, .callsInOnCancel: "broken"
    case .calls, .callsTwice, .callsInBody, .callsFromThread: "1"
    case .fails, .failsInBody: "\(TestError(1))"
    }
  }

  /// Calls the callback, as the API does when its work is done.
  func complete(_ callback: Wrapper.Handle) {
    switch self {
    case .drops, .callsInOnCancel: break
    case .calls, .callsInBody: callback.resume(Page(1))
    case .callsTwice:
      callback.resume(Page(1))
      callback.resume(Page(2))
    case .fails, .failsInBody: callback.fail(TestError(1))
    case .callsFromThread: onThread { callback.resume(Page(1)) }
    }
  }
}

@Suite(.timeLimit(.minutes(20)))
struct CallbackTests {
  /// Runs one row of the table: an API with this behaviour, in a task that is cancelled at this time.
  private static func run(
    _ wrapper: Wrapper,
    _ behaviour: Behaviour,
    _ cancelled: Cancelled
  ) async -> (outcome: String, events: [String]) {
    let events = Recorder<String>()
    let hasBegun = Gate()
    let held = Locked<Wrapper.Handle?>(nil)
    let mayBegin = Gate()
    let task = Task { () -> String in
      await mayBegin.pass()
      return await wrapper.call { callback in
        events.record("body")
        if cancelled == .during { cancelCurrentTask() }
        if behaviour == .callsInOnCancel {
          // Like an API that calls back when it is stopped. The handler must not capture the callback: that would
          // keep the callback alive.
          callback.onCancel { held.withLock { $0 }?.resume(Page(3)) }
        }
        callback.onCancel { events.record("handler") }
        if behaviour.isInBody { behaviour.complete(callback) }
        held.withLock { $0 = callback }
        hasBegun.open()
      } onCancel: {
        events.record("onCancel")
      }
    }
    if cancelled == .before { task.cancel() }
    mayBegin.open()
    if cancelled != .before {
      await hasBegun.pass()
      if cancelled == .meanwhile { task.cancel() }
      let callback = held.withLock { $0.take() }
      if !behaviour.isInBody, let callback { behaviour.complete(callback) }
    }
    if cancelled == .after {
      let outcome = await task.value
      task.cancel()
      return (outcome, events.events)
    }
    return (await task.value, events.events)
  }

  @Test(
    "R22b: the first of a resume, a drop and a cancellation decides; onCancel runs only for a cancellation",
    arguments: Behaviour.allCases,
    Cancelled.allCases
  )
  private func firstEventDecides(_ behaviour: Behaviour, _ cancelled: Cancelled) async {
    for wrapper in Wrapper.allCases {
      let (outcome, events) = await Self.run(wrapper, behaviour, cancelled)
      let isInTime = [.during, .meanwhile].contains(cancelled) && !(cancelled == .meanwhile && behaviour.isInBody)
      #expect(outcome == (isInTime || cancelled == .before ? "cancelled" : behaviour.outcome), "\(wrapper)")
      let expected = (cancelled == .before ? [] : ["body"]) + (isInTime ? ["onCancel", "handler"] : [])
      #expect(events == expected, "\(wrapper)")
    }
  }

  // MARK: - Lifetime

  @Test(
    "R5: the end of a call releases its handlers before it returns, and the value, also while the callback is held",
    arguments: Ending.allCases,
    Wrapper.allCases
  )
  func endedCallReleasesEverything(ending: Ending, wrapper: Wrapper) async {
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
    switch ending {
    case .success: held.withLock { $0 }?.resume(Page(1) { events.record("value") })
    case .failure: held.withLock { $0 }?.fail(TestError())
    case .cancellation: task.cancel()
    case .brokenPromise:
      let dropped = held.withLock { $0.take() }
      _ = dropped  // released here, outside the lock
    }
    // Without the value, whose last use an optimised build can end before.
    #expect(events.events.filter { $0 != "value" }.prefix(3) == ["resumed", "handler", "resumed"])
    executor.runAll()
    await task.value
    #expect(Set(events.events) == Set(["resumed", "handler", "onCancel"] + (ending == .success ? ["value"] : [])))
    // A handler that is added now never runs, or runs at once. A second value is released at once.
    held.withLock { $0 }?.onCancel(use("late"))
    held.withLock { $0 }?.resume(Page(2) { events.record("late value") })
    let late = events.events.filter { $0.hasPrefix("late") }
    #expect(late == (ending == .brokenPromise ? [] : ["late", "late value"]))
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
