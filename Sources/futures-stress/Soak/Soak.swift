import AllocationCounter
import Foundation
import Futures
import FuturesTesting
import ProgramSupport

/// Runs operations of FuturesFoundation and of the bridges for a time, and checks that no resource of the process grows.
///
/// The graphs run awaits, tasks, tokens and progress. The soak adds Foundation's objects, and objects that outlive a
/// graph.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Soak: Sendable {
  let seed: UInt64
  let duration: Duration
  let plot: String?

  /// The number of tasks that operate at the same time, and of the operations of each in a batch.
  private static let (width, length) = (32, 8)

  /// The time after which a batch of operations is reported as hanging.
  private static let limit = Duration.seconds(60)

  /// Runs the operations, and prints the outcome.
  /// - Returns: Whether all checks passed.
  func run() async throws -> Bool {
    print("seed \(seed): FuturesFoundation and bridges for \(duration)")
    let operations = try SoakOperations()
    FuturesDiagnostics.tracksPendingFutures = true
    FuturesDiagnostics.setHandler { _ in }  // the operations call some callbacks twice, and drop some promises
    let clock = ContinuousClock()
    let start = clock.now
    var (samples, faults, batch) = ([Sample](), [String](), UInt64(0))
    while start.duration(to: clock.now) < duration, faults.isEmpty {
      let second = clock.now
      repeat {
        faults += await operate(seed: seed &+ batch &* 1_000, operations)
        batch += 1
      } while second.duration(to: clock.now) < .seconds(1) && faults.isEmpty
      samples.append(Sample(after: start.duration(to: clock.now), of: operations))
    }
    faults += operations.stop()
    if let plot { try draw(samples).write(to: plot) }
    let count = Int(batch) * Self.width * Self.length
    let growth = growth(of: samples)
    print("\(count) operations, of them \(operations.count) of Foundation; \(growth.text)")
    if faults.isEmpty { faults = growth.faults }
    for fault in faults { print("failed: \(fault)") }
    if !faults.isEmpty { print("Again: futures-stress --seed \(seed) --soak \(duration.components.seconds)") }
    return faults.isEmpty
  }

  /// Runs one batch.
  /// - Returns: The violated expectations.
  private func operate(seed: UInt64, _ operations: SoakOperations) async -> [String] {
    let alarm = Future.after(Self.limit)
    let registration = alarm.whenSucceeded(on: .immediate) {
      print("failed: operations of seed \(seed) have not ended after \(Self.limit)")
      for future in FuturesDiagnostics.pendingFutures { print(future) }
      exit(1)
    }
    defer {
      registration.remove()  // a cancelled `after` succeeds
      alarm.cancel()
    }
    return await withTaskGroup(of: [String].self) { group in
      for number in 0..<Self.width {
        group.addTask {
          var random = SplitMix64(seed: seed &+ UInt64(number))
          var faults: [String] = []
          for _ in 0..<Self.length { faults += await operations.operate(&random) }
          return faults
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  // MARK: Resources

  /// The resources of the process at one time.
  private struct Sample {
    let seconds: Double
    /// The number of Foundation's operations until then.
    let count: Int
    let bytes = Int(AllocationCounts.ofProcess().liveBytes)
    let threads = Self.entries(of: "/proc/self/task")
    let descriptors = Self.entries(of: "/dev/fd")

    init(after time: Duration, of operations: SoakOperations) {
      (seconds, count) = (time / .seconds(1), operations.count)
    }

    /// The number of files in a folder of the system, or 0 if this system has no such folder.
    private static func entries(of folder: String) -> Int {
      (try? FileManager.default.contentsOfDirectory(atPath: folder).count) ?? 0
    }
  }

  /// The bytes that Foundation for Linux leaves at each of its operations without this library, and a fifth more.
  ///
  /// Foundation keeps memory of each process object and of some requests: 131 bytes for each operation of this mix.
  private static let bytesLeftByFoundation = 160

  /// Compares the medians of two periods: the last minute, or the last third of a shorter run, and the period of that
  /// length after the first one.
  ///
  /// The first period does not count, because it fills caches and pools.
  /// - Returns: The differences as text, and the resources that have grown.
  private func growth(of samples: [Sample]) -> (text: String, faults: [String]) {
    let last = samples.last?.seconds ?? 0
    let window = min(60, last / 3)
    let first = samples.filter { $0.seconds > window && $0.seconds <= 2 * window }
    let end = samples.filter { $0.seconds > last - window }
    func medians(_ value: KeyPath<Sample, Int>) -> (Int, Int) {
      (median(first.map { $0[keyPath: value] }), median(end.map { $0[keyPath: value] }))
    }
    let (before, after) = medians(\.count)
    var (texts, faults) = ([String](), [String]())
    for (name, value, limit) in [
      ("bytes", \Sample.bytes, RoundMemory.tolerance + (after - before) * Self.bytesLeftByFoundation),
      ("threads", \.threads, 8), ("descriptors", \.descriptors, 8),
    ] {
      let (before, after) = medians(value)
      texts.append("\(name) \(before) → \(after)")
      if after - before > limit { faults.append("\(after - before) \(name) more at the end, not at most \(limit)") }
    }
    return (texts.joined(separator: ", "), faults)
  }

  private func draw(_ samples: [Sample]) -> Plot {
    var plot = Plot()
    // About 300 points: a screen does not show more.
    let shown = stride(from: 0, to: samples.count, by: max(1, samples.count / 300)).map { samples[$0] }
    for (name, value) in [("live bytes", \Sample.bytes), ("threads", \.threads), ("descriptors", \.descriptors)] {
      plot.addLines(
        "\(name), over \(duration.components.seconds) s",
        [("", shown.map { ($0.seconds, Double($0[keyPath: value])) })]
      )
    }
    return plot
  }
}

private func median(_ values: [Int]) -> Int { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
