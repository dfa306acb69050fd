internal import Foundation

/// What the benchmark counts now: the allocations of one operation of ours, by row.
struct MeasuredAllocations {
  let allocations: [String: Double]

  /// What `allocations.json` has to hold for these numbers.
  var fileContent: String {
    let lines = allocations.sorted { $0.key.compare($1.key, options: .numeric) == .orderedAscending }
      .map { "  \"\($0.key)\": \($0.value)" }
    return "{\n" + lines.joined(separator: ",\n") + "\n}"
  }

  /// Runs `futures-benchmark --allocations --json`, which the build put beside the tests.
  static func measure() throws -> MeasuredAllocations {
    let benchmark = Process()
    let output = Pipe()
    benchmark.executableURL = Bundle.main.bundleURL.appendingPathComponent("futures-benchmark")
    benchmark.arguments = ["--allocations", "--json"]
    benchmark.standardOutput = output
    try benchmark.run()
    let json = output.fileHandleForReading.readDataToEndOfFile()
    benchmark.waitUntilExit()
    guard benchmark.terminationStatus == 0 else { throw Failed(status: benchmark.terminationStatus) }
    let rows = try JSONDecoder().decode(Report.self, from: json).rows
    return MeasuredAllocations(
      allocations: Dictionary(
        rows.map { ($0.row, ($0.ours.allocations * 100).rounded(.up) / 100) },
        uniquingKeysWith: { first, _ in first }
      )
    )
  }

  /// The benchmark did not end well.
  struct Failed: Error {
    let status: Int32
  }

  /// The part of the benchmark's report that counts here.
  private struct Report: Decodable {
    struct Row: Decodable {
      struct Measurement: Decodable {
        let allocations: Double
      }

      let row: String
      let ours: Measurement
    }

    let rows: [Row]
  }
}
