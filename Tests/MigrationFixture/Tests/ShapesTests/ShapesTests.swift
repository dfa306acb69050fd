import Foundation
import Futures
import FuturesAsync
import Shapes
import Testing

/// A function with a callback, and its counterparts.
struct Shape: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let isCancelled: Bool

  /// Calls the function, and passes the arguments of its callback on, as text.
  let callback: @Sendable (Work, @escaping @Sendable (String) -> Void) -> Void
  let async: @Sendable (Work) async throws -> String
  let future: @Sendable (Work) -> Future<String, any Error>

  init<Value: Sendable>(
    _ title: String,
    isCancelled: Bool = false,
    callback: @escaping @Sendable (Work, @escaping @Sendable (String) -> Void) -> Void,
    async: @escaping @Sendable (Work) async throws -> Value,
    future: @escaping @Sendable (Work) -> Future<Value, any Error>
  ) {
    testDescription = title
    self.isCancelled = isCancelled
    self.callback = callback
    self.async = { "\(try await async($0))" }
    self.future = { future($0).map { "\($0)" } }
  }
}

private func text<Value>(_ result: Result<Value, some Error>) -> String {
  switch result {
  case .success(let value): "\(value)"
  case .failure(let error): "\(error)"
  }
}

private func text<Value>(_ value: Value?, _ error: (any Error)?) -> String {
  error.map { "\($0)" } ?? value.map { "\($0)" } ?? "neither"
}

extension Shape {
  /// All functions of which counterparts are written.
  static let all: [Shape] = [
    Shape("Pool.readCount(completion:)") { work, tell in
      Pool(work).readCount { tell(text($0)) }
    } async: {
      try await Pool($0).readCount()
    } future: {
      Pool($0).readCountFuture()
    },
    Shape("Feed.evaluate(_:)") { work, tell in
      Feed(work).evaluate { tell(text($0)) }
    } async: {
      try await Feed($0).evaluate()
    } future: {
      Feed($0).evaluateFuture()
    },
    Shape("Store.count(callbackQueue:completion:)") { work, tell in
      Store(work).count { tell(text($0)) }
    } async: {
      try await Store($0).count()
    } future: {
      Store($0).countFuture()
    },
    Shape("Store.name(completionQueue:completion:)") { work, tell in
      Store(work).name(completionQueue: .global()) { tell(text($0, $1)) }
    } async: {
      try await Store($0).name()
    } future: {
      Store($0).nameFuture()
    },
    Shape("Store.sum(on:completion:)") { work, tell in
      Store(work).sum(on: .global()) { tell(text($0)) }
    } async: {
      try await Store($0).sum(on: .global())
    } future: {
      Store($0).sumFuture(on: .global())
    },
    Shape("Request.response(completionHandler:)", isCancelled: true) { work, tell in
      Request(work).response { tell(text($0)) }
    } async: {
      try await Request($0).response()
    } future: {
      Request($0).responseFuture()
    },
    Shape("Client.send(completion:)", isCancelled: true) { work, tell in
      _ = Client(work).send { tell(text($0)) }
    } async: {
      try await Client($0).send()
    } future: {
      Client($0).sendFuture()
    },
    Shape("Client.sendForScreen(completion:)", isCancelled: true) { work, tell in
      _ = Client(work).sendForScreen { tell(text($0)) }
    } async: {
      try await Client($0).sendForScreen()
    } future: {
      Client($0).sendForScreenFuture()
    },
    Shape("Client.countDown(completion:)", isCancelled: true) { work, tell in
      _ = Client(work).countDown { tell(text($0)) }
    } async: {
      try await Client($0).countDown()
    } future: {
      Client($0).countDownFuture()
    },
    Shape("Service.data(completion:)") { work, tell in
      Service(work).data { tell(text($0.result)) }
    } async: {
      try await Service($0).data()
    } future: {
      Service($0).dataFuture()
    },
    Shape("Service.logIn(completion:)") { work, tell in
      Service(work).logIn { tell("\($0)") }
    } async: {
      try await Service($0).logIn()
    } future: {
      Service($0).logInFuture()
    },
    Shape("Loading.load(completion:)") { work, tell in
      Disk(work).load { tell(text($0)) }
    } async: {
      try await Disk($0).load()
    } future: {
      Disk($0).loadFuture()
    },
    Shape("Settings.reset(completion:)") { work, tell in
      Settings(work).reset { tell(text($0)) }
    } async: {
      try await Settings($0).resetAll()
    } future: {
      Settings($0).resetAllFuture()
    },
  ]

  fileprivate func told(_ ending: Ending) async -> String {
    await withCheckedContinuation { continuation in callback(Work(ending)) { continuation.resume(returning: $0) } }
  }
}

/// How a call ends, as text.
private func ending(of call: () async throws -> String) async -> String {
  do { return try await call() } catch is CancellationError { return "cancelled" } catch is BrokenPromise {
    return "broken"
  } catch { return "\(error)" }
}

@Suite("A counterpart does the same as its callback")
struct ShapesTests {
  @Test("It gives what the callback gets", arguments: Shape.all, [Ending.success, .failure])
  func sameResult(_ shape: Shape, _ end: Ending) async {
    let told = await shape.told(end)
    #expect(await ending { try await shape.async(Work(end)) } == told)
    #expect(await ending { try await shape.future(Work(end)).value } == told)
  }

  @Test("It ends when the callback is dropped", arguments: Shape.all)
  func dropped(_ shape: Shape) async {
    #expect(await ending { try await shape.async(Work(.drop)) } == "broken")
    #expect(await ending { try await shape.future(Work(.drop)).value } == "broken")
  }

  @Test("It is cancelled, and cancels the work if the callback's caller can", arguments: Shape.all)
  func cancelled(_ shape: Shape) async throws {
    let work = Work(.never)
    let task = Task { await ending { try await shape.async(work) } }
    while !work.isStarted { await Task.yield() }
    task.cancel()
    #expect(await task.value == "cancelled")
    let future = shape.future(work)
    future.cancel()
    #expect(await ending { try await future.value(onCancel: .ignore) } == "cancelled")
    if shape.isCancelled { while work.cancelCount < 2 { await Task.yield() } }
    #expect(work.cancelCount == (shape.isCancelled ? 2 : 0))
    work.release()
  }

  @Test("The counterpart of `typed(completion:)` throws its callback's type, whatever happens")
  @MainActor
  func typedErrors() async {
    func error(_ end: Ending) async -> APIError? {
      do throws(APIError) {
        _ = try await Service(Work(end)).typed()
        return nil
      } catch {
        MainActor.preconditionIsolated()
        return error
      }
    }
    #expect(await error(.success) == nil)
    #expect(await error(.failure) == .offline)
    #expect(await error(.drop) == .other("BrokenPromise"))
    let work = Work(.never)
    let task = Task { () async -> APIError? in
      do throws(APIError) {
        _ = try await Service(work).typed()
        return nil
      } catch { return error }
    }
    while !work.isStarted { await Task.yield() }
    task.cancel()
    #expect(await task.value == .other("CancellationError"))
    work.release()
  }

  @Test("The future of a typed callback fails with its errors")
  func typedFuture() async {
    #expect(await ending { "\(try await Service(Work(.failure)).typedFuture().value)" } == "offline")
  }

  @Test("The counterpart of `save(completion:)`, whose callback callers can leave out, has another name or is a future")
  func leftOut() async throws {
    // The compiler does not warn of an unused result.
    _ = Settings(Work(.success)).saveFuture()
    try await Settings(Work(.success)).saveFuture().value
    try await Settings(Work(.success)).saveAsync()
    Settings(Work(.success)).save()
  }
}
