internal import Dispatch
internal import Foundation
public import Futures

extension ExecutionContext {
  /// A context that runs each work item on a new thread, for work that blocks.
  ///
  /// A blocked thread of a queue delays all other work of that queue. All Swift tasks share as many threads as the
  /// machine has processors.
  public static var newThread: ExecutionContext { ExecutionContext { work in Thread.detachNewThread(work) } }
}

/// Runs `body` within as many nested inline deliveries as `depth` says.
public func nestDeliveries(_ depth: Int, _ body: @escaping @Sendable () -> Void) {
  guard depth > 0 else { return body() }
  Future.succeeded(depth).whenResolved(on: .immediate) { _ in nestDeliveries(depth - 1, body) }
}

/// Suspends until all work that is in the main queue now has run.
public func mainQueueTurn() async {
  await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
}

/// Runs `body` on a new thread and does not wait for it.
///
/// For test modules that do not import Foundation.
public func startThread(_ body: @escaping @Sendable () -> Void) { Thread.detachNewThread(body) }

/// Runs `body` on a thread with a stack of the given size and waits for it.
public func onThread(stackSize: Int = 512 * 1024, _ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    body()
    done.signal()
  }
  thread.stackSize = stackSize
  thread.start()
  done.wait()
}

/// Runs each body on its own thread, starts all at the same time, and waits for them and for the work that they hand on (R28).
public func race(_ bodies: [@Sendable () -> Void]) {
  let ready = DispatchGroup()
  let start = DispatchSemaphore(value: 0)
  let done = DispatchGroup()
  @Sendable func handOn(_ work: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(group: done) {
      let previous = Trampoline.current.setElsewhere(handOn)
      work()
      _ = Trampoline.current.setElsewhere(previous)
    }
  }
  for body in bodies {
    ready.enter()
    done.enter()
    Thread {
      ready.leave()
      start.wait()
      _ = Trampoline.current.setElsewhere(handOn)
      body()
      done.leave()
    }.start()
  }
  ready.wait()
  for _ in bodies { start.signal() }
  done.wait()
}
