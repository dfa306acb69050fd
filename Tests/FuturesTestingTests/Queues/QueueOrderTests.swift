import Dispatch
import Futures
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: stand-ins for Dispatch queues")
struct QueueOrderTests {
  @Test("The first item of each serial queue is a choice, beside contexts")
  func serial() async throws {
    let records = try await differentRecords { orders, run in
      let queue = orders.queue("q")
      queue.async { run.record("q1") }
      queue.async { run.record("q2") }
      orders.context("c").submit { run.record("c") }
    }
    #expect(records == ["c q1 q2", "q1 c q2", "q1 q2 c"])
  }

  @Test("A concurrent queue has no order, except at a barrier")
  func concurrent() async throws {
    let records = try await differentRecords { orders, run in
      let queue = orders.queue("q", attributes: .concurrent)
      queue.async { run.record("1") }
      queue.async { run.record("2") }
      queue.async(flags: .barrier) { run.record("|") }
      queue.async { run.record("3") }
      queue.async { run.record("4") }
    }
    #expect(records == ["1 2 | 3 4", "1 2 | 4 3", "2 1 | 3 4", "2 1 | 4 3"])
  }

  @Test("sync runs the earlier work within its move, and what it ran is no move any more")
  func sync() async throws {
    let records = Locked<Set<String>>([])
    try await exploreOrders { orders in
      let run = Recorder<String>()
      let queue = orders.queue("q")
      queue.async { run.record("1") }
      orders.context("c").submit {
        run.record("c(")
        queue.sync { run.record("sync") }
        run.record(")")
      }
      try await orders.runAll()
      records.withLock { _ = $0.insert(run.joined) }
    }
    #expect(records.withLock(\.self) == ["1 c( sync )", "c( 1 sync )"])
  }

  @Test("A delay of a queue is a timer with the delay that the code says, in each run", .unlessSanitized)
  func delays() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let run = Recorder<String>()
        let queue = orders.queue("q")
        let deadline = DispatchTime.now() + 0.3
        let start = ContinuousClock.now
        // Computes for longer than the rounding of a delay.
        while DispatchTime.now() < deadline, busyWork() < 0 {}
        nonisolated(unsafe) let item = DispatchWorkItem { run.record("saved") }
        queue.asyncAfter(deadline: deadline, execute: item)
        orders.context("user").submit { item.cancel() }
        try await orders.runAll()
        try Unexpected.unless(run.events.isEmpty, "saved")
        try Unexpected.unless(start.duration(to: .now) <= .seconds(1), "the time of the clock is virtual")
      }
    }
    #expect(failure?.order == ["timer 0.3 seconds", "user"])
  }

  /// Takes several milliseconds of processor time.
  private func busyWork() -> Int {
    (0..<200_000).reduce(0) { sum, number in (sum &* 31 &+ number) & 0xffff }
  }

  @Test("Code that makes its queues itself is explored by a type alias, and each queue is one of its own")
  func madeByTheCode() async throws {
    typealias DispatchQueue = VirtualQueue
    let records = try await differentRecords { _, run in
      for name in ["a", "b"] {
        let queue = DispatchQueue(label: "store", qos: .userInitiated)
        queue.async { run.record("\(name)1") }
        queue.async { run.record("\(name)2") }
        if name == "a" { #expect(queue.label == "store") }
      }
    }
    #expect(records.count == 6)
    #expect(records.first == "a1 a2 b1 b2")
  }

  @Test("Submission from another thread is a failure")
  func outside() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let queue = orders.queue("q")
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            queue.async {}
            continuation.resume()
          }
        }
      }
    }
    guard case .uncontrolled(let sentence)? = failure?.reason else {
      return #expect(Bool(false), "\(String(describing: failure))")
    }
    #expect(sentence.contains("has submitted work to the queue “q”."))
  }
}
