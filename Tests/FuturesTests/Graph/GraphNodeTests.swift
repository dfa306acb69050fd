internal import Dispatch
internal import Futures
internal import TestSupport
internal import Testing

/// Each test in a separate process, because the graph shows the futures of other tests, too.
@Suite("Diagnostics: the states of the graph's nodes")
struct GraphNodeTests {
  @Test("A transform that runs on a queue has not returned; before, it has not started")
  func submittedWork() async { await #expect(processExitsWith: .success) { GraphNodeChecks.submittedWork() } }

  @Test("A wrapped callback whose lock another thread has is in the graph, as busy; an ended one is not")
  func sites() async { await #expect(processExitsWith: .success) { GraphNodeChecks.sites() } }

  @Test("A promise that follows `never` has no producer, and is not in the graph")
  func orphan() async { await #expect(processExitsWith: .success) { GraphNodeChecks.orphan() } }

  @Test("A label cannot break a picture: quotes, angle brackets, number signs and line ends are escaped")
  func escaping() async { await #expect(processExitsWith: .success) { GraphNodeChecks.escaping() } }

  @Test("The oldest producer is the first in the text")
  func order() async { await #expect(processExitsWith: .success) { GraphNodeChecks.order() } }

  @Test("For the test kit, the graph has only what one thread made, and only since a time")
  func scope() async { await #expect(processExitsWith: .success) { GraphNodeChecks.scope() } }
}

/// A wrapped callback with a state of the test's choice.
private final class Site: PendingSite {
  let pendingStatus: PendingSiteStatus

  init(_ status: PendingSiteStatus) { pendingStatus = status }
}

private enum GraphNodeChecks {
  static func submittedWork() {
    FuturesDiagnostics.tracksPendingFutures = true
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let queue = DispatchQueue(label: "app.database")
    let rows = Promise<Int, Never>("rows")
    let derived = rows.future.map(on: .queue(queue)) { rows in
      started.signal()
      gate.wait()
      return rows
    }
    queue.suspend()
    rows.succeed(1)
    #expect(FuturesDiagnostics.graph.nodes.map(\.state) == [.enqueued])
    queue.resume()
    started.wait()
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.map(\.state) == [.running])
    #expect(graph.description.contains(", has not returned, submitted 0."), "\(graph)")
    gate.signal()
    _ = derived
  }

  static func sites() {
    FuturesDiagnostics.tracksPendingFutures = true
    let (busy, ended) = (Site(.busy), Site(.ended))
    PendingFutures.shared.add(.wrappedCallback, busy, label: "busy")
    PendingFutures.shared.add(.callbackStream, ended, label: "ended")
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.map(\.label) == ["busy"])
    #expect(graph.nodes.map(\.state) == [.busy])
    withExtendedLifetime((busy, ended)) {}
  }

  static func orphan() {
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Promise<Int, Never>("orphan")
    promise.follow(.never)
    #expect(FuturesDiagnostics.graph.nodes.isEmpty, "\(FuturesDiagnostics.graph)")
    _ = promise.future
  }

  static func escaping() {
    FuturesDiagnostics.tracksPendingFutures = true
    let promise = Promise<Int, Never>("a \"b\" <c> #d\n\\e")
    let graph = FuturesDiagnostics.graph
    #expect(graph.dot.contains(#"promise \"a \"b\" <c> #d\n\\e\" at"#), "\(graph.dot)")
    #expect(graph.mermaid.contains(#"promise #quot;a #quot;b#quot; #lt;c#gt; #35;d \e#quot; at"#), "\(graph.mermaid)")
    promise.succeed(1)
  }

  static func order() {
    FuturesDiagnostics.tracksPendingFutures = true
    let promises = ["first", "second", "third"].map { Promise<Int, Never>($0) }
    let lines = FuturesDiagnostics.graph.description.split(separator: "\n").dropFirst()
    #expect(lines.map { $0.split(separator: "\"")[1] } == ["first", "second", "third"])
    for promise in promises { promise.succeed(1) }
  }

  static func scope() {
    FuturesDiagnostics.tracksPendingFutures = true
    let early = Promise<Int, Never>("early")
    let made = DispatchTime.now()
    while DispatchTime.now() == made {}  // the clock can be coarse
    let start = DispatchTime.now()
    let late = Promise<Int, Never>("late")
    let elsewhere = Locked<Promise<Int, Never>?>(nil)
    let isMade = DispatchSemaphore(value: 0)
    startThread {
      elsewhere.withLock { $0 = Promise<Int, Never>("elsewhere") }
      isMade.signal()
    }
    isMade.wait()
    let labels = { (start: DispatchTime?, thread: UnsafeMutableRawPointer?) in
      FuturesDiagnostics.graph(since: start, ofThread: thread).nodes.map(\.label)
    }
    #expect(labels(nil, nil) == ["early", "late", "elsewhere"])
    #expect(labels(start, nil) == ["late", "elsewhere"])
    #expect(labels(nil, .ofCurrentThread) == ["early", "late"])
    #expect(labels(start, .ofCurrentThread) == ["late"])
    for promise in [early, late, elsewhere.withLock { $0 }] { promise?.succeed(1) }
  }
}
