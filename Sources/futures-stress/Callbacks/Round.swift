import Dispatch
import Foundation
import Futures
import FuturesTesting
import FuturesAsync
import Synchronization

/// One round: all threads use the same futures, and then all futures are resolved.
struct Round: Sendable {
  let options: StressOptions
  let number: Int
  let ledger: Ledger

  /// The context of callbacks that do not run inline.
  let queue = DispatchQueue(label: "stress", attributes: .concurrent)

  /// The tasks that have not ended.
  let tasks = DispatchGroup()

  init(_ options: StressOptions, number: Int, ledger: Ledger) {
    self.options = options
    self.number = number
    self.ledger = ledger
  }

  func run() {
    let places = (0..<options.futures).map { _ in Place() }
    onThreads { thread in
      var random = SplitMix64(seed: options.seed &+ UInt64(number) &* 1_000 &+ UInt64(thread))
      for _ in 0..<options.operations { operate(on: places.randomElement(using: &random)!, &random) }
    }
    onThreads { thread in
      for index in stride(from: thread, to: places.count, by: options.threads) {
        // Drops every second promise.
        let promise = places[index].takePromise()
        if index.isMultiple(of: 2) { promise?.succeed(index) }
      }
    }
    tasks.wait()
    // Work on the queue can submit more work behind the barrier: a transform submits its callback, which submits nothing.
    for _ in 0..<2 { queue.sync(flags: .barrier) {} }
  }

  /// Performs one random operation on the future at `place`.
  private func operate(on place: Place, _ random: inout SplitMix64) {
    let future = place.future
    switch random.next(below: 16) {
    case 0...3: attach(to: future, &random)
    case 4...5: removeAgain(from: future, &random)
    case 6...7: derive(from: future, &random)
    case 8: wait(for: future, isCancelled: random.next(below: 2) == 0)
    case 9...10: place.promise?.progress.report(completed: 1, of: 2)
    case 11: place.follow(&random)
    case 12...13: place.takePromise()?.succeed(1)
    case 14: future.cancel()
    default: _ = place.takePromise()
    }
  }

  private func context(_ random: inout SplitMix64) -> ExecutionContext {
    random.next(below: 2) == 0 ? .immediate : .queue(queue)
  }

  private func attach(to future: Future<Int, any Error>, _ random: inout SplitMix64) {
    let ticket = ledger.callback()
    future.whenResolved(on: context(&random)) { _ in ticket.run() }
  }

  private func removeAgain(from future: Future<Int, any Error>, _ random: inout SplitMix64) {
    let ticket = ledger.callback()
    let registration = future.whenResolved(on: context(&random)) { _ in ticket.run() }
    // Keeps the ticket until its removal is recorded.
    if registration.remove() { ticket.remove() }
  }

  private func derive(from future: Future<Int, any Error>, _ random: inout SplitMix64) {
    let (transform, callback) = (ledger.transform(), ledger.callback())
    let derived =
      switch random.next(below: 3) {
      case 0:
        future.map { value -> Int in
          transform.run()
          return value + 1
        }
      case 1:
        future.map(on: context(&random)) { value -> Int in
          transform.run()
          return value + 1
        }
      default:
        future.flatMap { value -> Future<Int, any Error> in
          transform.run()
          return .succeeded(value)
        }
      }
    derived.whenResolved(on: context(&random)) { _ in callback.run() }
    if random.next(below: 2) == 0 { derived.cancel() }
  }

  private func wait(for future: Future<Int, any Error>, isCancelled: Bool) {
    ledger.noteAwait()
    tasks.enter()
    let task = Task.detached {
      _ = try? await future.value
      ledger.noteEndOfAwait()
      tasks.leave()
    }
    if isCancelled { task.cancel() }
  }

  /// Runs `work` on all threads at the same time, and waits for them.
  private func onThreads(_ work: @escaping @Sendable (_ number: Int) -> Void) {
    let group = DispatchGroup()
    let work = HandedWork(work)
    for thread in 0..<options.threads {
      group.enter()
      Thread.detachNewThread {
        work.run(thread)
        group.leave()
      }
    }
    group.wait()
    work.release()
  }
}

/// Work that is released when all threads have done it: an ending thread can keep its closure for a while.
private final class HandedWork: Sendable {
  // Not a `Mutex`, which ThreadSanitizer reports as a race when threads wait for it.
  private let work: Locked<(@Sendable (Int) -> Void)?>

  init(_ work: @escaping @Sendable (Int) -> Void) { self.work = Locked(work) }

  func run(_ thread: Int) { work.withLock { $0 }?(thread) }

  func release() { work.withLock { $0 = nil } }
}
