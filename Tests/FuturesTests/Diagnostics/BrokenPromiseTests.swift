import Futures
import FuturesTesting
import TestSupport
import Testing

struct BrokenPromiseTests {
  @Test("R4: dropping the last reference fails the future with label, file and line")
  func namesTheCreationSite() throws {
    var promise: Promise<Int, any Error>? = Promise("avatar")
    let line: UInt = #line - 1
    let future = try #require(promise).future
    let log = Recorder<String>()
    future.whenFailed(on: .immediate) { log.record("\(type(of: $0))") }
    promise = nil
    #expect(log.events == ["BrokenPromise"])
    let error = try #require(throws: BrokenPromise.self) { try #require(future.peek()).get() }
    #expect(error.label == "avatar")
    #expect(error.fileID == #fileID)
    #expect(error.line == line)
  }

  @Test("R4: if the failure type cannot hold the break, the future stays pending and releases its callbacks unrun")
  func staysPending() {
    let log = Recorder<Int>()
    let (captured, future) = withTracked { object in
      var promise: Promise<Int, Never>? = Promise()
      let future = promise!.future
      future.map { value in
        object.use()
        return value
      }.whenResolved(on: .immediate) { _ in log.record(1) }
      // No report here, because `brokenPromises` records the broken promise.
      _ = brokenPromises(madeIn: #fileID) { promise = nil }
      return future
    }
    #expect(captured.isReleased)
    #expect(!future.isResolved)
    #expect(future.peek() == nil)
    future.whenResolved(on: .immediate) { _ in log.record(2) }
    #expect(!future.map { $0 }.isResolved)
    #expect(log.events.isEmpty)
  }

  @Test("R2a, R4, R12: dropped work breaks its future with the cause and the labelled promise, and cancels its source")
  func droppedWorkNamesThePromise() throws {
    typealias Source = Future<Int, any Error>
    let held = HeldContext()
    let context = ExecutionContext { work in
      held.context.submit(work)
    } after: { _, work in
      held.context.submit(work)
      return {}
    }
    let line: UInt = #line + 1
    let promises = (0..<5).map { _ in Promise<Int, any Error>("avatar") }
    promises[0].succeed(1)
    let futures: [Source] = [
      promises[0].future.tap(on: context) { _ in },
      promises[1].future.map(on: context) { $0 },
      promises[2].future.delay(by: .seconds(1), on: context),
      promises[3].future.map { $0 }.map { $0 }.timeout(after: .seconds(1), on: context),
      promises[4].future,
    ]
    promises[1].succeed(1)
    promises[2].succeed(1)
    promises[4].follow(Source(on: context) { 1 })
    #expect(held.count == 5)
    held.dropAll()
    for (index, future) in futures.enumerated() {
      let error = try #require(throws: BrokenPromise.self, "\(index)") { try #require(future.peek()).get() }
      #expect(error.cause == .workDropped, "\(index)")
      #expect(error.label == "avatar" && error.fileID == #fileID && error.line == line, "\(index)")
    }
    #expect(promises[3].cancellationToken.isCancelled)  // the source of the timeout
  }

  @Test(
    "R2a, R4, R5: dropped work is released, and without a labelled promise names its `Future(on:)`, and no file of the library"
  )
  func droppedWorkWithoutPromise() throws {
    let held = HeldContext()
    let promise = Promise<Int, any Error>()
    let line: UInt = #line + 4
    let (captured, futures) = withTracked(Captured()) { object -> [Future<Int, any Error>] in
      [
        promise.future.map(on: held.context) { object.use($0) },
        Future(on: held.context) { object.use(1) },
        Future(on: held.context, flattening: { .succeeded(object.use(1)) }),
      ]
    }
    promise.succeed(1)
    #expect(!captured.isReleased)
    held.dropAll()
    #expect(captured.isReleased)
    for (future, line) in zip(futures, [0, line, line + 1]) {
      let error = try #require(throws: BrokenPromise.self) { try future.peek()?.get() }
      let fileID = line == 0 ? "" : #fileID
      #expect(error.cause == .workDropped && error.label == nil && error.fileID == fileID && error.line == line)
      let origin = line == 0 ? "a derived future" : "the future made at \(fileID):\(line)"
      #expect("\(error)" == "An execution context dropped the work of \(origin).")
    }
    let dropped = try #require(throws: BrokenPromise.self) { try Promise<Int, any Error>().future.peek()?.get() }
    #expect(dropped.cause == .promiseDropped)
  }
}

/// Tests of the process-wide handler, one after another.
@Suite(.serialized)
struct DiagnosticsTests {
  private func misuse(during body: () -> Void) -> [FuturesDiagnostics.Misuse] {
    let log = Recorder<FuturesDiagnostics.Misuse>()
    // Other suites run at the same time, with other labels. The handler keeps none of their reports, because those
    // suites count the memory that remains.
    FuturesDiagnostics.setHandler { if $0.label?.hasPrefix("diagnosed") == true { log.record($0) } }
    defer { FuturesDiagnostics.setHandler(nil) }
    body()
    return log.events
  }

  @Test("R4: a wait for a broken future that cannot fail with the break is reported, before or after the break")
  func waitingForBrokenPromise() {
    let broken = Promise<Int, Never>("diagnosed").future
    #expect(misuse { wait(for: broken) }.count == 1)
    #expect(misuse { wait(for: broken.map { $0 }) }.count == 1)
    #expect(misuse { _ = broken.peek() }.isEmpty)
    let reports = misuse {
      var promise: Promise<Int, Never>? = Promise("diagnosed later")
      wait(for: promise!.future)
      promise = nil
    }
    #expect(reports.isEmpty)
  }

  @Test("R4: a double resolution is reported to a handler, with the place of the promise")
  func resolvedTwice() {
    let reports = misuse {
      let promise = Promise<Int, TestError>("diagnosed twice", fileID: "App/Twice.swift", line: 7)
      promise.succeed(1)
      promise.fail(TestError())
    }
    guard reports.count == 1, case .resolvedTwice(let label, let fileID, let line) = reports[0] else {
      Issue.record("\(reports)")
      return
    }
    #expect(label == "diagnosed twice")
    #expect(fileID == "App/Twice.swift" && line == 7)
  }

  @Test("A handler of misuse that makes the mistake itself is called four times, and not without end")
  func recursiveHandler() async {
    await #expect(processExitsWith: .success) {
      let calls = Recorder<Int>()
      let resolveTwice = { @Sendable in
        let promise = Promise<Int, any Error>()
        promise.succeed(1)
        promise.succeed(2)
      }
      FuturesDiagnostics.setHandler { _ in
        calls.record(1)
        resolveTwice()
      }
      resolveTwice()
      #expect(calls.events.count == 4)
      resolveTwice()
      #expect(calls.events.count == 8)
    }
  }

  @Test("R4: an unobserved failure is reported with the place of its promise, or of the call that joined shared work")
  func placeOfUnobservedFailure() {
    typealias Caller = @Sendable (_ work: Future<Int, TestError>, _ line: UInt) -> Void
    let file: StaticString = "App/Unobserved.swift"
    let cache = FutureCache<SingleKey, Int, TestError>("cache")
    let pending = PendingPromises<SingleKey, Int, TestError>("pending")
    let limit = ConcurrencyLimit(1)
    let callers: [Caller] = [
      { work, line in work.forward(to: Promise(nil, fileID: file, line: line)) },
      { work, line in work.forward(to: Promise("named", fileID: file, line: line)) },
      { work, line in for caller in 0..<2 { _ = cache.future(fileID: file, line: line + UInt(caller)) { work } } },
      { work, line in for caller in 0..<2 { _ = pending.shared(fileID: file, line: line + UInt(caller)) { work } } },
      { work, line in for caller in 0..<2 { _ = limit.run(fileID: file, line: line + UInt(caller)) { work } } },
    ]
    let places = Recorder<String>()
    // Other suites run at the same time, in other files.
    FuturesDiagnostics.setHandler { misuse in
      guard case .unobservedFailure(let label, "App/Unobserved.swift", let line, _) = misuse else { return }
      places.record("\(label ?? "none") \(line)")
    }
    defer { FuturesDiagnostics.setHandler(nil) }
    for (index, call) in callers.enumerated() {
      let work = Promise<Int, TestError>()
      call(work.future, UInt(index) * 10)
      work.fail(TestError())
      // Work that has failed before it is asked for.
      call(.failed(TestError()), UInt(index) * 10 + 5)
    }
    let limited = "ConcurrencyLimit.run"
    #expect(
      places.events.sorted() == [
        "\(limited) 40", "\(limited) 41", "\(limited) 45", "\(limited) 46", "cache 20", "cache 21", "cache 25",
        "cache 26", "named 10", "named 15", "none 0", "none 5", "pending 30", "pending 31", "pending 35", "pending 36",
      ]
    )
  }

  @Test("R4: only failures without an observer are reported to a handler")
  func unobservedFailures() {
    typealias Use = @Sendable (Future<Int, TestError>) -> Void
    let uses: [(use: Use, isObserved: Bool)] = [
      ({ _ in }, false),
      ({ _ = $0.isResolved }, false),
      ({ _ = $0.peek() }, true),
      ({ wait(for: $0) }, true),
      ({ $0.whenResolved(on: .immediate) { _ in } }, true),
      ({ _ = $0.map { $0 } }, true),
    ]
    for (use, isObserved) in uses {
      let reports = misuse {
        let promise = Promise<Int, TestError>("diagnosed failure")
        promise.fail(TestError(3))
        use(promise.future)
      }
      #expect(reports.isEmpty == isObserved, "observed: \(isObserved)")
    }
    let reports = misuse {
      let promise = Promise<Int, TestError>("diagnosed failure")
      promise.future.whenFailed(on: .immediate) { _ in }
      promise.fail(TestError())
    }
    #expect(reports.isEmpty)
  }
}

/// Begins to wait, and gives up at once.
private func wait<Value, Failure>(for future: Future<Value, Failure>) {
  _ = future.wait(timeout: .zero)
}

extension FuturesDiagnostics.Misuse {
  var label: String? {
    switch self {
    case .brokenPromise(let broken): broken.label
    case .resolvedTwice(let label, _, _), .unobservedFailure(let label, _, _, _): label
    }
  }
}
