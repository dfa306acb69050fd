import Futures
import FuturesTesting
import TestSupport
import Testing

// The tests run in separate processes: the handler is process-wide, and other tests drop promises too.

/// A future that cannot fail with `BrokenPromise`.
private typealias Source = Future<Int, TestError>

/// Returns the labels of the broken promises that are reported while `body` runs.
private func reports(during body: () -> Void) -> [String] {
  let log = Recorder<String>()
  FuturesDiagnostics.setHandler { misuse in
    if case .brokenPromise(let broken) = misuse { log.record(broken.label ?? "no label") } else { log.record("other") }
  }
  defer { FuturesDiagnostics.setHandler(nil) }
  body()
  return log.events
}

/// Uses the future of a promise, and drops the promise.
private func withBroken(_ label: String, _ use: (Source) -> Void) { withBroken(label, TestError.self, use) }

private func withBroken<Failure: Error>(_ label: String, _: Failure.Type, _ use: (Future<Int, Failure>) -> Void) {
  let promise = Promise<Int, Failure>(label)
  use(promise.future)
  withExtendedLifetime(promise) {}
}

/// A future whose promise was dropped.
private func broken(_ label: String) -> Source { Promise(label).future }

struct BrokenPromiseReportTests {
  /// A way to wait for a future by a callback.
  private struct Consumer: Sendable {
    let name: String
    let attach: @Sendable (Source) -> Void

    init(_ name: String, _ attach: @escaping @Sendable (Source) -> Void) {
      self.name = name
      self.attach = attach
    }

    init<Value, Failure>(behind name: String, _ derive: @escaping @Sendable (Source) -> Future<Value, Failure>) {
      self.init(name) { source in derive(source).whenResolved(on: .immediate) { _ in Issue.record("A callback ran.") } }
    }
  }

  private static let consumers: [Consumer] = [
    Consumer("whenResolved") { $0.whenResolved(on: .immediate) { _ in } },
    Consumer("whenResolved on the main actor") { $0.whenResolved(on: .main) { _ in } },
    Consumer("whenResolved on a context") { $0.whenResolved(on: HeldContext().context) { _ in } },
    Consumer("whenSucceeded") { $0.whenSucceeded(on: .global()) { _ in } },
    Consumer("whenFailed") { $0.whenFailed(on: .immediate) { _ in } },
    Consumer("forward to a completion handler") { $0.forward { _ in } },
    Consumer(behind: "nothing") { $0 },
    Consumer(behind: "map") { $0.map { $0 } },
    Consumer(behind: "map on a context") { $0.map(on: .global()) { $0 } },
    Consumer(behind: "flatMap") { $0.flatMap { .succeeded($0) } },
    Consumer(behind: "the future that flatMap returns") { source in Source.succeeded(1).flatMap { _ in source } },
    Consumer(behind: "mapError") { $0.mapError { _ in TestError(1) } },
    Consumer(behind: "flatMapError") { $0.flatMapError { _ in Source.succeeded(1) } },
    Consumer(behind: "recover") { $0.recover { _ in 1 } },
    Consumer(behind: "tap") { $0.tap(on: .immediate) { _ in } },
    Consumer(behind: "receive") { $0.receive(on: .main) },
    Consumer(behind: "delay") { $0.delay(by: .seconds(1)) },
    Consumer(behind: "materialize") { $0.materialize() },
    Consumer(behind: "ignoreValue") { $0.ignoreValue() },
    Consumer(behind: "shielded") { $0.shielded },
    Consumer(behind: "cancelled(by:)") { $0.cancelled(by: CancellationTokenSource().token) },
    Consumer(behind: "zip") { Future.zip($0, Source.succeeded(1)).map { $0.0 } },
    Consumer(behind: "all") { Source.all([.succeeded(1), $0]) },
    Consumer(behind: "all with never") { Source.all([.never, $0]) },
    Consumer(behind: "allSettled") { Source.allSettled([$0, .succeeded(1)]) },
    Consumer(behind: "race") { Source.race([$0, $0, .never]) },
    Consumer(behind: "firstSuccess") { Source.firstSuccess([$0, .failed(TestError(1))]) },
    Consumer(behind: "reduce") { Source.reduce(0, [$0], +) },
    Consumer(behind: "serial") { source in Source.serial([1, 2]) { $0 == 1 ? source : .succeeded($0) } },
    Consumer(behind: "concurrent") { source in Source.concurrent([1, 2], limit: 2) { _ in source } },
    Consumer(behind: "retry") { source in Source.retry(attempts: 2) { source } },
    Consumer(behind: "a promise that follows") { source in Future { $0.follow(source) } },
    Consumer(behind: "shared work") { source in
      let shared = PendingPromises<Int, Int, TestError>("shared")
      let caller = shared.future(sharing: 1) { source }
      // Keeps `shared` until the work has ended, as an owner would do.
      caller.whenResolved(on: .immediate) { _ in withExtendedLifetime(shared) {} }
      return caller
    },
    Consumer(behind: "many stages") { $0.map { $0 }.shielded.flatMap { .succeeded($0) }.recover { _ in 1 }.map { $0 } },
  ]

  @Test(
    "R4: a callback that attaches before or after the drop of a promise causes a report, also behind derived futures"
  )
  func eachConsumer() async {
    await #expect(processExitsWith: .success) {
      for consumer in Self.consumers {
        #expect(reports { withBroken("dropped", consumer.attach) } == ["dropped"], "before, \(consumer.name)")
        guard consumer.name != "shared work" else { continue }
        let future = broken("dropped")
        #expect(reports { consumer.attach(future) } == ["dropped"], "after, \(consumer.name)")
      }
    }
  }

  /// Uses of a promise's future after which dropping the promise causes no report.
  private static let excused: [(String, @Sendable (Source) -> Void)] = [
    ("nothing", { _ in }),
    ("a look", { _ = ($0.peek(), $0.isResolved, $0.currentProgress) }),
    ("a removed callback", { $0.whenResolved(on: .immediate) { _ in }.remove() }),
    ("a removed callback on a context", { $0.whenResolved(on: .main) { _ in }.remove() }),
    ("a removed callback behind map", { $0.map { $0 }.whenResolved(on: .immediate) { _ in }.remove() }),
    ("a wait that has timed out", { _ = $0.wait(timeout: .zero) }),
    ("a stage", { _ = $0.map { $0 } }),
    ("a tap", { _ = $0.tap(on: .immediate) { _ in } }),
    ("a join", { _ = Future.all([$0, .succeeded(1)]) }),
    ("a listener to the progress", { $0.whenProgressed(on: .immediate) { _ in } }),
    ("a failure that can hold the error", { $0.eraseFailure().whenResolved(on: .immediate) { _ in } }),
    (
      "a callback of a future that was cancelled",
      {
        $0.whenResolved(on: .immediate) { _ in }
        $0.cancel()
        $0.map { $0 }.whenResolved(on: .immediate) { _ in }
      }
    ),
    (
      "a callback of a stage that was cancelled",
      { source in
        let stage = source.map { $0 }
        stage.whenResolved(on: .immediate) { _ in }
        stage.map { $0 }.whenResolved(on: .immediate) { _ in }
        let other = source.whenResolved(on: .immediate) { _ in }
        stage.cancel()
        other.remove()
      }
    ),
    (
      "a callback of a shielded view that was cancelled",
      { source in
        let view = source.shielded
        view.whenResolved(on: .immediate) { _ in }
        view.cancel()
      }
    ),
    (
      "a callback of a join that was cancelled",
      { source in
        let all = Future.all([source, .succeeded(1)])
        all.whenResolved(on: .immediate) { _ in }
        all.cancel()
      }
    ),
    (
      "a callback of a future that was cancelled by a token",
      { source in
        let token = CancellationTokenSource()
        source.cancelled(by: token.token).whenResolved(on: .immediate) { _ in }
        token.cancel()
      }
    ),
    (
      "a callback of a timeout that was cancelled",
      { source in
        let manual = ManualContext()
        let timeout = source.timeout(after: .seconds(1), on: manual.context, failingWith: TestError())
        timeout.whenResolved(on: .immediate) { _ in }
        timeout.cancel()
        manual.advance(by: .seconds(1))
      }
    ),
    (
      "a callback of a timeout that is over",
      { source in
        let manual = ManualContext()
        source.timeout(after: .seconds(1), on: manual.context, failingWith: TestError())
          .whenResolved(on: .immediate) { _ in }
        manual.advance(by: .seconds(1))
      }
    ),
  ]

  /// Programs, with the labels of the broken promises that they report.
  private static let programs: [(name: String, labels: [String], run: @Sendable () -> Void)] =
    [
      (
        "one report for all consumers that wait at the drop, another for each later one", ["first", "first", "first"],
        {
          let kept = Recorder<Source>()
          withBroken("first") { future in
            kept.record(future)
            for _ in 0..<3 { future.whenResolved(on: .immediate) { _ in } }
            future.map { $0 }.whenResolved(on: .immediate) { _ in }
            Future.all([future, future]).whenResolved(on: .immediate) { _ in }
          }
          _ = kept.events[0].map { $0 }
          kept.events[0].whenResolved(on: .immediate) { _ in }
          kept.events[0].map { $0 }.whenResolved(on: .immediate) { _ in }
        }
      ),
      (
        "a join of two mistakes, one at a time, with one cancelled, and with `never`", ["b", "a"],
        {
          for cancelled in 0..<2 {
            let promises = [Promise<Int, TestError>("a"), Promise<Int, TestError>("b")]
            promises[cancelled].future.cancel()
            Future.all([.never] + promises.map(\.future)).whenResolved(on: .immediate) { _ in }
            withExtendedLifetime(promises) {}
          }
        }
      ),
      (
        "timeouts, before and after the drop, which still end", ["dropped", "dropped"],
        {
          let manual = ManualContext()
          let timedOut = Recorder<Source>()
          let addTimeout = { (source: Source) in
            let future = source.map { $0 }.timeout(after: .seconds(1), on: manual.context, failingWith: TestError(7))
            future.whenResolved(on: .immediate) { _ in }
            timedOut.record(future)
          }
          addTimeout(broken("dropped"))
          withBroken("dropped", addTimeout)
          manual.advance(by: .seconds(1))
          let seven = Result<Int, TestError>.failure(TestError(7))
          #expect(timedOut.events.map { $0.peek() } == [seven, seven])
        }
      ),
      (
        "work that its context drops", ["user's"],
        {
          let held = HeldContext()
          let promise = Promise<Int, TestError>("user's")
          promise.future.map(on: held.context) { $0 }.whenResolved(on: .immediate) { _ in }
          promise.succeed(1)
          held.dropAll()
        }
      ),
      (
        "a later callback of cancelled work", [],
        {
          let promise = Recorder<Source>()
          withBroken("cancelled") { future in
            promise.record(future)
            future.cancel()
          }
          promise.events[0].map { $0 }.whenResolved(on: .immediate) { _ in }
        }
      ),
      (
        "never, a resolved promise and a failure with BrokenPromise", [],
        {
          Source.never.whenResolved(on: .immediate) { _ in }
          Source.never.map { $0 }.shielded.whenResolved(on: .immediate) { _ in }
          Future.all([Source.never, .succeeded(1)]).whenResolved(on: .immediate) { _ in }
          withBroken("any Error", (any Error).self) { $0.whenResolved(on: .immediate) { _ in } }
          withBroken("BrokenPromise", BrokenPromise.self) { $0.whenResolved(on: .immediate) { _ in } }
          let promise = Promise<Int, TestError>("follows never")
          promise.future.whenResolved(on: .immediate) { _ in }
          promise.follow(.never)
          _ = Source.lazy { _ in }.shielded
          let resolved = Promise<Int, TestError>("resolved")
          resolved.future.whenResolved(on: .immediate) { _ in }
          resolved.succeed(1)
        }
      ),
    ]

  @Test("R2b, R4: each mistake causes a report for its consumers; a removed, cancelled or resolved one causes none")
  func eachProgram() async {
    await #expect(processExitsWith: .success) {
      for (name, use) in Self.excused { #expect(reports { withBroken("dropped", use) } == [], "\(name)") }
      for (name, labels, run) in Self.programs { #expect(reports(during: run) == labels, "\(name)") }
    }
  }

  @Test("R3, R4: the handler runs outside all locks, and can use the reported future")
  func handlerUsesTheFuture() async {
    await #expect(processExitsWith: .success) {
      let promise = Recorder<Source>()
      let count = Recorder<Int>()
      FuturesDiagnostics.setHandler { _ in
        count.record(1)
        guard count.events.count < 3 else { return }
        for future in promise.events {
          future.map { $0 }.whenResolved(on: .immediate) { _ in }
          future.cancel()
        }
      }
      withBroken("used") { future in
        promise.record(future)
        future.whenResolved(on: .immediate) { _ in }
      }
      #expect(count.events.count == 3)
      FuturesDiagnostics.setHandler(nil)
    }
  }

  @Test("R3: an old handler is released outside the lock")
  func oldHandlerIsReleasedOutsideTheLock() async {
    await #expect(processExitsWith: .success) {
      final class SettingHandler: Sendable {
        deinit { FuturesDiagnostics.setHandler(nil) }
      }
      FuturesDiagnostics.setHandler { [object = SettingHandler()] _ in withExtendedLifetime(object) {} }
      FuturesDiagnostics.setHandler(nil)
    }
  }

  @Test("R4: without a handler, a debug build traps, except for a promise that the test kit records")
  func defaultHandler() async {
    #if DEBUG
      await #expect(processExitsWith: .failure) {
        withBroken("trap") { $0.whenResolved(on: .immediate) { _ in } }
      }
      await #expect(processExitsWith: .failure) {
        broken("trap").map { $0 }.whenResolved(on: .immediate) { _ in }
      }
    #endif
    await #expect(processExitsWith: .success) {
      let recorded = brokenPromises(madeIn: #fileID) {
        withBroken("no trap") { $0.whenResolved(on: .immediate) { _ in } }
      }
      #expect(recorded.map(\.label) == ["no trap"])
    }
  }
}
