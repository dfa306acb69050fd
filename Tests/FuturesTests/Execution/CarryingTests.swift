internal import Dispatch
internal import Futures
internal import FuturesTesting
internal import TestSupport
internal import Testing

private enum Request {
  @TaskLocal static var id = "none"
  @TaskLocal static var user = "nobody"
}

struct CarryingTests {
  @Test("A callback sees the named local as it was where the context was made, and no other")
  func named() {
    let seen = Locked<[String]>([])
    let promise = Promise<Int, Never>()
    Request.$id.withValue("42") {
      Request.$user.withValue("ada") {
        promise.future.whenResolved(on: .immediate) { _ in seen.withLock { $0.append("plain \(Request.id)") } }
        promise.future.whenResolved(on: ExecutionContext.immediate.carrying(Request.$id)) { _ in
          seen.withLock { $0.append("one \(Request.id) \(Request.user)") }
        }
        promise.future.whenResolved(on: ExecutionContext.immediate.carrying(Request.$id).carrying(Request.$user)) { _ in
          seen.withLock { $0.append("both \(Request.id) \(Request.user)") }
        }
      }
    }
    promise.succeed(1)
    #expect(seen.withLock { $0 } == ["plain none", "one 42 nobody", "both 42 ada"])
    #expect(Request.id == "none")
  }

  @Test("On a queue and on a virtual clock, the work and the timers see the local, and the timer can be cancelled")
  func contexts() async {
    let kit = ManualContext()
    let context = Request.$id.withValue("7") { kit.context.carrying(Request.$id) }
    let seen = Locked<[String]>([])
    let after = Future.after(.seconds(5), on: context).map { Request.id }
    let cancelled = Future.after(.seconds(5), on: context)
    cancelled.cancel()
    after.whenSucceeded(on: .immediate) { id in seen.withLock { $0.append(id) } }
    #expect(seen.withLock { $0.isEmpty })
    kit.advance(by: .seconds(5))
    #expect(seen.withLock { $0 } == ["7"])
    let queue = Request.$id.withValue("8") { ExecutionContext.global().carrying(Request.$id) }
    let mapped = Future<Int, Never>.succeeded(1).map(on: queue) { _ in Request.id }
    let id = await withUnsafeContinuation { done in
      mapped.whenSucceeded(on: .immediate) { done.resume(returning: $0) }
    }
    #expect(id == "8")
  }

  @Test("On the main actor, a callback sees the local, and removed work releases it")
  @MainActor func main() async {
    let promise = Promise<Int, Never>()
    let seen = Locked<[String]>([])
    let context = Request.$id.withValue("9") {
      MainContext.main.carrying(Request.$id).carrying(Request.$user)
    }
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      promise.future.whenResolved(on: context) { _ in
        seen.withLock { $0.append(Request.id) }
        done.resume()
      }
      promise.succeed(1)
    }
    #expect(seen.withLock { $0 } == ["9"])
  }
}
