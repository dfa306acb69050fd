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
}
