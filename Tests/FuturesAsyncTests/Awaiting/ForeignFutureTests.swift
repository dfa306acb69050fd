internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// Stand-ins with the shape of other libraries' futures, and the bridges that turn them into ours.

// MARK: - SwiftNIO

/// An event loop whose jobs run when the test calls `run()`.
private final class EventLoop: Sendable {
  private let jobs = Locked<[@Sendable () -> Void]>([])

  func execute(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }

  func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { job() }
  }
}

/// A future with one result that calls back on its event loop; its failure type is always `any Error`.
private final class EventLoopFuture<Value>: @unchecked Sendable {
  // @unchecked: the variables are protected by the locks.
  private let loop: EventLoop
  private let result = Locked<Result<Value, any Error>?>(nil)
  private let callbacks = Locked<[@Sendable (Result<Value, any Error>) -> Void]>([])

  init(on loop: EventLoop) { self.loop = loop }

  func whenComplete(_ callback: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    callbacks.withLock { $0.append(callback) }
    loop.execute { self.callBack() }
  }

  func complete(_ result: Result<Value, any Error>) {
    self.result.withLock { $0 = result }
    loop.execute { self.callBack() }
  }

  private func callBack() {
    guard let result = result.withLock({ $0 }) else { return }
    let callbacks = callbacks.withLock { callbacks in
      defer { callbacks = [] }
      return callbacks
    }
    for callback in callbacks { callback(result) }
  }
}

// A wrapper: the compiler does not allow `EventLoopFuture` itself to conform `where Value: Sendable`.
// bridge
private struct Bridged<Value: Sendable>: FutureProtocol {
  let foreign: EventLoopFuture<Value>

  func forward(to completion: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    foreign.whenComplete(completion)
  }
}
// end of bridge

@Suite("R12: a future with the shape of SwiftNIO's")
struct EventLoopFutureTests {
  @Test(
    "R12: success and failure of an event loop future arrive on the loop, before or after the conversion",
    arguments: [true, false]
  )
  func resultsArriveOnEventLoop(isEarly: Bool) throws {
    for result in [Result<Int, any Error>.success(1), .failure(TestError(2))] {
      let loop = EventLoop()
      let foreign = EventLoopFuture<Int>(on: loop)
      if isEarly { foreign.complete(result) }
      let future = Future(Bridged(foreign: foreign))
      if !isEarly { foreign.complete(result) }
      #expect(!future.isResolved, "\(result)")
      loop.run()
      switch result {
      case .success(let value): #expect(try #require(future.peek()).get() == value, "\(result)")
      case .failure: #expect(throws: TestError(2), "\(result)") { try future.peek()?.get() }
      }
    }
  }

  @Test("An event loop future can be awaited and combined with other futures")
  func eventLoopFutureCanBeAwaited() async throws {
    let loop = EventLoop()
    let foreign = EventLoopFuture<Int>(on: loop)
    let task = Task.immediate { try await Future.zip(Future(Bridged(foreign: foreign)), Future.succeeded("a")).value }
    foreign.complete(.success(1))
    loop.run()
    #expect(try await task.value == (1, "a"))
  }

  @Test("R4: an event loop future that is dropped without a result is a broken promise")
  func droppedEventLoopFutureBreaks() {
    let loop = EventLoop()
    var foreign: EventLoopFuture<Int>? = EventLoopFuture(on: loop)
    let future = Future(Bridged(foreign: foreign!))
    loop.run()
    #expect(!future.isResolved)
    foreign = nil
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
  }

  @Test("R15, R17: a cancelled event loop future ends at once, and its later result is dropped")
  func cancelledEventLoopFutureEndsAtOnce() {
    let loop = EventLoop()
    let foreign = EventLoopFuture<Tracked>(on: loop)
    let future = Future(Bridged(foreign: foreign))
    future.cancel()
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
    foreign.complete(.success(Tracked()))
    loop.run()
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
  }
}

// MARK: - PromiseKit

private enum PromiseKit {
  /// A promise with one result; neither it nor its closures are `Sendable`.
  final class Promise<T> {
    private var result: Result<T, any Error>?
    private var handlers: [(Result<T, any Error>) -> Void] = []

    func pipe(to handler: @escaping (Result<T, any Error>) -> Void) {
      if let result { handler(result) } else { handlers.append(handler) }
    }

    @discardableResult
    func done(_ body: @escaping (T) -> Void) -> Promise<Void> {
      let next = Promise<Void>()
      pipe { result in
        if case .success(let value) = result { body(value) }
        next.seal(result.map { _ in })
      }
      return next
    }

    func `catch`(_ body: @escaping (any Error) -> Void) {
      pipe { result in
        if case .failure(let error) = result { body(error) }
      }
    }

    func seal(_ result: Result<T, any Error>) {
      self.result = result
      for handler in handlers { handler(result) }
      handlers = []
    }
  }
}

// bridge
private struct BridgedPromise<Value: Sendable>: FutureProtocol {
  nonisolated(unsafe) let foreign: PromiseKit.Promise<Value>  // safe: the promise locks itself

  func forward(to completion: @escaping @Sendable (Result<Value, any Error>) -> Void) { foreign.pipe(to: completion) }
}
// end of bridge

/// The same bridge, for use in one place.
private func bridged(_ foreign: PromiseKit.Promise<Int>) -> Future<Int, any Error> {
  // bridge
  Future { promise in foreign.done(promise.valueHandler).catch(promise.failureHandler) }
  // end of bridge
}

@Suite("R12: a future with the shape of PromiseKit's")
struct PromiseKitTests {
  private static let bridges: [@Sendable (PromiseKit.Promise<Int>) -> Future<Int, any Error>] = [
    { Future(BridgedPromise(foreign: $0)) }, bridged,
  ]

  @Test(
    "R12: success and failure of a PromiseKit promise arrive at once or later",
    arguments: bridges.indices,
    [true, false]
  )
  func promiseKitResultsArrive(index: Int, isEarly: Bool) throws {
    for result in [Result<Int, any Error>.success(1), .failure(TestError(2))] {
      let foreign = PromiseKit.Promise<Int>()
      if isEarly { foreign.seal(result) }
      let future = Self.bridges[index](foreign)
      #expect(future.isResolved == isEarly, "\(result), resolved before: \(isEarly)")
      if !isEarly { foreign.seal(result) }
      switch result {
      case .success(let value):
        #expect(try #require(future.peek()).get() == value, "\(result), resolved before: \(isEarly)")
      case .failure:
        #expect(throws: TestError(2), "\(result), resolved before: \(isEarly)") { try future.peek()?.get() }
      }
    }
  }

  @Test("R4: a PromiseKit promise that is dropped without a result is a broken promise", arguments: bridges.indices)
  func droppedPromiseKitPromiseBreaks(index: Int) {
    var foreign: PromiseKit.Promise<Int>? = PromiseKit.Promise()
    let future = Self.bridges[index](foreign!)
    #expect(!future.isResolved)
    foreign = nil
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
  }

  @Test("R15: the future of a PromiseKit promise ends at once when it is cancelled", arguments: bridges.indices)
  func cancelledPromiseKitPromiseEndsAtOnce(index: Int) {
    let foreign = PromiseKit.Promise<Int>()
    let future = Self.bridges[index](foreign)
    future.cancel()
    foreign.seal(.success(1))
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
  }

  @Test("A PromiseKit promise can be awaited")
  func promiseKitPromiseCanBeAwaited() async throws {
    let foreign = PromiseKit.Promise<Int>()
    foreign.seal(.success(1))
    #expect(try await Future(BridgedPromise(foreign: foreign)).value == 1)
  }
}

// MARK: - Combine

/// Cancels the subscription when it is released.
private final class AnyCancellable {
  private var action: (() -> Void)?

  init(_ action: @escaping () -> Void) { self.action = action }

  deinit { cancel() }

  func cancel() { action.take()?() }
}

private enum Completion<Failure: Error> { case finished, failure(Failure) }

private protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error

  func sink(
    receiveCompletion: @escaping (Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable
}

/// Sends to the current subscribers.
private final class Subject<Output, Failure: Error>: Publisher {
  private struct Subscriber {
    let receiveCompletion: (Completion<Failure>) -> Void
    let receiveValue: (Output) -> Void
  }

  private var subscribers: [Int: Subscriber] = [:]
  private var number = 0

  var subscriberCount: Int { subscribers.count }

  func sink(
    receiveCompletion: @escaping (Completion<Failure>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    number += 1
    subscribers[number] = Subscriber(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
    return AnyCancellable { [weak self, number] in
      let subscriber = self?.subscribers.removeValue(forKey: number)
      _ = subscriber  // released here, after the access
    }
  }

  func send(_ value: Output) {
    for subscriber in subscribers.values { subscriber.receiveValue(value) }
  }

  func send(completion: Completion<Failure>) {
    let ended = subscribers
    subscribers = [:]
    for subscriber in ended.values { subscriber.receiveCompletion(completion) }
  }
}

/// Sends one value at once.
private struct Just<Output>: Publisher {
  let output: Output

  func sink(
    receiveCompletion: @escaping (Completion<Never>) -> Void,
    receiveValue: @escaping (Output) -> Void
  ) -> AnyCancellable {
    receiveValue(output)
    receiveCompletion(.finished)
    return AnyCancellable {}
  }
}

// bridge
extension Publisher where Output: Sendable {
  fileprivate var firstValue: Future<Output, any Error> {
    Future { promise in
      nonisolated(unsafe) let subscription = sink { completion in
        if case .failure(let error) = completion { promise.fail(error) }
        if !promise.isResolved { promise.fail(NoValue()) }
      } receiveValue: {
        promise.succeed($0)
      }
      promise.onCancel { subscription.cancel() }  // also keeps the subscription until there is a result
    }
  }
}
// end of bridge

private struct NoValue: Error {}

@Suite("R12: a publisher with the shape of Combine's")
struct PublisherTests {
  @Test("The first value of a publisher arrives and ends the subscription")
  func firstValue() throws {
    let subject = Subject<Int, TestError>()
    let future = subject.firstValue
    #expect(subject.subscriberCount == 1)
    #expect(!future.isResolved)
    subject.send(1)
    #expect(subject.subscriberCount == 0)
    subject.send(2)
    subject.send(completion: .failure(TestError()))
    #expect(try #require(future.peek()).get() == 1)
  }

  @Test("A value that a publisher sends during the subscription is there at once")
  func valueDuringSubscriptionArrives() throws {
    #expect(try #require(Just(output: 3).firstValue.peek()).get() == 3)
  }

  @Test("The failure of a publisher arrives and ends the subscription")
  func publisherFailureEndsSubscription() {
    let subject = Subject<Int, TestError>()
    let future = subject.firstValue
    subject.send(completion: .failure(TestError(1)))
    #expect(throws: TestError(1)) { try future.peek()?.get() }
    #expect(subject.subscriberCount == 0)
  }

  @Test("A publisher that finishes without a value fails its future with NoValue")
  func emptyPublisherFails() {
    let subject = Subject<Int, TestError>()
    let future = subject.firstValue
    #expect(!future.isResolved)
    subject.send(completion: .finished)
    #expect(throws: NoValue.self) { try future.peek()?.get() }
  }

  @Test("R4: a dropped publisher is a broken promise")
  func droppedPublisherBreaks() {
    var subject: Subject<Int, TestError>? = Subject()
    let future = subject!.firstValue
    subject = nil
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
  }

  @Test(
    "R15, R16: cancelling the future, or its last derived future, cancels the subscription",
    arguments: [true, false]
  )
  func cancellationEndsSubscription(isDerived: Bool) {
    let subject = Subject<Int, TestError>()
    let future = subject.firstValue
    if isDerived { future.map { $0 }.cancel() } else { future.cancel() }
    #expect(subject.subscriberCount == 0)
    subject.send(1)
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
  }

  @Test("A publisher can be awaited, and a cancelled await with `.cancel` cancels the subscription")
  func publisherCanBeAwaited() async {
    let subject = Subject<Int, TestError>()
    let future = subject.firstValue
    let task = Task.immediate { try await future.value(onCancel: .cancel) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(subject.subscriberCount == 0)
  }
}
