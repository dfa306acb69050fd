import Foundation
import Futures
import FuturesAsync
import FuturesFoundation
import TestSupport
import Testing

@Suite("A notification as a future")
struct NotificationCenterTests {
  private let center = NotificationCenter()
  private let name = Notification.Name("a name")

  @Test("The future resolves with the next notification, on the posting thread, and ignores later ones")
  func next() {
    let calls = Recorder<Int>()
    let future = center.future(for: name) { notification in
      let number = notification.userInfo?["number"] as? Int ?? 0
      calls.record(number)
      return number
    }
    center.post(name: Notification.Name("another"), object: nil, userInfo: ["number": 1])
    #expect(!future.isResolved)
    center.post(name: name, object: nil, userInfo: ["number": 2])
    #expect(future.peek()?.value == 2)
    center.post(name: name, object: nil, userInfo: ["number": 3])
    #expect(future.peek()?.value == 2)
    #expect(calls.events == [2])
  }

  @Test("The future of an object ignores notifications of other objects")
  func object() {
    let (object, other) = (Tracked(), Tracked())
    let future = center.future(for: name, object: object) { _ in 1 }
    center.post(name: name, object: other)
    #expect(!future.isResolved)
    center.post(name: name, object: object)
    #expect(future.peek()?.value == 1)
  }

  @Test("An error that the closure throws fails the future")
  func throwing() {
    let future: Future<Int, any Error> = center.future(for: name) { _ in throw TestError(1) }
    center.post(name: name, object: nil)
    #expect(future.peek()?.error as? TestError == TestError(1))
  }

  @Test("R5, R17: a cancelled future removes its observer and releases the closure, which never runs")
  func cancel() {
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
    future.cancel()
    #expect(future.peek()?.error is CancellationError)
    #expect(captured == nil)
    center.post(name: name, object: nil)
    #expect(calls.events == [])
  }

  @Test("R5: a resolved future releases the closure, and the future itself keeps nothing alive")
  func release() {
    weak var captured: Tracked?
    let future: Future<Int, any Error>
    do {
      let object = Tracked()
      captured = object
      future = center.future(for: name) { _ in
        object.use()
        return 1
      }
    }
    center.post(name: name, object: nil)
    #expect(future.isResolved)
    #expect(captured == nil)
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

  @Test("The closure can post again without a deadlock")
  func postsAgain() {
    let future = center.future(for: name) { [center, name] _ in
      center.post(name: name, object: nil)
      return 1
    }
    center.post(name: name, object: nil)
    #expect(future.peek()?.value == 1)
  }

  @Test("While threads post and cancel, the closure runs at most once, and no misuse is reported")
  func threads() {
    for round in 0..<300 {
      let calls = Recorder<Int>()
      let center = center
      let name = Notification.Name("\(round)")
      let future = center.future(for: name) { _ in
        calls.record(1)
        return 1
      }
      race([
        { center.post(name: name, object: nil) },
        { center.post(name: name, object: nil) },
        { if round.isMultiple(of: 2) { future.cancel() } },
      ])
      #expect(future.isResolved)
      #expect(calls.events.count <= 1)
      if future.peek()?.value != nil { #expect(calls.events.count == 1) }
    }
  }
}
