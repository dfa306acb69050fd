import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import TestSupport
import Testing

struct NotificationCenterTests {
  private let center = NotificationCenter()
  private let name = Notification.Name("a name")

  @Test("The future resolves with the next notification of its name and object, on the posting thread")
  func next() {
    let (object, other, calls) = (Tracked(), Tracked(), Recorder<Int>())
    let future = center.future(for: name, object: object) { notification in
      let number = notification.userInfo?["number"] as? Int ?? 0
      calls.record(number)
      return number
    }
    center.post(name: Notification.Name("another"), object: object, userInfo: ["number": 1])
    center.post(name: name, object: other, userInfo: ["number": 2])
    #expect(!future.isResolved)
    center.post(name: name, object: object, userInfo: ["number": 3])
    #expect(future.peek()?.value == 3)
    center.post(name: name, object: object, userInfo: ["number": 4])
    #expect(calls.events == [3])
  }

  @Test("The closure can post again, and an error that it throws fails the future")
  func throwing() {
    let future: Future<Int, any Error> = center.future(for: name) { [center, name] _ in
      center.post(name: name, object: nil)
      throw TestError(1)
    }
    center.post(name: name, object: nil)
    #expect(future.peek()?.error as? TestError == TestError(1))
  }

  @Test(
    "R5, R17: a cancelled or resolved future releases the closure, which does not run again",
    arguments: [true, false]
  )
  func release(isCancelled: Bool) {
    let calls = Recorder<Int>()
    weak var captured: Tracked?
    let future: Future<Int, any Error>
    do {
      let object = Tracked()
      captured = object
      future = center.future(for: name) { _ in
        object.use()
        calls.record(1)
        return 1
      }
    }
    #expect(captured != nil)
    if isCancelled { future.cancel() } else { center.post(name: name, object: nil) }
    #expect(captured == nil)
    center.post(name: name, object: nil)
    #expect(calls.events == (isCancelled ? [] : [1]))
    #expect((future.peek()?.error is CancellationError) == isCancelled)
  }

  @Test("R4: a center that is released breaks the promise")
  func centerGoesAway() {
    var center: NotificationCenter? = NotificationCenter()
    weak let observed = center
    let future = center?.future(for: name) { _ in 1 }
    center = nil
    #expect(observed == nil)
    #expect(future?.peek()?.error is BrokenPromise)
  }

  @Test("While threads post and cancel, the closure runs at most once")
  func threads() {
    for round in 0..<TestTier.choose(standard: 100, thorough: 1_000) {
      let (calls, center, name) = (Recorder<Int>(), center, Notification.Name("\(round)"))
      let future = center.future(for: name) { _ in calls.record(1) }
      let post = { @Sendable in center.post(name: name, object: nil) }
      race([post, post, { if round.isMultiple(of: 2) { future.cancel() } }])
      #expect(future.isResolved)
      #expect(calls.events.count <= 1)
    }
  }
}
