import Dispatch
import Futures
import TestSupport
import Testing

struct ResolutionTests {
  @Test("R1: of many threads that resolve one promise, exactly one wins")
  func oneThreadWins() {
    for _ in 0..<500 {
      let promise = Promise<Int, Never>()
      let winners = Recorder<Int>()
      let delivered = Recorder<Int>()
      promise.future.whenSucceeded(on: .immediate) { delivered.record($0) }
      race((0..<3).map { number in { if promise.succeed(number) { winners.record(number) } } })
      #expect(winners.events.count == 1)
      #expect(delivered.events == winners.events)
    }
  }

  @Test("A future of a value, an error or a result is resolved")
  func readyMade() {
    #expect(Future<Int, TestError>.succeeded(1).peek() == .success(1))
    #expect(Future<Int, TestError>.failed(TestError(2)).peek() == .failure(TestError(2)))
    #expect(Future<Int, TestError>.resolved(.success(3)).peek() == .success(3))
    #expect(Future<Int, TestError>.resolved(.failure(TestError(4))).peek() == .failure(TestError(4)))
    let inferred = Future.succeeded(5)
    #expect(inferred.peek() == .success(5))
    #expect(inferred.isResolved)
  }

  @Test("A future holds values of any kind: Void, optionals, large structs, classes, tuples")
  func valuesOfAnyKind() {
    struct Large: Sendable, Equatable { var (a, b, c, d, e) = (1, 2, 3, 4, "five") }
    let unit = Promise<Void, Never>()
    #expect(unit.succeed())
    #expect(!unit.succeed())
    #expect(unit.future.isResolved)
    let none = Promise<Int?, TestError>()
    none.succeed(nil)
    #expect(none.future.peek() == .success(nil))
    let large = Promise<Large, TestError>()
    large.succeed(Large())
    #expect(large.future.map { $0.e }.peek() == .success("five"))
    let pair = Promise<(Tracked, String), Never>()
    pair.succeed((Tracked(), "one"))
    #expect(pair.future.peek()?.get().1 == "one")
  }

  // MARK: - Lifetimes

  @Test("R5: callbacks that only a token could have ended are released with the token and the future")
  func releasedWithLostToken() {
    weak var captured: Tracked?
    do {
      let object = Tracked()
      captured = object
      let source = CancellationTokenSource()
      let promise = Promise<Int, Never>()
      promise.future.cancelled(by: source.token).whenResolved(on: .immediate) { _ in object.use() }
      promise.follow(.never)
      withExtendedLifetime(source) {}
    }
    #expect(captured == nil)
  }

  @Test("R5: dropping a derived future does not detach it")
  func droppedDerivedFutureRuns() {
    let promise = Promise<Int, Never>()
    let log = Recorder<Int>()
    _ = promise.future.map { log.record($0) }
    _ = promise.future.flatMap { value in
      log.record(value + 1)
      return Future.succeeded(value)
    }.map { log.record($0 + 2) }
    promise.succeed(1)
    #expect(log.events == [1, 2, 3])
  }

  @Test("R5: a resolved future keeps only its result")
  func keepsOnlyTheResult() {
    let promise = Promise<Tracked, Never>()
    var future: Future<Tracked, Never>? = promise.future
    weak var value: Tracked?
    weak var captured: Tracked?
    do {
      let (object, other) = (Tracked(), Tracked())
      (value, captured) = (object, other)
      future?.whenResolved(on: .immediate) { _ in other.use() }
      promise.succeed(object)
    }
    #expect(value != nil)
    #expect(captured == nil)
    future = nil
    #expect(value != nil)
    withExtendedLifetime(promise) {}
  }

  @Test("R5: a value that loses against the first resolution is released at once")
  func lateValueReleased() {
    let promise = Promise<Tracked, Never>()
    promise.succeed(Tracked())
    weak var late: Tracked?
    do {
      let object = Tracked()
      late = object
      promise.succeed(object)
    }
    #expect(late == nil)
  }
}
