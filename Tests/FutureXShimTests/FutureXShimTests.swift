import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

/// The requirements of FutureX's own tests for the parts that the shim covers.
@Suite("FutureX shim")
struct FutureXShimTests {
  private typealias F = Future<Int, TestError>

  // MARK: - Promises

  @Test("The first result stays, and later results are ignored")
  func firstResultStays() {
    let (succeeded, failed) = (F.Promise(), F.Promise())
    for number in 1...2 { succeeded.succeed(value: number) }
    succeeded.fail(error: TestError(1))
    for number in 1...2 { failed.fail(error: TestError(number)) }
    failed.resolve(result: .success(1))
    #expect(succeeded.future.result == .success(1))
    #expect(failed.future.result == .failure(TestError(1)))
  }

  @Test("isCancelling tells whether the source was cancelled")
  func isCancelling() {
    let source = CancellationTokenSource()
    #expect(!source.isCancelling && !source.token.isCancelling)
    source.cancel()
    #expect(source.isCancelling && source.token.isCancelling)
  }

  @Test("A pending future has no value, error or result; a resolved future has them; a value alone cannot fail")
  func looks() {
    let promise = F.Promise()
    let result: F.Result = .success(1)
    let future = promise.future
    #expect(future.value == nil && future.error == nil && future.result == nil)
    promise.resolve(result: result)
    #expect(future.value == 1 && future.error == nil && future.result == .success(1))
    let optional = Promise<Int?, TestError>()
    #expect(optional.future.value == nil)
    optional.succeed(value: nil)
    #expect(optional.future.value == .some(nil))
    #expect(type(of: Future(value: 1)) == Future<Int, Never>.self && Future(value: 1).value == 1)
    #expect(F(error: TestError(2)).error == TestError(2) && F(error: TestError(2)).value == nil)
    #expect(F(result: .failure(TestError(3))).error == TestError(3))
  }

  @Test("A throwing closure runs at once, and its value or error becomes the result of the future")
  func catching() {
    let parsed = Future<Int, any Error> { throw TestError(1) }
    #expect(parsed.error as? TestError == TestError(1))
    let number = Future { try [3].first ?? { throw TestError(2) }() }
    #expect(number.value == 3)
  }

  // MARK: - Callbacks

  @Test("on: each matching callback runs once, in order of attachment, before completion")
  @MainActor
  func callbacks() {
    let promise = Promise<Int, TestError>()
    var events: [String] = []
    promise.future.on(
      success: { events.append("success \($0)") },
      failure: { events.append("failure \($0.number)") },
      completion: { events.append("completion") }
    )
    promise.future.on(completion: { events.append("only completion") })
    promise.future.on { events.append("trailing \($0)") }
    #expect(events.isEmpty)
    promise.succeed(value: 1)
    promise.succeed(value: 2)
    promise.future.on(success: { events.append("late \($0)") }, completion: { events.append("late completion") })
    #expect(events == ["success 1", "completion", "only completion", "trailing 1", "late 1", "late completion"])

    events = []
    F(error: TestError(1)).on(success: { _ in events.append("success") }, failure: { events.append("\($0.number)") })
    F(error: TestError(2)).on(failure: { events.append("\($0.number)") }, completion: { events.append("completion") })
    #expect(events == ["1", "2", "completion"])
  }

  @Test("on: a trailing closure gets only the success, also for Void values and futures that cannot fail")
  @MainActor
  func trailingClosures() {
    var events: [String] = []
    Future<Void, TestError>(value: ()).on { events.append("void") }
    Future<Void, TestError>(error: TestError(1)).on { events.append("failed") }
    Future<Void, TestError>(error: TestError(1)).observe(on: Scheduler.immediate).on { Issue.record("must not run") }
    Future<Void, Never>(value: ()).on { events.append("never") }
    Future(value: 3).on { events.append("\($0)") }
    F(error: TestError(1)).materialize().on { events.append("\($0 == .failure(TestError(1)))") }
    #expect(events == ["void", "never", "3", "true"])
  }

  @Test("on: a callback runs at once if the main thread attaches it or resolves its future")
  @MainActor
  func immediatelyOnMain() {
    var events: [String] = []
    F(value: 1).on(success: { _ in events.append("attached") })
    let promise = Promise<Int, TestError>()
    promise.future.map { $0 + 1 }.on(success: { _ in events.append("resolved") })
    promise.succeed(value: 1)
    #expect(events == ["attached", "resolved"])
    // The methods of a promise as callbacks.
    let (source, target) = (F.Promise(), F.Promise())
    source.future.on(success: target.succeed, failure: target.fail)
    source.succeed(value: 1)
    #expect(target.future.value == 1)
  }

  @Test("on: from another thread, success and completion run on the main queue in one go")
  func asynchronouslyFromElsewhere() async {
    let checkpoints = Checkpoints()
    startThread {
      F(value: 1).on(
        success: { _ in
          dispatchPrecondition(condition: .onQueue(.main))
          DispatchQueue.main.async { checkpoints.pass("next") }
          checkpoints.pass("success")
        },
        completion: {
          MainActor.preconditionIsolated()
          checkpoints.pass("completion")
        }
      )
    }
    await checkpoints.passing("next").outcome()
    #expect(checkpoints.passed == ["success", "completion", "next"])
  }

  // MARK: - Schedulers

  @Test("observe(on:) moves the callbacks of the future that it returns, and no other callbacks")
  func observeOnQueue() async {
    let (queue, checkpoints) = (DispatchQueue(label: "observing"), Checkpoints())
    let future = F(value: 1)
    queue.suspend()
    future.observe(on: queue).on(
      success: { _ in
        dispatchPrecondition(condition: .onQueue(queue))
        checkpoints.pass("queue")
      },
      completion: { checkpoints.pass("queue completion") }
    )
    future.observe(on: Scheduler.async(on: queue)).on { _ in checkpoints.pass("scheduler") }
    future.on { _ in
      MainActor.preconditionIsolated()
      checkpoints.pass("main")
    }
    await checkpoints.passing("main").outcome()
    #expect(checkpoints.passed == ["main"])
    queue.resume()
    await checkpoints.passing("scheduler").outcome()
    #expect(checkpoints.passed == ["main", "queue", "queue completion", "scheduler"])
  }

  @Test("observe(on: Scheduler) runs callbacks at once: on main for `main`, on any thread for `immediate`")
  @MainActor
  func observeAtOnce() async {
    let (recorder, checkpoints) = (Recorder<String>(), Checkpoints())
    F(value: 1).observe(on: Scheduler.main).on { _ in recorder.record("main") }
    #expect(recorder.events == ["main"])
    startThread {
      F(value: 1).observe(on: Scheduler.immediate)
        .on(success: { _ in recorder.record("success") }, completion: { recorder.record("completion") })
      F(error: TestError(1)).observe(on: Scheduler.immediate).on(failure: { _ in recorder.record("failure") })
      recorder.record("returned")
      F(value: 1).observe(on: Scheduler.main).on { _ in
        MainActor.preconditionIsolated()
        checkpoints.pass("main")
      }
    }
    await checkpoints.passing("main").outcome()
    #expect(recorder.events == ["main", "success", "completion", "failure", "returned"])
  }

  @Test("observe(on:) moves the next map or tryMap, for resolved and pending futures")
  func observeTransforms() async {
    let (manual, promise) = (ManualContext(), Promise<Int, any Error>())
    let observed = [Future(value: 1), promise.future].map { $0.observe(on: manual.context) }
    promise.succeed(value: 2)
    let results = observed.map { $0.map { $0 + 1 } } + observed.map { $0.tryMap { $0 + 1 } }
    let failed = observed[0].tryMap { _ -> Int in throw TestError(1) }
    #expect(results.map(\.value) == [nil, nil, nil, nil] && failed.result == nil)
    manual.runAll()
    #expect(results.map(\.value) == [2, 3, 2, 3] && failed.error as? TestError == TestError(1))
    #expect(await F(value: 4).observe(on: .global()).map { $0 }.outcome() == .success(4))
  }

  // MARK: - Transforms

  @Test("map, tryMap, flatMap, mapError and flatMapError run at once on the thread that resolves the future")
  func transforms() {
    let promise = Promise<Int, TestError>()
    let mapped = promise.future.map { $0 + 1 }
    let flat = promise.future.flatMap { F(value: $0 + 2) }
    let never = promise.future.flatMap { value in Future<Int, Never>(value: value + 3) }
    promise.succeed(value: 1)
    #expect([mapped, flat, never].map(\.value) == [2, 3, 4])
    #expect(Future(value: 1).flatMap { value in F(value: value + 1) }.value == 2)
    #expect(Future(value: 1).flatMap { Future(value: $0 + 1) }.value == 2)

    let failed = F(error: TestError(1))
    #expect(failed.mapError { TestError($0.number + 1) }.error == TestError(2))
    #expect(failed.flatMapError { F(error: TestError($0.number + 2)) }.error == TestError(3))
    #expect(failed.flatMapError { _ in F(value: 3) }.value == 3)
    let recovered: Future<Int, Never> = failed.flatMapError { _ in Future(value: 1) }
    #expect(recovered.value == 1)

    let future = Future<Int, any Error>(value: 1)
    #expect(future.tryMap { $0 + 1 }.value == 2)
    #expect(future.tryMap { _ -> Int in throw TestError(1) }.error as? TestError == TestError(1))
    #expect(Future<Int, any Error>(error: TestError(2)).tryMap { $0 }.error as? TestError == TestError(2))
  }

  @Test("castError infers its type from its argument or the context; asVoid and materialize keep the outcome")
  func casts() {
    let cast: F = Future(value: 1).castError()
    #expect(cast.value == 1 && Future(value: 2).castError(TestError.self).value == 2)
    #expect(F(value: 1).asVoid().value != nil && F(error: TestError(1)).asVoid().error == TestError(1))
    #expect(F(value: 1).materialize().value == .success(1))
    #expect(F(error: TestError(1)).materialize().value == .failure(TestError(1)))
  }

  // MARK: - Several futures

  @Test("zip and reduce succeed when all inputs have succeeded, in any order, and keep the order of the inputs")
  func gathering() {
    let (first, second, third) = (Promise<Int, TestError>(), Promise<String, TestError>(), Promise<Bool, TestError>())
    let two = Future.zip(first.future, second.future)
    let three = Future.zip(first.future, second.future, third.future)
    third.succeed(value: true)
    second.succeed(value: "b")
    #expect(two.result == nil && three.result == nil)
    first.succeed(value: 1)
    #expect(two.value.map { $0 == (1, "b") } == true)
    #expect(three.value.map { $0 == (1, "b", true) } == true)

    let promises = (0..<3).map { _ in Promise<Int, TestError>() }
    let zipped = Future.zip(promises.map(\.future))
    let reduced = Future.reduce("", promises.map(\.future)) { $0 + "\($1)" }
    for index in [2, 0, 1] { promises[index].succeed(value: index) }
    #expect(zipped.value == [0, 1, 2] && reduced.value == "012")
    #expect(Future.zip([F]()).value == [] && Future.reduce(1, [F](), +).value == 1)
  }

  @Test("zip, reduce and first fail at once with one input, and never cancel another, as in FutureX", arguments: 0..<3)
  func failFast(index: Int) {
    typealias AnyFuture = Future<Int, any Error>
    let next = (index + 1) % 3
    let joins: [([AnyFuture]) -> Future<Void, any Error>] = [
      { Future.zip($0[index], $0[next]).asVoid() }, { Future.zip($0[next], $0[index]).asVoid() },
      { Future.zip($0[0], $0[1], $0[2]).asVoid() }, { Future.zip($0).asVoid() },
      { Future.reduce(0, $0, +).asVoid() }, { Future.first($0).asVoid() },
    ]
    for (number, join) in joins.enumerated() {
      let (promises, cancelled) = ((0..<3).map { _ in Promise<Int, any Error>() }, Recorder<Int>())
      for (index, promise) in promises.enumerated() { promise.onCancel { cancelled.record(index) } }
      let joined = join(promises.map(\.future))
      promises[index].fail(error: TestError(index))
      #expect(joined.error as? TestError == TestError(index), "join \(number)")
      for promise in promises { promise.succeed(value: 1) }
      #expect(cancelled.events.isEmpty, "join \(number)")
      #expect(promises.map(\.future.value) == (0..<3).map { $0 == index ? nil : 1 }, "join \(number)")
    }
  }

  @Test("first takes the first input that resolves or is resolved, and never resolves without inputs")
  func first() {
    let promises = (0..<2).map { _ in Promise<Int, TestError>() }
    let race = Future.first(promises[0].future, promises[1].future)
    promises[1].succeed(value: 1)
    promises[0].succeed(value: 0)
    #expect(race.value == 1)
    #expect(Future.first(F(value: 1)).value == 1 && Future.first(F(value: 1), F(value: 2)).value == 1)
    #expect(F.first([]).result == nil)
  }

  @Test("forEach starts each future after the previous success, passes it on at once, and ends with a failure")
  func forEach() {
    let promises = (0..<3).map { _ in Promise<Int, TestError>() }
    let recorder = Recorder<String>()
    let starts = promises.enumerated().map { index, promise in
      { @Sendable () -> F in
        recorder.record("start \(index)")
        return promise.future
      }
    }
    let all = Future.forEach(starts) { future in
      recorder.record("given")
      future.observe(on: Scheduler.immediate).on(success: { recorder.record("value \($0)") })
    }
    #expect(recorder.events == ["start 0", "given"])
    promises[0].succeed(value: 7)
    #expect(recorder.events == ["start 0", "given", "value 7", "start 1", "given"])
    promises[1].fail(error: TestError(1))
    #expect(recorder.events.count == 5 && all.error == TestError(1))
    #expect(Future.forEach([one, one]) { _ in }.value != nil)
    // Closures that are not Sendable.
    var (started, given) = (0, 0)
    let plain: [() -> F] = [
      {
        started += 1
        return F(value: 1)
      }
    ]
    #expect(F.forEach(plain) { _ in given += 1 }.value != nil)
    #expect(started == 1 && given == 1)
  }

  // MARK: - Time, and blocking

  @Test("retry makes the given number of attempts, each after its delay, and fails with the error of the last one")
  func retryDelay() {
    let (manual, recorder) = (ManualContext(), Recorder<Int>())
    let failing = Future.retry(attempts: 3, delay: .seconds(1.5), on: manual.context) { () -> F in
      recorder.record(1)
      return F(error: TestError(recorder.events.count))
    }
    for (milliseconds, count) in [(0, 1), (1_499, 1), (1, 2), (1_499, 2), (1, 3)] {
      manual.advance(by: .milliseconds(milliseconds))
      #expect(recorder.events.count == count, "attempt \(count)")
    }
    #expect(failing.error == TestError(3))
  }

  @Test("after succeeds on the given queue, and its callbacks run on main")
  func after() async {
    let (queue, checkpoints) = (DispatchQueue(label: "timer"), Checkpoints())
    queue.suspend()  // until the transform is attached, which would otherwise run here
    let timer = Future.after(seconds: 0.001, on: queue)
    _ = timer.map { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      checkpoints.pass("queue")
    }
    queue.resume()
    await checkpoints.passing("queue").outcome()
    Future.after(.milliseconds(1)).on {
      MainActor.preconditionIsolated()
      checkpoints.pass("main")
    }
    await checkpoints.passing("main").outcome()
  }

  @Test("wait returns the result that another thread sends, without using the main queue")
  func wait() async {
    let promises = (Promise<Int, TestError>(), Promise<Int, TestError>())
    let (mapped, recovered) = (
      promises.0.future.mapError { _ in TestError(2) }, promises.1.future.flatMapError { _ in F(value: 3) }
    )
    startThread {
      promises.0.fail(error: TestError(1))
      promises.1.fail(error: TestError(1))
    }
    let (recorder, checkpoints) = (Recorder<Result<Int, TestError>>(), Checkpoints())
    startThread {
      recorder.record(mapped.wait())
      recorder.record(recovered.wait())
      checkpoints.pass("waited")
    }
    await checkpoints.passing("waited").outcome()
    #expect(recorder.events == [.failure(TestError(2)), .success(3)])
  }

  // MARK: - Old code

  @Test("Code written for FutureX runs as before")
  @MainActor
  func oldCode() async throws {
    let backend = Backend(names: [1: "Ada", 2: "Grace", 3: "Alan"])
    let screen = UserScreen()
    let user = Promise<User, LoadError>()
    screen.show(user.future)
    #expect(screen.isLoading && screen.title == "")
    user.succeed(value: User(id: 1, name: "Ada"))
    #expect(!screen.isLoading && screen.title == "Ada")
    let both = screen.showBoth(backend)
    _ = await both.outcome()
    await withCheckedContinuation { done in both.on(completion: { done.resume() }) }
    #expect(screen.title == "AdaGrace")
    screen.show(backend.cachedUser(9))
    #expect(screen.title == "notFound(9)")

    let ada = User(id: 1, name: "Ada")
    #expect(try await backend.friends(of: ada).outcome().get().map(\.name) == ["Grace", "Alan"])
    #expect(await backend.anybody().outcome() == .success(ada))
    #expect(await backend.nameLengths().outcome() == .success(8))
    #expect(await Backend(names: [:]).anybody().outcome().get().name == "nobody")
    #expect(await backend.stubborn(7).outcome() == .failure(.notFound(7)))
    #expect(backend.evenPort("80").value == 80 && backend.evenPort("x").error as? LoadError == .noNetwork)
    #expect(backend.evenPort("81").error as? LoadError == .notFound(81))
    let length = parseInBackground(backend.wrapped(2), on: DispatchQueue(label: "parser"))
    #expect(await length.outcome() == .success(5))
    #expect(firstAnswer([.never, backend.cachedUser(3)]).value == "Alan")
  }
}

private func one() -> Future<Int, TestError> { Future(value: 1) }
