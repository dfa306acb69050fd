import Futures
import FuturesTesting
import Testing

/// A record of one run, or of all runs of a test body.
final class RunRecord: Sendable {
  private let entries = Locked<[String]>([])

  func add(_ entry: String) { entries.withLock { $0.append(entry) } }

  var all: [String] { entries.withLock(\.self) }
  var joined: String { all.joined(separator: " ") }
}

/// An expectation that the body throws, so that the explorer sees it.
struct Unexpected: Error, CustomStringConvertible {
  let description: String

  static func unless(_ isTrue: Bool, _ description: String) throws {
    guard isTrue else { throw Unexpected(description: description) }
  }
}

extension OrderReport {
  /// Whether exactly `count` orders ran, and these were all; the description says "all" only where outside work is
  /// observed.
  func isAll(_ count: Int) -> Bool { isExhaustive && orders == count }
}

/// Explores a body, and returns the different records of the runs, sorted.
func differentRecords(_ body: @escaping @Sendable (Orders, RunRecord) async throws -> Void) async throws -> [String] {
  let runs = RunRecord()
  let report = try await exploreOrders { orders in
    let run = RunRecord()
    try await body(orders, run)
    try await orders.runAll()
    runs.add(run.joined)
  }
  #expect(report.isExhaustive)
  return Set(runs.all).sorted()
}

/// The failure of an exploration; `nil` if it passes.
func explorationFailure(of explore: () async throws -> OrderReport) async throws -> OrderFailure? {
  do {
    _ = try await explore()
    return nil
  } catch let failure as OrderFailure {
    return failure
  }
}

extension ExecutionContext {
  /// Submits work as a callback does.
  func run(_ work: @escaping @Sendable () -> Void) {
    Future<Void, Never>.succeeded(()).whenResolved(on: self) { _ in work() }
  }
}

/// A value under a lock, which closures can share.
final class Shared<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  init(_ value: Value) { self.value = Locked(value) }

  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

extension Trait where Self == ConditionTrait {
  /// Skips tests under the sanitizers, which replace the functions for the clock and the main queue that the explorer replaces.
  ///
  /// Tests of endless bodies are skipped too: the loops that they leave behind are leaks.
  static var unlessSanitized: Self {
    #if ASAN || TSAN
      .disabled("A sanitizer is present.")
    #else
      .enabled(if: true)
    #endif
  }
}
