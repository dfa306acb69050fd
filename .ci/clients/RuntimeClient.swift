// Checks at run time what depends on a client's mode, in Swift 5 mode: isolation after awaits, also in a distributed actor, and
// delivery on the main actor. Runs in a module that is nonisolated by default, and in one whose default is the main actor.
import Dispatch
import Distributed
import Futures
import FuturesAsync

private struct Refused: Error {}

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
    precondition(count == 100, "R23: only the immediate task has run in a distributed actor, \(count)")
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
    let source = Promise<Int, any Error>()
    source.future.whenSucceeded(on: .main) { value in
      MainActor.preconditionIsolated("R9: a callback on .main")
      self.log.append("\(value)")
    }
    let mapped = source.future.map(on: .main) { value in
      MainActor.preconditionIsolated("R9: a transform on .main")
      return value + self.log.count
    }
    DispatchQueue.global().async { source.succeed(5) }
    let sum = try? await mapped.value
    precondition(sum == 7 && log == ["own", "5"], "R2: the callbacks ran in order, once: \(log)")
  }
}

@main
enum Client {
  static func main() async {
    let count = await Counter().run()
    precondition(count == 190, "the counter has \(count), not 190")
    let distributed = try? await Account(actorSystem: LocalTestingDistributedActorSystem()).run()
    precondition(distributed == 1_111, "the distributed actor has \(String(describing: distributed)), not 1111")
    await ViewModel().run()
    print("The checks of Swift 5 mode at run time passed.")
  }
}
