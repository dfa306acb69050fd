internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// Stand-ins with the shape of other libraries' futures, and the bridges that turn them into futures of this library.

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

// MARK: - Tests

/// A future of another library, and the future that its bridge makes: one row of the table.
private struct Foreign {
  let complete: (Result<Int, any Error>) -> Void
  let bridge: () -> Future<Int, any Error>
}

/// The bridges; each makes a future that nothing but the row refers to.
private enum Library: CaseIterable {
  case eventLoopFuture, promiseKit, promiseKitInOnePlace, publisher

  func make() -> Foreign {
    switch self {
    case .eventLoopFuture:
      let loop = EventLoop()
      let foreign = EventLoopFuture<Int>(on: loop)
      return Foreign {
        foreign.complete($0)
        loop.run()
      } bridge: {
        defer { loop.run() }
        return Future(Bridged(foreign: foreign))
      }
    case .promiseKit:
      let foreign = PromiseKit.Promise<Int>()
      return Foreign(complete: foreign.seal) { Future(BridgedPromise(foreign: foreign)) }
    case .promiseKitInOnePlace:
      let foreign = PromiseKit.Promise<Int>()
      return Foreign(complete: foreign.seal) { bridged(foreign) }
    case .publisher:
      let subject = Subject<Int, any Error>()
      return Foreign { result in
        switch result {
        case .success(let value): subject.send(value)
        case .failure(let error): subject.send(completion: .failure(error))
        }
      } bridge: {
        subject.firstValue
      }
    }
  }
}

@Suite("R12: futures with the shape of other libraries'")
struct ForeignFutureTests {
  @Test(
    "R12: the value or the error of a foreign future arrives, before or after the conversion",
    arguments: Library.allCases,
    [true, false]
  )
  private func resultArrives(library: Library, isEarly: Bool) {
    // A subject sends only to its present subscribers.
    guard library != .publisher || !isEarly else { return }
    for result in [Result<Int, any Error>.success(1), .failure(TestError(2))] {
      let foreign = library.make()
      if isEarly { foreign.complete(result) }
      let future = foreign.bridge()
      #expect(future.isResolved == isEarly, "\(result)")
      if !isEarly { foreign.complete(result) }
      #expect("\(future.peek() as Any)" == "\(result as Any?)")
    }
  }

  @Test("R4: a foreign future that is dropped without a result is a broken promise", arguments: Library.allCases)
  private func droppedFutureBreaks(library: Library) {
    var foreign: Foreign? = library.make()
    let future = foreign!.bridge()
    #expect(!future.isResolved)
    foreign = nil
    #expect(throws: BrokenPromise.self) { try future.peek()?.get() }
  }

  @Test("R15, R17: a cancelled future ends at once, and drops the later result", arguments: Library.allCases)
  private func cancelledFutureEndsAtOnce(library: Library) {
    let foreign = library.make()
    let future = foreign.bridge()
    future.cancel()
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
    foreign.complete(.success(1))
    #expect(throws: CancellationError.self) { try future.peek()?.get() }
  }

  @Test("A foreign future can be awaited and combined with other futures", arguments: Library.allCases)
  private func futureCanBeAwaited(library: Library) async throws {
    let foreign = library.make()
    let zipped = Future.zip(foreign.bridge(), Future.succeeded("a"))
    let task = Task.immediate { try await zipped.value }
    foreign.complete(.success(1))
    #expect(try await task.value == (1, "a"))
  }

  @Test("R12: the result of an event loop future arrives on the loop")
  func resultArrivesOnEventLoop() {
    let loop = EventLoop()
    let foreign = EventLoopFuture<Int>(on: loop)
    foreign.complete(.success(1))
    let future = Future(Bridged(foreign: foreign))
    #expect(!future.isResolved)
    loop.run()
    #expect(future.isResolved)
  }

  @Test("The first value, the failure, the end and a cancellation each end the subscription of a publisher")
  func endsSubscription() async throws {
    func subscribe(_ body: (Subject<Int, TestError>, Future<Int, any Error>) -> Void) -> Result<Int, any Error>? {
      let subject = Subject<Int, TestError>()
      let future = subject.firstValue
      #expect(subject.subscriberCount == 1 && !future.isResolved)
      body(subject, future)
      #expect(subject.subscriberCount == 0)
      subject.send(2)
      return future.peek()
    }
    #expect(try subscribe { subject, _ in subject.send(1) }?.get() == 1)
    #expect(throws: TestError(1)) {
      try subscribe { subject, _ in subject.send(completion: .failure(TestError(1))) }?.get()
    }
    #expect(throws: NoValue.self) { try subscribe { subject, _ in subject.send(completion: .finished) }?.get() }
    #expect(throws: CancellationError.self) { try subscribe { _, future in future.cancel() }?.get() }
    #expect(throws: CancellationError.self) { try subscribe { _, future in future.map { $0 }.cancel() }?.get() }
    #expect(throws: CancellationError.self) {
      try subscribe { _, future in Task.immediate { try await future.value(onCancel: .cancel) }.cancel() }?.get()
    }
  }
}
