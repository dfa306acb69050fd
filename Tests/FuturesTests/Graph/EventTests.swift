internal import Dispatch
internal import Futures
internal import TestSupport
internal import Testing

/// Each test in a separate process: the observer is that of a process.
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
}

private enum EventChecks {
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
