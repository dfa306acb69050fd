// Checks the guarantees for client code in Swift 5 mode at run time: isolation after awaits, also in a distributed actor, delivery on
// the main actor, one call of each callback, cancellation. Runs in a module that is nonisolated by default, and in one whose
// default is the main actor.
import Dispatch
import Distributed
import Foundation
import Futures
import FuturesAsync

private struct Refused: Error {}

/// Counts failed checks. Protected by its queue.
final class Checks: @unchecked Sendable {
  nonisolated static let shared = Checks()
  nonisolated(unsafe) private var failed = 0
  nonisolated private let queue = DispatchQueue(label: "checks")

  nonisolated init() {}

  nonisolated func expect(_ condition: Bool, _ rule: String, line: UInt = #line) {
    guard !condition else { return }
    queue.sync { failed += 1 }
    print("line \(line): \(rule)")
  }

  nonisolated var failures: Int { queue.sync { failed } }
}

/// How a future ends.
enum Ending: CaseIterable, Sendable { case success, failure, cancellation, ready }

nonisolated func future(_ ending: Ending) -> Future<Int, any Error> {
  switch ending {
  case .ready: return .succeeded(1)
  case .success: return Future(on: .global()) { 1 }
  case .failure: return Future(on: .global()) { throw Refused() }
  case .cancellation:
    let pending = Future<Int, any Error>.never.timeout(after: .seconds(60))
    DispatchQueue.global().async { pending.cancel() }
    return pending
  }
}

actor Counter {
  private var count = 0

  func run() async -> Int {
    for ending in Ending.allCases {
      do { count += try await future(ending).value } catch { count += 10 }
      preconditionIsolated("R21: after value, \(ending)")
      if case .success(let value) = await future(ending).result { count += value }
      preconditionIsolated("R21: after result, \(ending)")
      do { count += try await future(ending).value(onCancel: .cancel) } catch { count += 10 }
      preconditionIsolated("R22: after value(onCancel:), \(ending)")
      do {
        count += try await withCallback(of: Int.self) { callback in
          future(ending).forward(to: callback.resultHandler)
        }
      } catch { count += 10 }
      preconditionIsolated("R22b: after withCallback, \(ending)")
      do {
        count += try await withCancellationToken { token in
          preconditionIsolated("R24: inside withCancellationToken, \(ending)")
          return try await future(ending).cancelled(by: token).value
        }
      } catch { count += 10 }
      preconditionIsolated("R24: after withCancellationToken, \(ending)")
    }
    let own = Future {
      self.preconditionIsolated("R23: inside Future { }")
      self.count += 100
      return self.count
    }
    return await own.value
  }
}

distributed actor Account {
  typealias ActorSystem = LocalTestingDistributedActorSystem

  private var count = 0

  distributed func run() async throws -> Int {
    for ending in Ending.allCases {
      _ = try? await future(ending).value
      preconditionIsolated("R21: after value in a distributed actor, \(ending)")
    }
    let plain = Future {
      self.preconditionIsolated("R23: inside Future { } in a distributed actor")
      self.count += 1
      await Task.yield()
      self.preconditionIsolated("R23: inside Future { } in a distributed actor, after an await")
    }
    let throwing = Future<Void, any Error> { () async throws in
      self.preconditionIsolated("R23: inside Future { } in a distributed actor")
      self.count += 10
    }
    let immediate: Future<Void, any Error> = .immediate {
      self.preconditionIsolated("R23: inside immediate { } in a distributed actor")
      self.count += 100
    }
    Checks.shared.expect(count == 100, "R23: only the immediate task has run in a distributed actor, \(count)")
    let promise = Promise<Void, any Error>()
    promise.resolve {
      self.preconditionIsolated("R23: inside resolve { } in a distributed actor")
      self.count += 1_000
    }
    await plain.value
    for future in [throwing, immediate, promise.future] { try await future.value }
    preconditionIsolated("R21: after the awaits in a distributed actor")
    return count
  }
}

@MainActor
final class ViewModel {
  private var log: [String] = []

  func run() async {
    for ending in Ending.allCases {
      _ = try? await future(ending).value
      MainActor.preconditionIsolated("R21: after value, \(ending)")
      _ = try? await future(ending).value(onCancel: .abandon)
      MainActor.preconditionIsolated("R22: after value(onCancel:), \(ending)")
      for await _ in future(ending).progress { MainActor.preconditionIsolated("R25: in a loop over progress") }
      MainActor.preconditionIsolated("R25: after the loop")
    }
    let own = Future {
      MainActor.preconditionIsolated("R23: inside Future { }")
      self.log.append("own")
      await Task.yield()
      MainActor.preconditionIsolated("R23: inside Future { } after an await")
    }
    await own.value
    let delivered = Promise<Void, Never>()
    let source = Promise<Int, any Error>()
    for number in 0..<3 {
      source.future.whenSucceeded(on: .main) { value in
        MainActor.preconditionIsolated("R9: on .main")
        self.log.append("\(value + number)")
        if number == 2 { delivered.succeed() }
      }
    }
    let removed = source.future.whenResolved(on: .main) { _ in self.log.append("removed") }
    Checks.shared.expect(removed.remove(), "R7: remove() returns true for a pending callback")
    DispatchQueue.global().async { source.succeed(5) }
    await delivered.future.value
    Checks.shared.expect(log == ["own", "5", "6", "7"], "R2: the callbacks ran in order, once: \(log)")
    let mapped = source.future.map(on: .main) { value -> Int in
      MainActor.preconditionIsolated("transform on .main")
      return value + self.log.count
    }
    Checks.shared.expect(await mapped.result.map { $0 == 9 } == .some(true), "map(on: .main)")
  }
}

extension Result {
  fileprivate func map(_ isRight: (Success) -> Bool) -> Bool? {
    if case .success(let value) = self { isRight(value) } else { nil }
  }
}

nonisolated func callbacksOnQueues() async {
  let queue = DispatchQueue(label: "client")
  let source = Promise<Int, any Error>()
  let (once, order) = (Counted(), Counted())
  for number in 0..<100 {
    source.future.whenResolved(on: .queue(queue)) { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      order.append(number)
    }
  }
  source.future.whenResolved(on: .immediate) { _ in once.append(0) }
  Checks.shared.expect(source.succeed(1), "R1: the first resolution wins")
  Checks.shared.expect(!source.succeed(2), "R1: the second one is ignored")
  queue.sync {}
  Checks.shared.expect(order.items == Array(0..<100), "R2: callbacks on a serial queue run in order")
  Checks.shared.expect(once.items == [0], "R2: a callback runs once")
  var dropped: Promise<Int, any Error>? = Promise()
  let broken = dropped!.future
  dropped = nil
  if case .failure(let error) = await broken.result {
    Checks.shared.expect(error is BrokenPromise, "R4: a dropped promise breaks, not \(error)")
  } else {
    Checks.shared.expect(false, "R4: a dropped promise breaks")
  }
}

nonisolated func cancellation() async {
  let pending = Promise<Int, any Error>()
  let handled = Counted()
  pending.onCancel { handled.append(1) }
  let task = Task { try await pending.future.value }
  task.cancel()
  if case .failure(let error) = await task.result {
    Checks.shared.expect(error is CancellationError, "R22: a cancelled await throws CancellationError, not \(error)")
  }
  Checks.shared.expect(!pending.isResolved, "R22: an abandoned await leaves the future alone")
  pending.future.cancel()
  Checks.shared.expect(handled.items == [1], "R15: cancel() runs onCancel before it returns")
  let began = Promise<Void, Never>()
  let work = Future<Int, any Error> {
    began.succeed()
    try await Task.sleep(nanoseconds: 60_000_000_000)
    return 1
  }
  await began.future.value
  work.cancel()
  if case .failure(let error) = await work.result {
    Checks.shared.expect(error is CancellationError, "R23: cancelling Future { } cancels its task")
  }
}

/// A list that a queue of its own protects.
final class Counted: @unchecked Sendable {
  nonisolated(unsafe) private var list: [Int] = []
  nonisolated private let queue = DispatchQueue(label: "list")
  nonisolated init() {}
  nonisolated func append(_ item: Int) { queue.sync { list.append(item) } }
  nonisolated var items: [Int] { queue.sync { list } }
}

@main
enum Client {
  static func main() async {
    let count = await Counter().run()
    Checks.shared.expect(count == 190, "the counter has \(count), not 190")
    let distributed = try? await Account(actorSystem: LocalTestingDistributedActorSystem()).run()
    Checks.shared.expect(distributed == 1_111, "the distributed actor has \(String(describing: distributed)), not 1111")
    await ViewModel().run()
    await callbacksOnQueues()
    await cancellation()
    guard Checks.shared.failures == 0 else { exit(1) }
    print("The checks of Swift 5 mode at run time passed.")
  }
}
