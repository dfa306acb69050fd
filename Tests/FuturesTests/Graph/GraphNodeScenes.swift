internal import Dispatch
internal import Futures
internal import TestSupport
internal import Testing

/// A wrapped callback with a state of the test's choice.
private final class Site: PendingSite {
  let pendingStatus: PendingSiteStatus

  init(_ status: PendingSiteStatus) { pendingStatus = status }
}

enum GraphNodeScenes {
  static func submittedWork() {
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

  static func blockedCallback() {
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let queue = DispatchQueue(label: "app.database")
    let rows = Promise<Int, Never>("rows")
    let block = { @Sendable (_: Result<Int, Never>) in
      started.signal()
      gate.wait()
    }
    rows.future.whenResolved(on: .queue(queue), block)
    rows.succeed(1)
    rows.future.whenResolved(on: .queue(queue), block)
    let removed = rows.future.whenResolved(on: .queue(queue)) { _ in }
    started.wait()
    #expect(removed.remove())
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.map(\.state) == [.running, .enqueued], "\(graph)")
    let place = "callback submitted to the queue \"app.database\", with the result of the promise \"rows\" at "
    #expect(graph.description.contains(place), "\(graph)")
    gate.signal()
    started.wait()
    #expect(FuturesDiagnostics.graph.nodes.map(\.state) == [.running], "\(FuturesDiagnostics.graph)")
    gate.signal()
    queue.sync {}
    #expect(FuturesDiagnostics.graph.nodes.isEmpty, "\(FuturesDiagnostics.graph)")
  }

  static func sites() {
    let (busy, ended) = (Site(.busy), Site(.ended))
    PendingFutures.shared.add(.wrappedCallback, busy, label: "busy")
    PendingFutures.shared.add(.callbackStream, ended, label: "ended")
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes.map(\.label) == ["busy"])
    #expect(graph.nodes.map(\.state) == [.busy])
    withExtendedLifetime((busy, ended)) {}
  }

  static func orphan() {
    let promise = Promise<Int, Never>("orphan")
    promise.follow(.never)
    #expect(FuturesDiagnostics.graph.nodes.isEmpty, "\(FuturesDiagnostics.graph)")
    _ = promise.future
  }

  static func oneLine() {
    let name = "a\r\nforged \u{1B}[31m\u{2028}\u{85}\t👩‍💻"
    let promise = Promise<Int, Never>(name)
    promise.future.whenResolved(on: .queue(DispatchQueue(label: name))) { _ in }
    let escaped = #"a\r\nforged \u{1B}[31m\u{2028}\u{0085}\t👩‍💻"#
    let graph = FuturesDiagnostics.graph
    #expect(graph.nodes[0].label == name)
    let lines = graph.description.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4, "\(graph)")
    #expect(lines[1].hasPrefix("promise \"\(escaped)\" at "), "\(graph)")
    #expect(lines[2] == "└─ callback on the queue \"\(escaped)\"", "\(graph)")
    #expect(FuturesDiagnostics.pendingFutures[0].hasPrefix("\"\(escaped)\" "), "\(FuturesDiagnostics.pendingFutures)")
    let controls = graph.description.unicodeScalars.filter {
      ($0.value < 0x20 && $0 != "\n") || $0.value == 0x85 || $0.value == 0x2028
    }
    #expect(controls.isEmpty, "\(graph)")
    promise.succeed(1)
  }

  static func contexts() {
    let promise = Promise<Int, Never>("popular")
    for _ in 0..<3 {
      promise.future.whenResolved(on: .global()) { _ in }
      promise.future.whenResolved(on: .mainQueue) { _ in }
      promise.future.whenResolved(on: .queue(DispatchQueue(label: "one of three"))) { _ in }
    }
    promise.future.whenResolved(on: .global(qos: .background)) { _ in }
    let callbacks = FuturesDiagnostics.graph.nodes.filter { $0.kind == .callback }
    #expect(callbacks.map(\.count).sorted() == [1, 1, 1, 1, 3, 3], "\(FuturesDiagnostics.graph)")
    promise.succeed(1)
  }

  static func retry() {
    let answer = Promise<Int, any Error>("answer")
    let line = #line + 1
    let future = Future<Int, any Error>.retry(attempts: 3) { answer.future }
    let delayed = Future<Int, any Error>.retry(attempts: 3, delay: .constant(.seconds(1))) { answer.future }
    let places = FuturesDiagnostics.graph.nodes.filter { $0.kind == .promise && $0.label == nil }
    #expect(places.map(\.fileID) == [#fileID, #fileID])
    #expect(places.map(\.line) == [line, line + 1])
    answer.succeed(1)
    _ = (future, delayed)
  }

  static func order() {
    let promises = ["first", "second", "third"].map { Promise<Int, Never>($0) }
    let lines = FuturesDiagnostics.graph.description.split(separator: "\n").dropFirst()
    #expect(lines.map { $0.split(separator: "\"")[1] } == ["first", "second", "third"])
    for promise in promises { promise.succeed(1) }
  }

  static func scope() {
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
