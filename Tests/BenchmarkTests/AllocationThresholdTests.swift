internal import AllocationCounter
internal import Foundation
internal import Testing

/// Compares the allocations of each row with the numbers of `allocations.json`, which an optimised build made.
///
/// A failed test prints the new content of the file, for a new row or an intended change.
@Suite("Allocations of the benchmark's rows", .enabled(if: isOptimised && AllocationCounts.areSupported))
struct AllocationThresholdTests {
  @Test("Each row of the benchmark has a threshold in allocations.json and does not exceed it")
  func rowsStayWithinThresholds() throws {
    let committed = try CommittedAllocations.read()
    let measured = try MeasuredAllocations.measure()
    let failures = committed.failures(of: measured)
    for failure in failures { Issue.record("\(failure)") }
    if !failures.isEmpty { print("allocations.json with the present numbers:\n\(measured.fileContent)") }
  }
}

/// Whether this is an optimised build. Other builds allocate more.
#if DEBUG
  private let isOptimised = false
#else
  private let isOptimised = true
#endif
