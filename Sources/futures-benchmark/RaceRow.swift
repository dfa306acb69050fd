import Foundation
import Futures

extension Rows {
  /// C8: one thread attaches a callback while a second thread succeeds; a rendezvous starts both.
  ///
  /// The time includes the rendezvous, and making and releasing the promise. The row needs two idle cores: otherwise the
  /// threads wait for each other's time slices.
  @Sendable
  static func raceOfAttachAndSucceed(_ harness: Harness) -> Row {
    let ours = Body.synchronous { rounds in
      let before = Sink.total
      race(
        rounds,
        make: makePromise,
        here: { promise, index in promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) } },
        there: { $0.succeed(1 - $1) }  // the callback adds the index to this value, so each callback adds 1
      )
      precondition(Sink.total - before == rounds, "A callback was lost in the race, or ran twice.")
    }
    let handOff = Body.synchronous { rounds in
      let before = Sink.total
      race(
        rounds,
        make: makeHandPromise,
        here: { promise, index in promise.future.whenResolved { Sink.add($0, plus: index) } },
        there: { $0.succeed(1 - $1) }
      )
      precondition(Sink.total - before == rounds, "A callback was lost in the race, or ran twice.")
    }
    return harness.measure(
      "C8",
      "two threads race: one attaches a callback, one succeeds",
      ours: ours,
      floor: Contender("promise and future by hand", handOff),
      budget: [.timesFloor(1.1), .allocations(3.5)]  // above 3: the thread and the arrays of racers count, too
    )
  }
}

/// The number of objects that exist at a time; the two threads race for one object after the other.
private let batch = 100

/// Runs `here` on this thread and `there` on a second thread at the same time, on each of many new objects.
@inline(__always)
private func race<Racer: AnyObject & Sendable>(
  _ rounds: Int,
  make: () -> Racer,
  here: (Racer, Int) -> Void,
  there: @escaping @Sendable (Racer, Int) -> Void
) {
  let track = Track<Racer>()
  let batches = stride(from: 0, to: rounds, by: batch).map { min(batch, rounds - $0) }
  let isOver = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    var meetings = 0
    for _ in batches {
      meet(&meetings, track.there, track.here)  // the racers exist
      for (index, racer) in track.racers.enumerated() {
        meet(&meetings, track.there, track.here)
        racer._withUnsafeGuaranteedRef { there($0, index) }  // does not count the reference: see `Track`
      }
      meet(&meetings, track.there, track.here)  // both threads are done with them
    }
    isOver.signal()
  }
  var meetings = 0
  for size in batches {
    track.racers = (0..<size).map { _ in Unmanaged.passRetained(make()) }
    meet(&meetings, track.here, track.there)
    for (index, racer) in track.racers.enumerated() {
      meet(&meetings, track.here, track.there)
      racer._withUnsafeGuaranteedRef { here($0, index) }
    }
    meet(&meetings, track.here, track.there)
    for racer in track.racers { racer.release() }
  }
  isOver.wait()
}

/// Returns when both threads have come to the same meeting.
///
/// Spins, because a rendezvous through the system takes longer than the race. After 1,000 spins it also yields to the system,
/// because the partner might have no core.
@inline(__always)
private func meet(_ meetings: inout Int, _ own: Arrivals, _ partner: Arrivals) {
  meetings += 1
  own.count.store(meetings, ordering: .releasing)  // publishes this thread's writes to the partner
  var spins = 0
  // Acquiring: pairs with the releasing store of the partner.
  while partner.count.load(ordering: .acquiring) < meetings {
    spins += 1
    if spins > 1_000 { sched_yield() }
  }
}

/// The number of meetings of one thread; the padding keeps it off the partner's cache line.
private final class Arrivals: Sendable {
  let count = Atomic<Int>(0)
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
}

/// The state that the two threads share.
// @unchecked: one thread writes `racers` between the last meeting of a batch and the first meeting of the next batch. The
// other thread reads it between the first and the last meeting of a batch.
private final class Track<Racer: AnyObject & Sendable>: @unchecked Sendable {
  let here = Arrivals()
  let there = Arrivals()
  /// Unmanaged: reading an array of references would count them, and the threads would compete for the reference counts.
  var racers: [Unmanaged<Racer>] = []
}
