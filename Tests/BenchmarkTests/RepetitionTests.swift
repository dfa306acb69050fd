internal import Testing

@Suite("The option --repeat of the benchmark")
struct RepetitionTests {
  @Test(
    "--repeat runs the row with that name, ignoring case, and prints the number of its operations",
    arguments: [("C2", 3), ("c2B", 3), ("C4", 30), ("C9 remove", 3)]
  )
  func repeatsOneRow(row: String, operations: Int) throws {
    let run = try BenchmarkRun("--repeat", row, "3")
    #expect(run.status == 0)
    #expect(String(decoding: run.output, as: UTF8.self) == "\(operations)\n")
  }

  @Test("--repeat rejects an unknown row and prints its name", arguments: ["C99", "C9", "B8"])
  func refusesUnknownRow(row: String) throws {
    let run = try BenchmarkRun("--repeat", row, "3")
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(String(decoding: run.errors, as: UTF8.self).hasPrefix("futures-benchmark: --repeat knows no row \(row)."))
  }
}
