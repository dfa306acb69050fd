internal import Foundation

/// One run of `futures-benchmark`, which the build puts beside the tests.
struct BenchmarkRun {
  let output: Data
  let errors: Data
  let status: Int32

  /// Runs the benchmark with these arguments until it ends.
  init(_ arguments: String...) throws {
    let benchmark = Process()
    let (output, errors) = (Pipe(), Pipe())
    benchmark.executableURL = Bundle.main.bundleURL.appendingPathComponent("futures-benchmark")
    benchmark.arguments = arguments
    benchmark.standardOutput = output
    benchmark.standardError = errors
    try benchmark.run()
    // Reads one pipe after the other: the errors are a few lines, which fit into their pipe.
    self.output = output.fileHandleForReading.readDataToEndOfFile()
    self.errors = errors.fileHandleForReading.readDataToEndOfFile()
    benchmark.waitUntilExit()
    status = benchmark.terminationStatus
  }
}
