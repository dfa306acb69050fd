import AllocationCounter

/// One measured body of a row: the library's, or a floor.
struct Contender: Sendable {
  let name: String
  let body: Body

  init(_ name: String, _ body: Body) {
    self.name = name
    self.body = body
  }
}

/// Measures rows.
///
/// Each sample runs the library's body and the floor. The result is the median of all samples.
struct Harness: Sendable {
  /// Few, short samples and smaller sizes: for a check that every row runs.
  let isQuick: Bool
  /// Whether the harness measures times, or only allocations.
  let isTimed: Bool

  /// The row to run without a measurement; `nil` to measure all rows.
  private let repetition: Repetition?

  private var samples: Int
  private var shortestSample: Double { isQuick ? 500_000 : 5_000_000 }  // nanoseconds

  init(isQuick: Bool, isTimed: Bool) {
    self.isQuick = isQuick
    self.isTimed = isTimed
    repetition = nil
    samples = isQuick ? 3 : 18
  }

  /// Makes a harness that runs only the row of `repetition`, in its smaller size, and measures nothing.
  init(repeating repetition: Repetition) {
    (isQuick, isTimed, samples) = (true, false, 0)
    self.repetition = repetition
  }

  /// The harness with fewer samples, for rows with many sizes: some sizes take a second.
  var withFewSamples: Harness {
    var harness = self
    harness.samples = min(samples, 7)
    return harness
  }

  /// Measures one row.
  /// - Parameters:
  ///   - name: The name of the row, such as C2.
  ///   - work: Describes one operation.
  ///   - parts: The number of equal parts of an operation, such as stages, callbacks or steps. All costs are per part.
  ///   - ours: The work, with the library.
  ///   - floor: The same work by hand, or with the means of the language.
  ///   - budget: The limits of the row.
  /// - Returns: The row to report.
  func measure(
    _ name: String,
    _ work: String,
    parts: Int = 1,
    ours: Body,
    floor: Contender? = nil,
    budget: [Limit] = []
  ) -> Row {
    if let repetition {
      // Measures nothing: runs the row if it is the one to repeat.
      let none = Measurement(name: "ours", allocations: 0, bytes: 0)
      let operations = repetition.run(name, parts: parts, ours)
      return Row(name: name, work: work, ours: none, repeatedOperations: operations, budget: [])
    }
    let contenders = [Contender("ours", ours)] + (floor.map { [$0] } ?? [])
    let times = isTimed ? time(contenders.map(\.body)) : contenders.map { _ in Times(repetitions: 0) }
    let measurements = zip(contenders, times).map { contender, times in
      let repetitions = max(1, min(1_000, 10_000 / parts))  // fewer for long operations
      let counts = count(contender.body, repetitions: repetitions)
      return Measurement(
        name: contender.name,
        nanoseconds: median(times.nanoseconds).map { $0 / Double(parts) },
        allocations: counts.allocations / Double(parts),
        bytes: counts.bytes / Double(parts),
        bytesLeft: counts.bytesLeft  // of all repetitions, because the rows that limit it allow none
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
      floor: measurements.dropFirst().first,
      timesFloor: timesFloor,
      budget: isTimed ? budget : budget.filter(\.isOfAllocations)
    )
  }

  /// The samples of one contender: for each, the mean time of its `repetitions`.
  private struct Times {
    let repetitions: Int
    var nanoseconds: [Double] = []
  }

  /// Takes the samples of all contenders in turn, so that a slow moment affects all of them.
  private func time(_ bodies: [Body]) -> [Times] {
    var times = bodies.map { Times(repetitions: calibrate($0)) }
    for _ in 0..<samples {
      for (index, body) in bodies.enumerated() {
        let repetitions = times[index].repetitions
        times[index].nanoseconds.append(body.nanoseconds(repetitions) / Double(repetitions))
      }
    }
    return times
  }

  /// Warms the body up, and returns the number of repetitions of one sample.
  private func calibrate(_ body: Body) -> Int {
    var repetitions = 1
    while true {
      var nanoseconds = body.nanoseconds(repetitions)
      // Twice, because the system can interrupt one of the runs.
      if nanoseconds >= shortestSample { nanoseconds = min(nanoseconds, body.nanoseconds(repetitions)) }
      if nanoseconds >= shortestSample { return repetitions }
      // A fifth more than seems necessary, but at most tenfold, because the first repetitions are the slowest.
      let growth = min(10, 1.2 * shortestSample / nanoseconds)
      repetitions = Int((Double(repetitions) * growth).rounded(.up))
    }
  }

  /// Counts the allocations and bytes of one repetition, and the bytes that all repetitions left.
  ///
  /// The runtime sometimes allocates for itself, so the counts are the least of three readings. The bytes left are the median,
  /// because they can also be too low: a reading can include the release of older memory.
  private func count(_ body: Body, repetitions: Int) -> (allocations: Double, bytes: Double, bytesLeft: Int) {
    _ = body.allocations(repetitions)  // fills caches
    let readings = (0..<3).map { _ in body.allocations(repetitions) }
    return (
      Double(readings.map(\.allocations).min() ?? 0) / Double(repetitions),
      Double(readings.map(\.allocatedBytes).min() ?? 0) / Double(repetitions),
      Int(median(readings.map { Double($0.liveBytes) }) ?? 0)
    )
  }
}

/// Returns the middle value, or the mean of the two in the middle; `nil` if there are no values.
private func median(_ values: [Double]) -> Double? {
  if values.isEmpty { return nil }
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
