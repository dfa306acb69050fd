import Foundation
import Futures
import FuturesAsync

/// The peak memory of one recursion of C11, measured in a process of its own.
struct PeakMemory {
  enum Steps: String {
    case ready, queued
  }

  /// The hidden option that makes this program the child.
  static let option = "--peak-memory"

  let steps: Steps
  let count: Int

  init(steps: Steps, count: Int) {
    self.steps = steps
    self.count = count
  }

  /// The child's arguments, or nil if they are none.
  init?(steps: String?, count: String?) {
    guard let steps = steps.flatMap(Steps.init), let count = count.flatMap(Int.init), count > 0 else { return nil }
    self.init(steps: steps, count: count)
  }

  /// By how many bytes the peak grows from few steps to many, or nil if a child failed or the system cannot tell.
  static func growth(_ steps: Steps, isQuick: Bool) -> Int? {
    let few = PeakMemory(steps: steps, count: isQuick ? 1_000 : 10_000).inChild()
    let many = PeakMemory(steps: steps, count: isQuick ? 20_000 : 1_000_000).inChild()
    guard let few, let many else { return nil }
    return many - few
  }

  /// Runs the recursion in this process and returns its peak memory in bytes.
  func runHere() -> Int {
    switch steps {
    case .ready:
      precondition(recurse(count, step: readyStep).isResolved, "A recursion of ready steps did not complete.")
    case .queued:
      let count = count
      guard case .success = runBlocking({ await recurse(count, step: queuedStep).result }) else {
        preconditionFailure("A recursion of asynchronous steps failed.")
      }
    }
    return Self.peakOfThisProcess() ?? 0
  }

  /// Runs this program again with the hidden option and reads the number that it prints.
  private func inChild() -> Int? {
    let child = Process()
    let output = Pipe()
    child.executableURL = Bundle.main.executableURL
    child.arguments = [Self.option, steps.rawValue, String(count)]
    child.standardOutput = output
    do { try child.run() } catch { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    child.waitUntilExit()
    guard child.terminationStatus == 0 else { return nil }
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)).flatMap { $0 > 0 ? $0 : nil }
  }

  private static func peakOfThisProcess() -> Int? {
    #if os(Linux)
      // Why not getrusage? Its maximum survives exec, so a child would answer with the parent's peak.
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
