import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("concurrentSettled")
struct ConcurrentSettledTests {
  private enum Failure: CancellableFailure, Equatable {
    case cancelled
    case other(Int)
  }

  /// Work that the test ends.
  private final class Work: Sendable {
    private let promises: [Promise<Int, Failure>]
    private let started = Recorder<Int>()
    private let stopped = Recorder<Int>()

    init(_ count: Int) {
      promises = (0..<count).map { _ in Promise() }
      for (item, promise) in promises.enumerated() { promise.onCancel { [stopped] in stopped.record(item) } }
    }

    @Sendable func start(_ item: Int) -> Future<Int, Failure> {
      started.record(item)
      return promises[item].future
    }

    func end(_ item: Int, failing: Bool = false) {
      promises[item].resolve(failing ? .failure(.other(item)) : .success(item))
    }

    func future(_ item: Int) -> Future<Int, Failure> { promises[item].future }

    var startedItems: [Int] { started.events }
    var stoppedItems: [Int] { stopped.events }
  }

  @Test("R11: at most `limit` items run, a failure stops none, and the results have the order of the items")
  func resultsInOrder() {
    let work = Work(5)
    let all = Future.concurrentSettled(0..<5, limit: 2, work.start)
    let atFirst = work.startedItems
    work.end(1, failing: true)
    let afterFailure = work.startedItems
    #expect(atFirst == [0, 1])
    #expect(afterFailure == [0, 1, 2])
    for item in [2, 4, 3, 0] { work.end(item, failing: item == 2) }
    work.end(4)
    let expected: [Result<Int, Failure>] = [
      .success(0), .failure(.other(1)), .failure(.other(2)), .success(3), .success(4),
    ]
    #expect(all.peek() == .success(expected))
    #expect(work.stoppedItems.isEmpty)
  }

  @Test("R16: a cancellation starts no further item, stops those that run, and counts the others as cancelled")
  func cancellationStartsNothing() {
    let work = Work(200)
    let all = Future.concurrentSettled(0..<200, limit: 6, work.start)
    work.end(0)
    work.end(3, failing: true)
    all.cancel()
    let started = Array(0..<8)
    #expect(work.startedItems == started)
    #expect(work.stoppedItems == [1, 2, 4, 5, 6, 7])
    var expected = [Result<Int, Failure>](repeating: .failure(.cancelled), count: 200)
    expected[0] = .success(0)
    expected[3] = .failure(.other(3))
    #expect(all.peek() == .success(expected))
  }

  @Test("R16: a cancelled run waits for the item that another consumer keeps")
  func cancellationLeavesSharedItem() {
    let work = Work(3)
    work.future(0).whenResolved(on: .immediate) { _ in }
    let all = Future.concurrentSettled(0..<3, limit: 1, work.start)
    all.cancel()
    #expect(work.stoppedItems.isEmpty)
    #expect(!all.isResolved)
    work.end(0)
    let expected: [Result<Int, Failure>] = [.success(0), .failure(.cancelled), .failure(.cancelled)]
    #expect(all.peek() == .success(expected))
    #expect(work.startedItems == [0])
  }

  @Test("R15: the failures of a cancelled run have the failure type of the items")
  func cancellationOfEachType() throws {
    let (first, second) = (Promise<Int, any Error>(), Promise<Int, CancellationError>())
    let untyped = Future.concurrentSettled([1], limit: 1) { _ in first.future }
    let plain = Future.concurrentSettled([1, 2], limit: 1) { _ in second.future }
    untyped.cancel()
    plain.cancel()
    #expect(throws: CancellationError.self) { try untyped.peek()?.get().first?.get() }
    #expect(throws: CancellationError.self) { try plain.peek()?.get().last?.get() }
  }
}
