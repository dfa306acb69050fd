internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// The time at which the task is cancelled.
private enum Cancelled: CaseIterable { case never, before, during, meanwhile, after }

/// The way in which the API treats its callback.
private enum Behaviour: CaseIterable {
  case drops, calls, callsTwice, fails, callsInBody, failsInBody, callsFromThread, callsInOnCancel, givesNeither,
    givesBoth

  var isInBody: Bool { [.callsInBody, .failsInBody].contains(self) }

  /// The result of the call without a cancellation.
  var outcome: String {
    switch self {
    case .drops, .callsInOnCancel: "broken api, line 7"
    case .calls, .callsTwice, .callsInBody, .callsFromThread: "1"
    case .fails, .failsInBody, .givesBoth: "error 1"
    case .givesNeither: "violation of api, line 7"
    }
  }

  /// Calls the callback, as the API does when its work is done.
  func complete(_ callback: Callback<Page>) {
    switch self {
    case .drops, .callsInOnCancel: break
    case .calls, .callsInBody: callback.resume(returning: Page(1))
    case .callsTwice:
      callback.resume(returning: Page(1))
      callback.resume(returning: Page(2))
    case .fails, .failsInBody: callback.resume(throwing: TestError(1))
    case .callsFromThread: onThread { callback.resume(returning: Page(1)) }
    case .givesNeither: callback.valueOrErrorHandler(nil, nil)
    case .givesBoth: callback.valueOrErrorHandler(Page(1), TestError(1))
    }
  }
}

/// Returns an error of a call as text, with the label and the line of the call.
func describe(_ error: any Error) -> String {
  switch error {
  case let error as BrokenPromise: "broken \(error.label ?? "none"), line \(error.line)"
  case let error as CallbackContractViolation: "violation of \(error.label ?? "none"), line \(error.line)"
  case is CancellationError: "cancelled"
  case let error as TestError: "error \(error.number)"
  default: "\(error)"
  }
}

struct CallbackTests {
  /// Runs one row of the table: an API with this behaviour, in a task that is cancelled at this time.
  private static func run(_ behaviour: Behaviour, _ cancelled: Cancelled) async -> (outcome: String, events: [String]) {
    let events = Recorder<String>()
    let hasBegun = Gate()
    let held = Locked<Callback<Page>?>(nil)
    let mayBegin = Gate()
    let task = Task { () -> String in
      await mayBegin.pass()
      do {
        let page: Page = try await withCallback("api", line: 7) { callback in
          events.record("body")
          if cancelled == .during { withUnsafeCurrentTask { $0?.cancel() } }
          if behaviour == .callsInOnCancel {
            // Like an API that calls back when it is stopped. The handler must not capture the callback: that would
            // keep the callback alive.
            callback.onCancel { held.withLock { $0 }?.resume(returning: Page(3)) }
          }
          callback.onCancel { events.record("handler") }
          if behaviour.isInBody { behaviour.complete(callback) }
          held.withLock { $0 = callback }
          hasBegun.open()
        } onCancel: {
          events.record("onCancel")
        }
        return "\(page.number)"
      } catch {
        return describe(error)
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
    let (outcome, events) = await Self.run(behaviour, cancelled)
    switch cancelled {
    case .never, .after:
      #expect(outcome == behaviour.outcome)
      #expect(events == ["body"])
    case .before:
      #expect(outcome == "cancelled")
      #expect(events == [])
    case .during:
      #expect(outcome == "cancelled")
      #expect(events == ["body", "onCancel", "handler"])
    case .meanwhile where behaviour.isInBody:
      #expect(outcome == behaviour.outcome)
      #expect(events == ["body"])
    case .meanwhile:
      #expect(outcome == "cancelled")
      #expect(events == ["body", "onCancel", "handler"])
    }
  }
}
