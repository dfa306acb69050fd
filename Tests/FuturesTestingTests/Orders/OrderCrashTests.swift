import Foundation
import Futures
import FuturesTesting
import Testing

@Suite("exploreOrders: the order before a crash", .unlessSanitized)
struct OrderCrashTests {
  @Test("A crash in a move prints the order so far, and the string that repeats it")
  func crash() async throws {
    let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try await exploreOrders(fileID: "App/Crash.swift", line: 7) { orders in
        let isSecond = Shared(false)
        orders.context("first").run { if isSecond.withLock(\.self) { fatalError("a trap of the user") } }
        orders.context("second").run { isSecond.withLock { $0 = true } }
        try await orders.runAll()
      }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(
      text.contains("The process crashes in an order of exploreOrders at App/Crash.swift:7: second(1) ▸ first(1)\n"),
      "\(text.prefix(2_000))"
    )
    #expect(text.contains("Run it alone: exploreOrders(repeating: \"s1\")"))
  }

  @Test("A move that never returned is a failure, so the next search of the same call prints no order")
  func blocked() async throws {
    await #expect(processExitsWith: .success) {
      let failure = try await explorationFailure {
        try await exploreOrders(fileID: "App/Blocked.swift", line: 11) { orders in
          orders.context("a").run { DispatchSemaphore(value: 0).wait() }
          try await orders.runAll()
        }
      }
      _exit(failure == nil ? 1 : 0)
    }
    let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try await exploreOrders(fileID: "App/Blocked.swift", line: 11) { _ in }
    }
    let text = String(decoding: result.standardErrorContent, as: UTF8.self)
    #expect(!text.contains("An earlier process"), "\(text)")
  }

  @Test("After a process that was killed, the next search of the same call prints its order, once")
  func killed() async throws {
    await #expect(processExitsWith: .failure) {
      try await exploreOrders(fileID: "App/Killed.swift", line: 9) { orders in
        orders.context("a").run { kill(getpid(), SIGKILL) }
        orders.context("b").run {}
        try await orders.runAll()
      }
    }
    for isFirst in [true, false] {
      let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
        try await exploreOrders(fileID: "App/Killed.swift", line: 9) { _ in }
      }
      let text = String(decoding: result.standardErrorContent, as: UTF8.self)
      let sentence = "An earlier process ended in an order of exploreOrders at App/Killed.swift:9: a(1)\n"
      #expect(text.contains(sentence) == isFirst, "\(text)")
    }
  }
}
