import AllocationCounter

/// Something that is measured in a row: ours, or a floor to compare it with.
struct Contender: Sendable {
  let name: String
  let body: Body

  init(_ name: String, _ body: Body) {
    self.name = name
    self.body = body
  }
}

/// Measures rows: A, ours, the floors and A again in each sample, and the median over all samples.
struct Harness: Sendable {
  /// Few and short samples: shows that every row runs, not how fast.
  let isQuick: Bool
  /// Whether times are measured, or allocations alone.
  let isTimed: Bool

  private var samples: Int
  private var shortestSample: Double { isQuick ? 500_000 : 5_000_000 }

  init(isQuick: Bool, isTimed: Bool) {
    self.isQuick = isQuick
    self.isTimed = isTimed
    samples = isQuick ? 3 : 18
  }

  /// The same with fewer samples, for rows that have many sizes, some of which take a second.
  var withFewSamples: Harness {
    var harness = self
    harness.samples = min(samples, 7)
    return harness
  }

  /// Measures one row.
  ///
  /// - Parameters:
  ///   - name: The row of PERFORMANCE.md, and which variant of it.
  ///   - work: One operation, in words.
  ///   - parts: By how much to divide, where an operation has many equal parts: stages, callbacks, steps.
  ///   - ours: The library at work.
  ///   - floors: The same work by hand, or by the language's own means. The first one is the floor of the budget.
  ///   - budget: The limits of PERFORMANCE.md.
  /// - Returns: The row to report.
  func measure(
    _ name: String,
    _ work: String,
    parts: Int = 1,
    ours: Body,
    floors: [Contender] = [],
    budget: [Limit]
  ) -> Row {
    let contenders = [Contender("ours", ours)] + floors
    let times = isTimed ? time(contenders.map(\.body)) : contenders.map { _ in Times(repetitions: 0) }
    let measurements = zip(contenders, times).map { contender, times in
      let counts = count(contender.body, repetitions: max(1, min(1_000, 10_000 / parts)))
      return Measurement(
        name: contender.name,
        nanoseconds: median(times.nanoseconds).map { $0 / Double(parts) },
        timesBaseline: median(times.ratios).map { $0 / Double(parts) },
        allocations: counts.allocations / Double(parts),
        bytes: counts.bytes / Double(parts),
        bytesLeft: counts.bytesLeft
      )
    }
    var timesFloor: Double?
    if times.count > 1 {
      timesFloor = median(zip(times[0].nanoseconds, times[1].nanoseconds).map { $0 / $1 })
    }
    return Row(
      name: name,
      work: work,
      ours: measurements[0],
      floors: Array(measurements.dropFirst()),
      timesFloor: timesFloor,
      budget: isTimed ? budget : budget.filter(\.isOfAllocations)
    )
  }

  /// The cost of A itself, for the head of the table.
  func baseline() -> Row {
    measure("A", "allocate and release a final class with four words", ours: FourWords.baseline, budget: [])
  }

  /// The samples of one contender, each for one repetition.
  private struct Times {
    let repetitions: Int
    var nanoseconds: [Double] = []
    var ratios: [Double] = []
  }

  private func time(_ bodies: [Body]) -> [Times] {
    let baselineRepetitions = calibrate(FourWords.baseline)
    func baseline() -> Double { FourWords.baseline.nanoseconds(baselineRepetitions) / Double(baselineRepetitions) }
    var times = bodies.map { Times(repetitions: calibrate($0)) }
    for _ in 0..<samples {
      let before = baseline()
      let sample = zip(bodies, times).map { $0.nanoseconds($1.repetitions) / Double($1.repetitions) }
      let unit = (before + baseline()) / 2
      for index in times.indices {
        times[index].nanoseconds.append(sample[index])
        times[index].ratios.append(sample[index] / unit)
      }
    }
    return times
  }

  /// The number of repetitions that make a sample long enough; warms the body up on the way.
  private func calibrate(_ body: Body) -> Int {
    var repetitions = 1
    while true {
      var nanoseconds = body.nanoseconds(repetitions)
      // Twice, so that one run that the system interrupted is not taken for a long one.
      if nanoseconds >= shortestSample { nanoseconds = min(nanoseconds, body.nanoseconds(repetitions)) }
      if nanoseconds >= shortestSample { return repetitions }
      // A little more than needed, at most tenfold, because the first repetitions are the slowest.
      let growth = min(10, max(1.2, 1.2 * shortestSample / max(nanoseconds, 1)))
      repetitions = Int((Double(repetitions) * growth).rounded(.up))
    }
  }

  /// Allocations and bytes of one repetition, and the bytes that all of them left.
  ///
  /// Of three readings, because the runtime allocates now and then for itself: the least, and for what is left the median.
  private func count(_ body: Body, repetitions: Int) -> (allocations: Double, bytes: Double, bytesLeft: Int) {
    _ = body.allocations(repetitions)
    let readings = (0..<3).map { _ in body.allocations(repetitions) }
    return (
      Double(readings.map(\.allocations).min() ?? 0) / Double(repetitions),
      Double(readings.map(\.allocatedBytes).min() ?? 0) / Double(repetitions),
      Int(median(readings.map { Double($0.liveBytes) }) ?? 0)
    )
  }
}

/// The middle value, or the mean of the two in the middle; nil if there are none.
private func median(_ values: [Double]) -> Double? {
  if values.isEmpty { return nil }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
