import Futures
import FuturesAsync
import FuturesTesting
import Testing

@Suite("exploreOrders: faults of code outside")
struct OrderFaultTests {
  struct Offline: Error {}

  @Test("A completion handler is called once, and in other orders with each fault")
  func completionHandler() async throws {
    let records = try await differentRecords { orders, run in
      Future<Void, Never>.after(.seconds(10), on: orders.context("timer")).whenResolved(on: .immediate) { _ in
        run.add("timeout")
      }
      let answer = orders.fault("answer", failure: "failure") { run.add($0) }
      orders.context("network").run { answer("value") }
    }
    #expect(
      Set(records) == [
        "value timeout", "timeout value",  // once, at any time
        "timeout",  // never, dropped
        "value value timeout", "value timeout value", "timeout value value",  // twice
        "failure timeout", "timeout failure",
      ]
    )
  }

  @Test("Late means after the timers that are set, and the other context is any time")
  func lateAndElsewhere() async throws {
    let late = try await differentRecords { orders, run in
      Future<Void, Never>.after(.seconds(10), on: orders.context("timer")).whenResolved(on: .immediate) { _ in
        run.add("timeout")
      }
      orders.fault("answer", [.late]) { run.add($0) }("value")
    }
    #expect(late == ["timeout value", "value timeout"])
    let elsewhere = try await differentRecords { orders, run in
      orders.fault("answer", [.elsewhere]) { run.add($0) }("value")
      run.add("returned")
    }
    #expect(elsewhere == ["returned value", "value returned"])
  }

  @Test("A timeout that does not guard its completion is found in the order with the fault, and the order names it")
  func namesTheFault() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let calls = RunRecord()
        let answer = orders.fault("answer", [.twice]) { (_: Int) in calls.add("call") }
        orders.context("network").run { answer(1) }
        try await orders.runAll()
        try Unexpected.unless(calls.all.count == 1, "called \(calls.all.count) times")
      }
    }
    #expect(failure?.order == ["network", "answer: twice", "answer again"])
    #expect(failure?.repeating == "a1")
    #expect(failure?.failedOrders == 1)
    #expect(failure?.report.isAll(2) == true)
  }

  @Test("A handler that is dropped breaks its promise, and one that is kept leaves it pending")
  func droppedAndNever() async throws {
    let records = try await differentRecords { orders, run in
      let promise = Promise<Int, any Error>("answer")
      promise.future.whenResolved(on: .immediate) { run.add("\($0)".hasPrefix("success") ? "value" : "broken") }
      let handler = orders.fault("answer", [.never, .dropped], promise.resultHandler)
      handler(.success(1))
    }
    #expect(records == ["", "broken", "value"])
  }

  @Test("A future of an API resolves, fails, stays pending, breaks or comes late")
  func future() async throws {
    let records = try await differentRecords { orders, run in
      let api = Future<Int, any Error>(on: orders.context("network")) { 1 }
      let answer = orders.fault("answer", failure: Offline(), in: api).timeout(
        after: .seconds(1),
        on: orders.context("t")
      )
      answer.whenResolved(on: .immediate) { result in
        switch result {
        case .success: run.add("value")
        case .failure(let error): run.add("\(type(of: error))")
        }
      }
    }
    #expect(records == ["BrokenPromise", "Offline", "TimeoutError", "value"])
  }

  @Test("withCallback survives each fault")
  func callback() async throws {
    let records = try await differentRecords { orders, run in
      do {
        let value = try await withCallback(of: Int.self) { callback in
          let answer = orders.fault("answer", [.dropped, .late, .elsewhere, .failure], failure: .failure(Offline())) {
            callback.resume(with: $0)
          }
          orders.context("network").run { answer(.success(1)) }
        }
        run.add("\(value)")
      } catch {
        run.add("\(type(of: error))")
      }
    }
    #expect(records == ["1", "BrokenPromise", "Offline"])
  }
}
