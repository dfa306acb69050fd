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
}
