internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

/// Each test runs in a separate process, because a process has one observer and one table.
@Suite("Wrapped callbacks in the graph and in events")
struct CallbackGraphTests {
  @Test("A call of withCallback has one begin and one end: with a result, dropped, or after a cancellation")
  func calls() async { await #expect(processExitsWith: .success) { await CallbackGraphChecks.calls() } }

  @Test("A cancelled call is in the graph, as cancelled, until its handlers have run; then comes its end")
  func cancelledCallInGraph() async {
    await #expect(processExitsWith: .success) { await CallbackGraphChecks.cancelledCallInGraph() }
  }

  @Test("A call that is cancelled as soon as its begin is an event has a cancellation and an end")
  func cancelledByItsBegin() async {
    await #expect(processExitsWith: .success) { await CallbackGraphChecks.cancelledByItsBegin() }
  }

  @Test("A call and a stream that began without an observer have no events")
  func unobserved() async { await #expect(processExitsWith: .success) { await CallbackGraphChecks.unobserved() } }

  @Test(
    "The observer that saw the begin of a call or a stream sees its end, although tracking is off and another one is set"
  )
  func replaced() async { await #expect(processExitsWith: .success) { await CallbackGraphChecks.replaced() } }

  @Test("A stream has one begin and one end: finished, dropped, or after its reader left")
  func streams() async { await #expect(processExitsWith: .success) { await CallbackGraphChecks.streams() } }

  @Test("A stream that can yield is in the graph, with its label and line, and leaves it with its end")
  func streamInGraph() async {
    await #expect(processExitsWith: .success) { await CallbackGraphChecks.streamInGraph() }
  }
}

private enum CallbackGraphChecks {
  typealias Kind = FuturesDiagnostics.Event.Kind

  static func observe() -> Locked<[FuturesDiagnostics.Event]> {
    let events = Locked<[FuturesDiagnostics.Event]>([])
    FuturesDiagnostics.tracksPendingFutures = true
    FuturesDiagnostics.setEventObserver { event in
      guard event.node == .wrappedCallback || event.node == .callbackStream else { return }
      events.withLock { $0.append(event) }
    }
    return events
  }

  static func kinds(_ events: Locked<[FuturesDiagnostics.Event]>, of label: String) -> [Kind] {
    let events = events.withLock { $0.filter { $0.label == label } }
    #expect(Set(events.map(\.id)).count == 1)
    #expect(events.allSatisfy { $0.fileID == #fileID && $0.line != nil })
    return events.map(\.kind)
  }

  static func calls() async {
    let events = observe()
    _ = try? await withCallback("called") { $0.resume(returning: 1) }
    #expect(kinds(events, of: "called") == [.began, .succeeded])
    _ = try? await withCallback("dropped") { (_: Callback<Int>) in }
    #expect(kinds(events, of: "dropped") == [.began, .succeeded])
    let kept = Locked<Callback<Int>?>(nil)
    let task = Task.immediate {
      _ = try? await withCallback("cancelled") { callback in kept.withLock { $0 = callback } }
    }
    #expect(kinds(events, of: "cancelled") == [.began])
    task.cancel()
    await task.value
    kept.withLock { $0 }?.resume(returning: 1)
    #expect(kinds(events, of: "cancelled") == [.began, .cancelled, .failed])
  }

  static func cancelledCallInGraph() async {
    let events = observe()
    let nodes = Locked<[WaitForGraph.Node]>([])
    let task = Task.immediate {
      let kept = Locked<Callback<Int>?>(nil)
      _ = try? await withCallback("slow to stop") { callback in
        kept.withLock { $0 = callback }
      } onCancel: {
        nodes.withLock { $0 = FuturesDiagnostics.graph.nodes.filter { $0.label == "slow to stop" } }
        #expect(kinds(events, of: "slow to stop") == [.began, .cancelled])
      }
    }
    task.cancel()
    await task.value
    #expect(nodes.withLock { $0.map(\.isCancelled) } == [true])
    #expect(kinds(events, of: "slow to stop") == [.began, .cancelled, .failed])
    #expect(FuturesDiagnostics.graph.nodes.filter { $0.label == "slow to stop" }.isEmpty)
  }

  static func cancelledByItsBegin() async {
    let kinds = Locked<[Kind]>([])
    FuturesDiagnostics.tracksPendingFutures = true
    FuturesDiagnostics.setEventObserver { event in
      guard event.node == .wrappedCallback else { return }
      kinds.withLock { $0.append(event.kind) }
      if event.kind == .began { withUnsafeCurrentTask { $0?.cancel() } }
    }
    let kept = Locked<Callback<Int>?>(nil)
    await Task.immediate {
      _ = try? await withCallback("cancelled at once") { callback in kept.withLock { $0 = callback } }
    }.value
    #expect(kinds.withLock { $0 } == [.began, .cancelled, .failed])
  }

  static func unobserved() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let kept = Locked<(Callback<Int>?, CallbackStream<Int>?)>((nil, nil))
    let task = Task.immediate {
      _ = try? await withCallback("early") { callback in kept.withLock { $0.0 = callback } }
    }
    let stream = callbackStream("early stream", of: Int.self) { handle in kept.withLock { $0.1 = handle } }
    let events = observe()
    task.cancel()
    await task.value
    kept.withLock { $0.1 }?.finish()
    #expect(events.withLock { $0.isEmpty })
    _ = stream
  }

  static func replaced() async {
    let events = observe()
    let kept = Locked<(Callback<Int>?, CallbackStream<Int>?)>((nil, nil))
    let call = Task.immediate {
      _ = try? await withCallback("kept") { callback in kept.withLock { $0.0 = callback } }
    }
    let stream = callbackStream("kept stream", of: Int.self) { handle in kept.withLock { $0.1 = handle } }
    FuturesDiagnostics.tracksPendingFutures = false
    let others = observe()
    let cancelled = Task.immediate {
      let callback = Locked<Callback<Int>?>(nil)
      _ = try? await withCallback("cancelled elsewhere") { kept in callback.withLock { $0 = kept } }
    }
    FuturesDiagnostics.setEventObserver(nil)
    kept.withLock { $0.0 }?.resume(returning: 1)
    await call.value
    kept.withLock { $0.1 }?.finish()
    cancelled.cancel()
    await cancelled.value
    #expect(kinds(events, of: "kept") == [.began, .succeeded])
    #expect(kinds(events, of: "kept stream") == [.began, .succeeded])
    #expect(events.withLock { $0.count } == 4)
    #expect(kinds(others, of: "cancelled elsewhere") == [.began, .cancelled, .failed])
    #expect(others.withLock { $0.count } == 3)
    _ = stream
  }

  static func streams() async {
    let events = observe()
    for await _ in ended(callbackStream("finished", of: Int.self) { $0.finish() }) {}
    #expect(kinds(events, of: "finished") == [.began, .succeeded])
    _ = callbackStream("dropped", of: Int.self) { _ in }
    #expect(kinds(events, of: "dropped") == [.began, .released])
    let kept = Locked<CallbackStream<Int>?>(nil)
    do {
      let stream = callbackStream("left", of: Int.self) { handle in kept.withLock { $0 = handle } }
      _ = stream
    }
    #expect(kinds(events, of: "left").first == .began)
    kept.withLock { $0 = nil }
    #expect(kinds(events, of: "left") == [.began, .cancelled, .failed])
  }

  /// The elements of a stream that does not fail.
  private static func ended(_ stream: AsyncThrowingStream<Int, any Error>) -> AsyncStream<Int> {
    AsyncStream { continuation in
      Task.immediate {
        do {
          for try await element in stream { continuation.yield(element) }
        } catch {
          Issue.record(error)
        }
        continuation.finish()
      }
    }
  }

  static func streamInGraph() async {
    FuturesDiagnostics.tracksPendingFutures = true
    let kept = Locked<CallbackStream<Int>?>(nil)
    let line = #line + 1
    let stream = callbackStream("places", of: Int.self) { handle in kept.withLock { $0 = handle } }
    let node = FuturesDiagnostics.graph.nodes.first { $0.kind == .callbackStream }
    #expect(node?.description.hasPrefix("callbackStream \"places\" at \(#fileID):\(line), pending for ") == true)
    kept.withLock { $0 }?.finish()
    #expect(FuturesDiagnostics.graph.nodes.isEmpty)
    _ = stream
  }
}
