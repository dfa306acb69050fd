import Foundation
import Futures
import Synchronization

extension Variant {
  /// C8: one thread attaches a callback while another succeeds, both let go by one rendezvous.
  ///
  /// Making and releasing the promise and the rendezvous are in the time; the second floor shows the latter alone. The row
  /// needs two idle cores: where another process has one of them, the two threads wait for each other's time slices.
  @Sendable
  static func raceOfAttachAndSucceed(_ harness: Harness) -> [Row] {
    let ours = Body.synchronous { rounds in
      let before = Sink.total
      race(
        rounds,
        make: makePromise,
        here: { promise, index in promise.future.whenResolved(on: .immediate) { Sink.add($0, plus: index) } },
        there: { $0.succeed(Value.make(1 - $1)) }
      )
      precondition(Sink.total - before == sum(of: rounds), "A callback was lost in the race, or ran twice.")
    }
    let handOff = Body.synchronous { rounds in
      let before = Sink.total
      race(
        rounds,
        make: makeHandPromise,
        here: { promise, index in promise.future.whenResolved { Sink.add($0, plus: index) } },
        there: { $0.succeed(Value.make(1 - $1)) }
      )
      precondition(Sink.total - before == sum(of: rounds), "A callback was lost in the race, or ran twice.")
    }
    let nothing = Arrivals()
    let rendezvous = Body.synchronous { rounds in
      race(rounds, make: { nothing }, here: { _, _ in }, there: { _, _ in })
    }
    return [
      harness.measure(
        "C8" + suffix,
        "two threads race: one attaches a callback, one succeeds",
        ours: ours,
        floors: [
          Contender("locked hand-off by hand", handOff),
          Contender("empty rendezvous (far above ×4: another process has a core)", rendezvous),
        ],
        budget: [.timesBaseline(12)]
      )
    ]
  }

  /// What the callbacks of that many rounds add up to.
  private static func sum(of rounds: Int) -> Int {
    func sum(_ indices: Range<Int>) -> Int { indices.reduce(0) { $0 + Value.make(1 - $1).word + $1 } }
    return rounds / batch * sum(0..<batch) + sum(0..<rounds % batch)
  }
}

/// How many racers are made at a time, before the two threads race for one after the other.
private let batch = 100

/// Runs `here` and `there` on each of many new objects at the same time, on this thread and a second one.
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
      meet(&meetings, track.there, track.here)
      for (index, racer) in track.racers.enumerated() {
        meet(&meetings, track.there, track.here)
        racer._withUnsafeGuaranteedRef { there($0, index) }
      }
      meet(&meetings, track.there, track.here)
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
/// It spins, because a rendezvous through the system would take longer than the race, and yields where the partner is
/// not running at all.
@inline(__always)
private func meet(_ meetings: inout Int, _ own: Arrivals, _ partner: Arrivals) {
  meetings += 1
  // Releasing: what this thread did before comes before what the partner does next.
  own.count.store(meetings, ordering: .releasing)
  var spins = 0
  // Acquiring: pairs with the releasing store of the partner.
  while partner.count.load(ordering: .acquiring) < meetings {
    spins += 1
    if spins > 1_000 { sched_yield() }
  }
}

/// How often one thread has come to a meeting, with padding that keeps it off the other one's cache line.
private final class Arrivals: Sendable {
  let count = Atomic<Int>(0)
  private let padding: (Int, Int, Int, Int, Int, Int, Int, Int) = (0, 0, 0, 0, 0, 0, 0, 0)
}

/// What the two threads share.
// Unchecked because of `racers`: this thread writes it between the last meeting of one batch and the first of the next,
// and the other thread reads it only after that one and before that last one.
private final class Track<Racer: AnyObject & Sendable>: @unchecked Sendable {
  let here = Arrivals()
  let there = Arrivals()
  /// Unmanaged, because two threads that own something each have their reference before they race, and do not fight over
  /// the reference count as they would in reading an array.
  var racers: [Unmanaged<Racer>] = []
}
