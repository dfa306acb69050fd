import AllocationCounter
import Futures

extension Variant {
  /// B8: what one pending promise, its future and one callback with a captured word keep alive.
  ///
  /// A thousand of them are held in arrays that were made before; the row has no time.
  @Sendable
  static func liveMemory(_ harness: Harness) -> [Row] {
    let ours = live("ours") { index in
      let promise = makePromise()
      let future = promise.future
      future.whenResolved(on: .immediate) { Sink.add($0, plus: index) }
      return (promise, future)
    }
    let floor = live("lock and slot by hand") { index in
      let promise = makeHandPromise()
      promise.future.whenResolved { Sink.add($0, plus: index) }
      return (promise, promise.future)
    }
    return [
      Row(
        name: "B8" + suffix,
        work: "live bytes and blocks of one pending promise, its future and a callback",
        ours: ours,
        floors: [floor],
        budget: [.bytes(192), .liveBlocks(4)]
      )
    ]
  }
}

/// Makes a thousand things, keeps them, and says how many blocks and bytes each keeps alive.
private func live<Thing>(_ name: String, _ make: (Int) -> Thing) -> Measurement {
  AllocationCounts.setEnabled(true)
  defer { AllocationCounts.setEnabled(false) }
  let count = 1_000
  var things: [Thing] = []
  things.reserveCapacity(count + 1)
  // The first one makes the runtime's metadata.
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
