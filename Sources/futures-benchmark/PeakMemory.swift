import Foundation
import Futures

/// The peak memory of one deep work in a process of its own, on a thread with a stack of 512 KiB.
struct PeakMemory {
  /// The hidden option that makes this program the child.
  static let option = "--peak-memory"

  /// The row of the work, and its depth.
  let row: String
  let depth: Int

  /// Runs the work in this process and returns its peak memory in bytes, or `nil` if the row has no deep work.
  func runHere() -> Int? {
    guard let body = Rows.deepWorks[row]?(depth) else { return nil }
    onSmallStack { _ = body.nanoseconds(1) }
    return Self.ofThisProcess()
  }

  /// Runs this program again with the hidden option and returns the number that it prints, or `nil` if the child failed.
  func inChild() -> Int? {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = [Self.option, row, String(depth)]
    child.standardOutput = output
    do { try child.run() } catch { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    guard child.terminationStatus == 0 else { return nil }
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
  }

  private static func ofThisProcess() -> Int? {
    #if os(Linux)
      // Why not getrusage? Its maximum survives exec, so a child would return its parent's peak.
      let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
      return kibibytes.map { $0 * 1_024 }
    #else
      var usage = rusage()
      return getrusage(RUSAGE_SELF, &usage) == 0 ? Int(usage.ru_maxrss) : nil
    #endif
  }
}

extension Harness {
  /// Returns the row with the peak memory at a great depth, and its growth since a small depth.
  func withPeakMemory(_ row: Row) -> Row {
    guard isTimed else { return row }
    var row = row
    let shallow = PeakMemory(row: row.name, depth: isQuick ? 1_000 : 10_000).inChild()
    row.peakMemory = PeakMemory(row: row.name, depth: isQuick ? 20_000 : 1_000_000).inChild()
    if let shallow, let peak = row.peakMemory { row.peakGrowth = peak - shallow }
    return row
  }
}

/// Runs a function on a thread with a stack of 512 KiB.
func onSmallStack<Output: Sendable>(_ work: @escaping @Sendable () -> Output) -> Output {
  let output = Promise<Output, Never>()
  let thread = Thread { output.succeed(work()) }
  thread.stackSize = 512 * 1024
  thread.start()
  return output.future.wait().get()
}
