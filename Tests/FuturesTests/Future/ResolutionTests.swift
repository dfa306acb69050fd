import Futures
import TestSupport
import Testing

struct ResolutionTests {
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
    let (captured, _) = withTracked { object in
      let source = CancellationTokenSource()
      let promise = Promise<Int, Never>()
      promise.future.cancelled(by: source.token).whenResolved(on: .immediate) { _ in object.use() }
      promise.follow(.never)
      withExtendedLifetime(source) {}
    }
    #expect(captured.isReleased)
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
    let (captured, _) = withTracked { object in future?.whenResolved(on: .immediate) { _ in object.use() } }
    let (value, _) = withTracked { promise.succeed($0) }
    #expect(!value.isReleased)
    #expect(captured.isReleased)
    future = nil
    #expect(!value.isReleased)
    withExtendedLifetime(promise) {}
  }

  @Test("R5: a value that loses against the first resolution is released at once")
  func lateValueReleased() {
    let promise = Promise<Tracked, Never>()
    promise.succeed(Tracked())
    let (late, _) = withTracked { promise.succeed($0) }
    #expect(late.isReleased)
  }
}
