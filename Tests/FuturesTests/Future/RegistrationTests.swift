import Futures
import TestSupport
import Testing

struct RegistrationTests {
  @Test("R7: a callback can remove itself and later callbacks")
  func removedDuringDelivery() {
    let promise = Promise<Int, Never>()
    let log = Recorder<String>()
    let registrations = Recorder<Registration>()
    for name in ["a", "b", "c"] {
      registrations.record(
        promise.future.whenResolved(on: .immediate) { _ in
          log.record(name)
          if name == "a" {
            let removed = registrations.events.map { $0.remove() }
            log.record("\(removed)")
          }
        }
      )
    }
    promise.succeed(1)
    #expect(log.events == ["a", "[false, true, true]"])
  }

  @Test(
    "R7: a callback or listener that its context has not started can still be removed, and is released at once",
    arguments: [false, true],
    [false, true]
  )
  func removedWhileSubmitted(isResolvedBefore: Bool, isListener: Bool) {
    let held = HeldContext()
    let promise = Promise<Int, Never>()
    let log = Recorder<Int>()
    if isResolvedBefore { promise.succeed(1) }
    let (captured, registration) = withTracked { object in
      let note = { @Sendable in
        object.use()
        log.record(1)
      }
      return isListener
        ? promise.future.whenProgressed(on: held.context) { _ in note() }
        : promise.future.whenResolved(on: held.context) { _ in note() }
    }
    // A listener of a pending future gets its first state.
    if isListener, !isResolvedBefore {
      held.runFirst()
      promise.progress.report(fraction: 0.5)
    } else {
      promise.succeed(1)
    }
    let before = log.events.count
    #expect(held.count == 1)
    #expect(registration.remove())
    #expect(captured.isReleased)
    held.runAll()
    #expect(log.events.count == before)
    #expect(!registration.remove())
  }

  @Test(
    "R7: removing the first, a middle and the last callback keeps the other callbacks in order",
    arguments: permutations(of: [0, 1, 2, 3])
  )
  func removalInEveryOrder(order: [Int]) {
    for count in 0...4 {
      let promise = Promise<Int, Never>()
      let log = Recorder<Int>()
      let registrations = (0..<4).map { number in
        promise.future.whenResolved(on: .immediate) { _ in log.record(number) }
      }
      let removed = order.prefix(count)
      for index in removed { #expect(registrations[index].remove(), "removed: \(removed)") }
      promise.succeed(1)
      #expect(log.events == (0..<4).filter { !removed.contains($0) }, "removed: \(removed)")
    }
  }

  @Test("R7: many callbacks and listeners that are attached and removed leave no memory behind", arguments: 0..<3)
  func removalLeavesNothing(kind: Int) {
    let promise = Promise<Int, Never>()
    let future = kind == 2 ? promise.future.map { $0 }.flatMap { .succeeded($0) } : promise.future
    let object = Tracked()
    func attachAndRemove(_ count: Int) {
      for _ in 0..<count {
        let registration =
          kind == 0
          ? future.whenResolved(on: .immediate) { _ in object.use() }
          : future.whenProgressed(on: .immediate) { _ in object.use() }
        registration.remove()
      }
    }
    #expect(leastBytesLeft(count: TestTier.choose(standard: 2_000, thorough: 1_000_000), attachAndRemove) <= 0)
    promise.succeed(1)
  }
}
