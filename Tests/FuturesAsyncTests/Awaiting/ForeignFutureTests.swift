internal import Futures
internal import FuturesAsync
internal import TestSupport
internal import Testing

// Stand-ins with the shape of other libraries' futures, and the bridges that turn them into futures of this library.

// MARK: - SwiftNIO

/// A future with one result that calls back on an event loop; its failure type is always `any Error`.
private final class EventLoopFuture<Value>: @unchecked Sendable {
  // @unchecked: the locks protect the variables.
  private let loop: HeldContext
  private let result = Locked<Result<Value, any Error>?>(nil)
  private let callbacks = Locked<[@Sendable (Result<Value, any Error>) -> Void]>([])

  init(on loop: HeldContext) { self.loop = loop }

  func whenComplete(_ callback: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    callbacks.withLock { $0.append(callback) }
    loop.context.submit { self.callBack() }
  }

  func complete(_ result: Result<Value, any Error>) {
    self.result.withLock { $0 = result }
    loop.context.submit { self.callBack() }
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
private struct Bridged<Value: Sendable>: FutureProtocol {
  let foreign: EventLoopFuture<Value>

  func forward(to completion: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    foreign.whenComplete(completion)
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

/// Sends to its present subscriber; neither it nor its closures are `Sendable`.
private final class Subject<Output> {
  private var subscriber: (completion: ((any Error)?) -> Void, value: (Output) -> Void)?

  var hasSubscriber: Bool { subscriber != nil }

  func sink(receiveCompletion: @escaping ((any Error)?) -> Void, receiveValue: @escaping (Output) -> Void)
    -> AnyCancellable
  {
    subscriber = (receiveCompletion, receiveValue)
    return AnyCancellable { [weak self] in _ = self?.subscriber.take() }
  }

  func send(_ value: Output) { subscriber?.value(value) }

  func send(completion: (any Error)?) { subscriber.take()?.completion(completion) }
}

extension Subject where Output: Sendable {
  fileprivate var firstValue: Future<Output, any Error> {
    Future { promise in
      nonisolated(unsafe) let subscription = sink { error in
        if !promise.isResolved { promise.fail(error ?? NoValue()) }
      } receiveValue: {
        promise.succeed($0)
      }
      promise.onCancel { subscription.cancel() }  // also keeps the subscription until there is a result
    }
  }
}

private struct NoValue: Error {}

// MARK: - Tests

/// A future of another library, and the future that its bridge makes: one row of the table.
private struct Foreign {
  let complete: (Result<Int, any Error>) -> Void
  let bridge: () -> Future<Int, any Error>
}

/// The bridges; each makes a future that nothing but the row refers to.
private enum Library: CaseIterable {
  case eventLoopFuture, publisher

  func make() -> Foreign {
    switch self {
    case .eventLoopFuture:
      let loop = HeldContext()
      let foreign = EventLoopFuture<Int>(on: loop)
      return Foreign {
        foreign.complete($0)
        loop.runAll()
      } bridge: {
        defer { loop.runAll() }
        return Future(Bridged(foreign: foreign))
      }
    case .publisher:
      let subject = Subject<Int>()
      return Foreign { result in
        switch result {
        case .success(let value): subject.send(value)
        case .failure(let error): subject.send(completion: error)
        }
      } bridge: {
        subject.firstValue
      }
    }
  }
}

struct ForeignFutureTests {
  @Test("R12: the value or the error of a foreign future arrives, also with an await", arguments: Library.allCases)
  private func resultArrives(library: Library) async {
    for result in [Result<Int, any Error>.success(1), .failure(TestError(2))] {
      let foreign = library.make()
      let future = foreign.bridge()
      let waiting = Task.immediate { await future.result }
      #expect(!future.isResolved)
      foreign.complete(result)
      #expect("\(future.peek() as Any)" == "\(result as Any?)")
      #expect("\(await waiting.value)" == "\(result)")
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

  @Test("R12: the result of a completed event loop future arrives on the loop")
  func resultArrivesOnEventLoop() {
    let loop = HeldContext()
    let foreign = EventLoopFuture<Int>(on: loop)
    foreign.complete(.success(1))
    let future = Future(Bridged(foreign: foreign))
    #expect(!future.isResolved)
    loop.runAll()
    #expect(future.isResolved)
  }

  @Test("The first value, the failure, the end and a cancellation each end the subscription of a publisher")
  func endsSubscription() {
    let ends: [(String, (Subject<Int>, Future<Int, any Error>) -> Void)] = [
      ("1", { subject, _ in subject.send(1) }), ("TestError", { subject, _ in subject.send(completion: TestError()) }),
      ("NoValue", { subject, _ in subject.send(completion: nil) }),
      ("CancellationError", { _, future in future.cancel() }),
      ("CancellationError", { _, future in future.map { $0 }.cancel() }),
    ]
    for (expected, end) in ends {
      let subject = Subject<Int>()
      let future = subject.firstValue
      #expect(subject.hasSubscriber && !future.isResolved)
      end(subject, future)
      #expect(!subject.hasSubscriber)
      subject.send(2)
      switch future.peek() {
      case .success(let value): #expect("\(value)" == expected)
      case .failure(let error): #expect("\(type(of: error))" == expected)
      case nil: Issue.record("The future is not resolved.")
      }
    }
  }
}
