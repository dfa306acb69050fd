internal import Dispatch
internal import Futures
internal import TestSupport
internal import Testing

/// Each test runs in a separate process, because a process has one observer.
@Suite("Diagnostics: events")
struct EventTests {
  @Test("Each promise has one begin and one end, with a cancellation between them if there was one")
  func promises() async { await #expect(processExitsWith: .success) { EventChecks.promises() } }

  @Test("Timers have events too, and none follow when the observer is removed")
  func timers() async { await #expect(processExitsWith: .success) { EventChecks.timers() } }

  @Test("A future that is released before it ends has an event that says so")
  func released() async { await #expect(processExitsWith: .success) { EventChecks.released() } }

  @Test("An observer keeps no future running, and starts no lazy future")
  func changesNothing() async { await #expect(processExitsWith: .success) { EventChecks.changesNothing() } }

  @Test("The observer is no consumer: neither the graph nor the list of pending futures has it")
  func isNoConsumer() async { await #expect(processExitsWith: .success) { EventChecks.isNoConsumer() } }

  @Test("A promise that the observer makes has no events, and a later one has; a promise that it resolves has an end")
  func recursion() async { await #expect(processExitsWith: .success) { EventChecks.recursion() } }

  @Test("A handler of misuse that makes the mistake itself is called four times, and not without end")
  func misuse() async { await #expect(processExitsWith: .success) { EventChecks.misuse() } }

  @Test(
    "No event follows the end, also if another thread resolves the promise while the observer gets the cancellation"
  )
  func order() async { await #expect(processExitsWith: .success) { EventChecks.order() } }

  @Test("The observer that saw the begin sees the end, although tracking is off and the observer is another one")
  func replaced() async { await #expect(processExitsWith: .success) { EventChecks.replaced() } }
}

private enum EventChecks {
  static func isNoConsumer() {
    _ = observe()
    let promise = Promise<Int, Never>("observed")
    #expect(FuturesDiagnostics.graph.nodes.map(\.kind) == [.promise])
    #expect(FuturesDiagnostics.pendingFutures.allSatisfy { $0.hasSuffix(" seconds, 0 consumers") })
    promise.future.whenResolved(on: .immediate) { _ in }
    promise.future.cancel()  // now another list holds the consumer and the observer
    #expect(FuturesDiagnostics.graph.nodes.map(\.kind) == [.promise, .callback])
    #expect(FuturesDiagnostics.graph.nodes.map(\.count) == [1, 1])
    #expect(FuturesDiagnostics.pendingFutures.allSatisfy { $0.hasSuffix(" seconds, 1 consumer") })
    promise.succeed(1)
  }

  static func recursion() {
    let events = Locked<[String]>([])
    FuturesDiagnostics.tracksPendingFutures = true
    let early = Locked<Promise<Int, any Error>?>(nil)
    FuturesDiagnostics.setEventObserver { event in
      events.withLock { $0.append("\(event.label ?? "") \(event.kind)") }
      Promise<Int, any Error>("of the observer").succeed(1)
      if event.label == "late" { early.withLock { $0 }?.succeed(1) }
    }
    early.withLock { $0 = Promise<Int, any Error>("early") }
    Promise<Int, any Error>("late").succeed(1)
    #expect(events.withLock { $0 } == ["early began", "late began", "early succeeded", "late succeeded"])
    early.withLock { $0 = nil }  // the observer holds it, which LeakSanitizer does not see
  }

  static func misuse() {
    let count = Locked(0)
    let twice = { @Sendable in
      let promise = Promise<Int, any Error>()
      promise.succeed(1)
      promise.succeed(2)
    }
    FuturesDiagnostics.setHandler { _ in
      count.withLock { $0 += 1 }
      twice()
    }
    twice()
    #expect(count.withLock { $0 } == 4)
    twice()
    #expect(count.withLock { $0 } == 8)
  }

  static func order() {
    ignoreLeaksFromNowOn()  // the other thread can still be about to end
    let kinds = Locked<[FuturesDiagnostics.Event.Kind]>([])
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Locked<Promise<Int, Never>?>(nil)
    FuturesDiagnostics.setEventObserver { event in
      if event.kind == .cancelled {
        let isResolved = DispatchSemaphore(value: 0)
        startThread {
          promise.withLock { $0 }?.succeed(1)
          isResolved.signal()
        }
        isResolved.wait()
      }
      kinds.withLock { $0.append(event.kind) }
    }
    let made = Promise<Int, Never>()
    promise.withLock { $0 = made }
    made.future.cancel()
    #expect(kinds.withLock { $0 } == [.began, .cancelled, .succeeded])
    // The cancellation is late: the cancelling thread had not called the observer before the promise was resolved.
    let late = Locked<[FuturesDiagnostics.Event.Kind]>([])
    FuturesDiagnostics.setEventObserver { event in late.withLock { $0.append(event.kind) } }
    let events = PendingFutures.shared.add(.wrappedCallback, made)
    for change in [NodeChanges.Change.resolved, .cancelling, .cancelled, .released] { events?.didChange(change) }
    #expect(late.withLock { $0 } == [.began, .succeeded])
  }

  static func replaced() {
    let events = observe()
    let promise = Promise<Int, any Error>("kept")
    FuturesDiagnostics.tracksPendingFutures = false
    let others = observe()
    promise.succeed(1)
    #expect(kinds(events, of: "kept") == [.began, .succeeded])
    #expect(others.withLock { $0.isEmpty })
  }

  static func observe() -> Locked<[FuturesDiagnostics.Event]> {
    let events = Locked<[FuturesDiagnostics.Event]>([])
    FuturesDiagnostics.tracksPendingFutures = true
    FuturesDiagnostics.setEventObserver { event in events.withLock { $0.append(event) } }
    return events
  }

  static func kinds(_ events: Locked<[FuturesDiagnostics.Event]>, of label: String) -> [FuturesDiagnostics.Event.Kind] {
    events.withLock { $0.filter { $0.label == label }.map(\.kind) }
  }

  static func promises() {
    FuturesDiagnostics.setHandler { _ in }
    let events = observe()
    let (good, line) = (Promise<Int, any Error>("good"), #line)
    let id = FuturesDiagnostics.graph.nodes.first { $0.label == "good" }?.id
    good.future.whenResolved(on: .immediate) { _ in
      #expect(kinds(events, of: "good") == [.began])  // the end comes after the callbacks
    }
    good.succeed(1)
    #expect(kinds(events, of: "good") == [.began, .succeeded])
    Promise<Int, any Error>("bad").fail(CancellationError())
    #expect(kinds(events, of: "bad") == [.began, .failed])
    let cancelled = Promise<Int, any Error>("cancelled")
    cancelled.future.cancel()
    #expect(kinds(events, of: "cancelled") == [.began, .cancelled, .failed])
    let stubborn = Promise<Int, Never>("stubborn")
    stubborn.future.cancel()
    #expect(kinds(events, of: "stubborn") == [.began, .cancelled])
    stubborn.succeed(1)
    #expect(kinds(events, of: "stubborn") == [.began, .cancelled, .succeeded])
    let future = Promise<Int, Never>("broken").future
    #expect(kinds(events, of: "broken") == [.began, .broken])
    let all = events.withLock { $0 }
    #expect(all.first?.id == id)
    #expect(all.first?.fileID == #fileID)
    #expect(all.first?.line == line)
    #expect(all.first?.node == .promise)
    #expect(all.filter(\.isEnd).count == 5)
    #expect(Set(all.map(\.id)).count == 5)
    _ = future
  }

  static func timers() {
    let events = observe()
    let timer = Future.after(.seconds(3_600))
    timer.cancel()
    #expect(events.withLock { $0.map(\.kind) } == [.began, .cancelled, .succeeded])
    #expect(events.withLock { $0.allSatisfy { $0.node == .timer } })
    FuturesDiagnostics.setEventObserver(nil)
    Promise<Int, any Error>().succeed(1)
    #expect(events.withLock { $0.count } == 3)
  }

  static func released() {
    let events = observe()
    do {
      let promise = Promise<Int, Never>("orphan")
      promise.follow(.never)
    }
    #expect(kinds(events, of: "orphan") == [.began, .released])
  }

  static func changesNothing() {
    let events = observe()
    let started = Locked(0)
    let lazy = Future<Int, any Error>.lazy { promise in
      started.withLock { $0 += 1 }
      promise.succeed(1)
    }
    #expect(started.withLock { $0 } == 0)
    let promise = Promise<Int, any Error>("source")
    promise.future.map { $0 }.cancel()  // the only consumer leaves, so the source is cancelled (R16)
    #expect(kinds(events, of: "source") == [.began, .cancelled, .failed])
    _ = lazy
  }
}
