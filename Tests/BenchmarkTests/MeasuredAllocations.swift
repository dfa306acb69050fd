internal import Foundation

/// The present allocations of one operation of the library, by row.
struct MeasuredAllocations {
  let allocations: [String: Double]

  /// The content of `allocations.json` for these numbers.
  var fileContent: String {
    let lines = allocations.sorted { $0.key.compare($1.key, options: .numeric) == .orderedAscending }
      .map { "  \"\($0.key)\": \($0.value)" }
    return "{\n" + lines.joined(separator: ",\n") + "\n}"
  }

  /// Runs `futures-benchmark --allocations --json`.
  static func measure() throws -> MeasuredAllocations {
    let run = try BenchmarkRun("--allocations", "--json")
    guard run.status == 0 else { throw Failed(status: run.status) }
    let rows = try JSONDecoder().decode(Report.self, from: run.output).rows
    return MeasuredAllocations(
      allocations: Dictionary(
        rows.map { ($0.row, ($0.ours.allocations * 100).rounded(.up) / 100) },
        uniquingKeysWith: { first, _ in first }
      )
    )
  }

  /// The benchmark ended with an error.
  struct Failed: Error {
    let status: Int32
  }

  /// The part of the benchmark's report that the test needs.
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
