import Dispatch
import Futures
import FuturesAsync
import FuturesTesting
import TestSupport
import Testing

@Suite("exploreOrders: runs that do not end, and work from outside")
struct OrderFailureTests {
  @Test("A body that waits while nothing is left to run is a deadlock, with the label and the place of the future")
  func deadlock() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let answer = Promise<Int, any Error>("answer", fileID: "App/Loader.swift", line: 12)
        orders.context("network").submit {}
        _ = try await withExtendedLifetime(answer) { answer.future }.value
        answer.succeed(1)
      }
    }
    guard case .deadlock(let waiting)? = failure?.reason else {
      return #expect(Bool(false), "\(String(describing: failure))")
    }
    #expect(waiting == ["\"answer\" App/Loader.swift:12"])
    #expect(failure?.order == ["network"])
  }

  @Test("A deadlock that only some orders have is found, and the others pass")
  func someDeadlocks() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let isOpen = Locked(false)
        let opened = Promise<Void, any Error>("opened")
        orders.context("door").submit {
          isOpen.withLock { $0 = true }
          opened.succeed()
        }
        await orders.step("look")
        // The wait begins after the notification: a lost wake-up.
        if !isOpen.withLock(\.self) {
          await orders.step("wait")
          let late = Promise<Void, any Error>("late")
          if opened.isResolved { try await late.future.value }
          withExtendedLifetime(late) {}
        }
      }
    }
    #expect(failure?.order == ["look", "door", "wait"])
  }

  @Test("A deadlocked body is cancelled, so that it can end")
  func endOfADeadlock() async throws {
    let ends = Recorder<String>()
    let failure = try await explorationFailure {
      try await exploreOrders { _ in
        let answer = Promise<Int, any Error>("answer")
        do {
          _ = try await withExtendedLifetime(answer) { answer.future }.value
        } catch {
          ends.record("\(error)")
        }
        withExtendedLifetime(answer) {}
      }
    }
    guard case .deadlock? = failure?.reason else { return #expect(Bool(false), "\(String(describing: failure))") }
    // Once in the search, and once when the order is repeated.
    #expect(ends.events == ["CancellationError()", "CancellationError()"])
  }

  // LeakSanitizer reports a task that stays suspended.
  #if !ASAN
    @Test("A deadlocked body that cannot be cancelled is left behind")
    func stubbornDeadlock() async throws {
      let failure = try await explorationFailure {
        try await exploreOrders { _ in
          let never = Promise<Int, Never>("stubborn")
          LeftBehind.promises.withLock { $0.append(never) }
          _ = await never.future.value
        }
      }
      guard case .deadlock(let waiting)? = failure?.reason else {
        return #expect(Bool(false), "\(String(describing: failure))")
      }
      #expect(waiting.count == 1 && waiting[0].hasPrefix("\"stubborn\" "), "\(waiting)")
    }
  #endif

  @Test("A task that another thread resumes is a failure, not an order")
  func foreignResumption() async throws {
    let failure = try await explorationFailure {
      try await exploreOrders { orders in
        let gate = DispatchSemaphore(value: 0)
        // Runs after the body has suspended.
        orders.context("a").submit { gate.signal() }
        await withCheckedContinuation { continuation in
          DispatchQueue.global().async {
            gate.wait()
            continuation.resume()
          }
        }
      }
    }
    guard case .uncontrolled(let sentence)? = failure?.reason else {
      return #expect(Bool(false), "\(String(describing: failure))")
    }
    #expect(sentence.hasSuffix(" has resumed a task of the test."))
    #expect(failure?.description.contains("Pass contexts of `orders`") == true)
  }

  @Test("Work that is left when the body returns runs, and timers do not")
  func workAfterTheBody() async throws {
    let run = Recorder<String>()
    let report = try await exploreOrders { orders in
      orders.context("a").submit { run.record("a") }
      Future<Void, Never>.after(.seconds(1), on: orders.context("a")).whenResolved(on: .immediate) { _ in
        run.record("late")
      }
    }
    #expect(run.events == ["a"])
    #expect(report.orders == 1)
  }
}

/// Objects that a test leaves behind on purpose, visible to the leak detector.
enum LeftBehind {
  static let promises = Locked<[Promise<Int, Never>]>([])
}
