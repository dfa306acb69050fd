import Futures
import TestSupport
import Testing

@Suite("Promises by key, races")
struct PendingPromisesRaceTests {
  typealias Races = CancellationRaceTests

  @Test(
    "R1, R17: asking, cancelling and answering race; every caller ends once, or gets the next answer"
  )
  func askCancelResolve() throws {
    try Races.rounds { object in
      let (started, calledOff, ends) = (Recorder<Int>(), Recorder<Int>(), Recorder<Int>())
      let pending = PendingPromises<Int, Tracked, any Error> { key in
        object.use()
        calledOff.record(key)
      }
      let ask: @Sendable (Int) -> Future<Tracked, any Error> = { number in
        let future = pending.future(for: 1) { started.record(number) }
        future.whenResolved(on: .immediate) { _ in
          object.use()
          ends.record(number)
        }
        return future
      }
      let futures = Recorder<Future<Tracked, any Error>>()
      let early = (0..<2).map(ask)
      Races.race([
        { for number in 2..<6 { futures.record(ask(number)) } },
        { for number in 6..<10 { ask(number).cancel() } },
        { for future in early { future.cancel() } },
        { for _ in 0..<3 { pending.resolve(1, with: .success(object)) } },
      ])
      pending.resolve(1, with: .success(object))
      try #require(ends.events.sorted() == Array(0..<10))
      try #require(pending.count == 0)
      for future in futures.events { try #require(Races.end(of: future) == .value) }
      // `onCancel` runs at most once for each start.
      try #require(calledOff.events.count <= started.events.count)
    }
  }

  @Test("R17: when the last two callers leave at the same time, `onCancel` runs once")
  func onCancelRunsOnceForTwoLeavingCallers() throws {
    try Races.rounds { object in
      let calledOff = Recorder<Int>()
      let pending = PendingPromises<Int, Int, any Error> { key in
        object.use()
        calledOff.record(key)
      }
      let futures = (0..<2).map { _ in pending.future(for: 7) }
      Races.race(futures.map { future in { future.cancel() } })
      try #require(calledOff.events == [7])
      try #require(pending.count == 0)
    }
  }

  @Test("R17: an answer races with the cancellation of the only caller: the caller gets it, or `onCancel` runs")
  func answerRacesWithCancellation() throws {
    try Races.rounds { object in
      let (calledOff, answered) = (Recorder<Int>(), Recorder<Bool>())
      let pending = PendingPromises<Int, Tracked, any Error> { calledOff.record($0) }
      let future = pending.future(for: 1)
      Races.race([
        { future.cancel() },
        { answered.record(pending.resolve(1, with: .success(object))) },
      ])
      try #require(answered.events.count + calledOff.events.count == (answered.events == [false] ? 2 : 1))
      if !calledOff.events.isEmpty {
        try #require(answered.events == [false])
        try #require(Races.end(of: future) == .cancelled)
      }
      try #require(pending.count == 0)
    }
  }

  @Test("R4, R17: dropping the object races with cancelling its callers")
  func dropRacesWithCancellation() throws {
    try Races.rounds { object in
      let calledOff = Recorder<Int>()
      let box = Locked<PendingPromises<Int, Int, any Error>?>(
        PendingPromises { key in
          object.use()
          calledOff.record(key)
        }
      )
      let futures = (0..<4).map { key in box.withLock { $0! }.future(for: key) }
      Races.race([
        { for future in futures { future.cancel() } },
        {
          let dropped = box.withLock { $0.take() }
          _ = dropped  // released here, outside the lock
        },
      ])
      let ends = futures.map(Races.end(of:))
      try #require(ends.allSatisfy { $0 == .cancelled || $0 == .broken })
      try #require(calledOff.events.count <= ends.count { $0 == .cancelled })
    }
  }
}
