import AllocationCounter
import Futures

extension Rows {
  /// B8: the live memory of one pending promise, its future and one callback that captures a word.
  ///
  /// An array, allocated before, holds a thousand of them. The row has no time.
  @Sendable
  static func liveMemory(_ harness: Harness) -> Row {
    typealias Live = (promise: Promise<Value, Failure>, future: Future<Value, Failure>, callback: Registration)
    let ours = live("ours") { index -> Live in
      let promise = makePromise()
      let future = promise.future
      let registration = future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
      return (promise, future, registration)
    }
    let floor = live("lock and slot by hand") { index in
      let promise = makeHandPromise()
      promise.future.whenResolved { Sink.add($0, plus: index) }
      return (promise, promise.future)
    }
    return Row(
      name: "B8",
      work: "live bytes and blocks of one pending promise, its future and a callback",
      ours: ours,
      floor: floor,
      budget: [.bytes(184), .allocations(3)]
    )
  }
}

/// Makes a thousand things, and returns the mean number of live blocks and bytes per thing.
private func live<Thing>(_ name: String, _ make: (Int) -> Thing) -> Measurement {
  AllocationCounts.setEnabled(true)
  defer { AllocationCounts.setEnabled(false) }
  let count = 1_000
  var things: [Thing] = []
  things.reserveCapacity(count + 1)
  // The runtime allocates its metadata for the first thing.
  things.append(make(0))
  let before = AllocationCounts.ofThread()
  for index in 0..<count { things.append(make(index)) }
  let counts = AllocationCounts.ofThread() - before
  return withExtendedLifetime(things) {
    Measurement(
      name: name,
      allocations: Double(counts.liveBlocks) / Double(count),
      bytes: Double(counts.liveBytes) / Double(count)
    )
  }
}
