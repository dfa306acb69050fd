import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: several readers of one source", .unlessSanitized)
struct SharedStreamOrderTests {
  /// A source with one listener.
  private final class Source: Sendable {
    let log = Recorder<String>()
    private let handle = Locked<CallbackStream<Int>?>(nil)

    func start(_ stream: CallbackStream<Int>) {
      log.record("start")
      handle.withLock { $0 = stream }
      stream.onCancel {
        self.log.record("stop")
        self.drop()
      }
    }

    func yield(_ number: Int) { handle.withLock(\.self)?.yield(number) }

    func drop() {
      let dropped = handle.withLock { handle in
        defer { handle = nil }
        return handle
      }
      _ = dropped  // released here, outside the lock
    }
  }

  @Test(
    "In every order of two readers and three elements, none is missed or repeated, and the source runs while one reads"
  )
  func readersAndElements() async throws {
    var seen: Set<String> = []
    let report = try await exploreOrders(limit: 10_000) { orders in
      let source = Source()
      let stream = SharedCallbackStream(of: Int.self) { handle in source.start(handle) }
      let tasks = ["a", "b"].map { name in
        Task { () -> [Int] in
          var numbers: [Int] = []
          await orders.step("\(name) comes")
          for try await number in stream.reader(bufferingPolicy: .unbounded, startingWithLast: true) {
            numbers.append(number)
            if numbers.count == 2 { break }
          }
          return numbers
        }
      }
      for number in 1...3 { orders.context("source").submit { source.yield(number) } }
      try await orders.runAll()
      for task in tasks { task.cancel() }
      for task in tasks {
        let numbers = try await task.value
        seen.insert("\(numbers)")
        try Unexpected.unless(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(numbers)")
      }
      let log = source.log.events
      let isPaired = (0..<log.count).allSatisfy { log[$0] == ($0 % 2 == 0 ? "start" : "stop") }
      try Unexpected.unless(isPaired && log.last != "start" && stream.readerCount == 0, "\(log)")
    }
    #expect(report.isExhaustive)
    #expect(seen == ["[]", "[1, 2]", "[2, 3]", "[3]"])
  }

  @Test("In every order of four readers of which one leaves, the others miss and repeat no element")
  func fourReaders() async throws {
    let report = try await exploreOrders(limit: 10_000) { orders in
      let source = Source()
      let stream = SharedCallbackStream(of: Int.self) { handle in source.start(handle) }
      let readers = Locked<[Int: AsyncThrowingStream<Int, any Error>]>([:])
      for number in 0..<4 {
        orders.context("reader \(number)").submit {
          let reader = stream.reader(bufferingPolicy: .unbounded, startingWithLast: true)
          readers.withLock { $0[number] = reader }
        }
      }
      orders.context("reader 0").submit {
        let left = readers.withLock { $0.removeValue(forKey: 0) }
        _ = left  // released here, outside the lock
      }
      for number in 1...2 { orders.context("source").submit { source.yield(number) } }
      try await orders.runAll()
      source.yield(3)
      for reader in readers.withLock(\.self).values {
        var numbers: [Int] = []
        for try await number in reader {
          numbers.append(number)
          if number == 3 { break }
        }
        try Unexpected.unless(numbers == Array((4 - numbers.count)...3), "\(numbers)")
      }
    }
    #expect(report.isExhaustive, "\(report)")
  }
}
