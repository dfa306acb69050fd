import Dispatch
import Foundation
import Futures
import FuturesTesting

/// Runs operations of the bridges and of FuturesFoundation for a time, and checks that no resource of the process grows.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Soak: Sendable {
  let seed: UInt64
  let duration: Duration
  let plot: String?

  /// The number of operations that run at the same time.
  private static let width = 32

  /// The time after which a batch of operations is reported as hanging.
  private static let limit = Duration.seconds(60)

  /// Runs the operations, and prints the outcome.
  /// - Returns: Whether all checks passed.
  func run() async throws -> Bool {
    print("seed \(seed): bridges and Foundation for \(duration)")
    let place = FileManager.default.temporaryDirectory.appending(path: "futures-soak-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: place) }
    let plainTransfers = try PlainTransfers()
    let bytesLeft = await plainTransfers.bytesLeft(seed: seed)
    plainTransfers.stop()
    print("Foundation alone leaves \(Int(bytesLeft)) bytes after each transfer")
    let transfers = try Transfers(in: place)
    FuturesDiagnostics.tracksPendingFutures = true
    let clock = ContinuousClock()
    let start = clock.now
    var (samples, faults, count, batch) = ([SoakSample](), [String](), 0, UInt64(0))
    while start.duration(to: clock.now) < duration, faults.isEmpty {
      let second = clock.now
      repeat {
        faults += await operate(seed: seed &+ batch &* 1_000, transfers)
        count += Self.width * Self.operationsOfTask
        batch += 1
      } while second.duration(to: clock.now) < .seconds(1) && faults.isEmpty
      samples.append(SoakSample(after: start.duration(to: clock.now), transfers: transfers.count))
    }
    transfers.stop()
    faults += transfers.faults
    let growth = SoakGrowth(samples, bytesLeftByFoundation: bytesLeft)
    if let plot { try SoakPlot(samples: samples).svg.write(toFile: plot, atomically: true, encoding: .utf8) }
    print("\(count) operations, of them \(transfers.count) transfers; \(growth)")
    if faults.isEmpty { faults = growth.faults }
    for fault in faults { print("failed: \(fault)") }
    if !faults.isEmpty { print("Again: futures-stress --seed \(seed) --soak \(duration.components.seconds)") }
    return faults.isEmpty
  }

  private static let operationsOfTask = 8

  /// Runs one batch.
  /// - Returns: The violated expectations.
  private func operate(seed: UInt64, _ transfers: Transfers) async -> [String] {
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
          for _ in 0..<Self.operationsOfTask {
            // Foundation's operations take a hundred times as long.
            if random.next(below: 50) == 0 {
              faults += await transfers.operate(&random)
            } else {
              faults += await BridgeOperation.allCases.randomElement(using: &random)!.run(&random)
            }
          }
          return faults
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }
}
