internal import AllocationCounter
internal import Foundation
internal import Testing

/// What each row of the benchmark may allocate: the numbers of `allocations.json`, made by an optimised build.
///
/// A test that fails for a good reason, or for a new row, prints what the file has to hold instead.
@Suite("What the rows of the benchmark allocate", .enabled(if: isOptimised && AllocationCounts.areSupported))
struct AllocationThresholdTests {
  @Test("no row allocates more than the file says, and the file has all rows")
  func thresholds() throws {
    let committed = try CommittedAllocations.read()
    let measured = try MeasuredAllocations.measure()
    let failures = committed.failures(of: measured)
    for failure in failures { Issue.record("\(failure)") }
    if !failures.isEmpty { print("allocations.json for what is measured now:\n\(measured.fileContent)") }
  }
}

/// Whether this is an optimised build, the only kind in which allocations mean something.
#if DEBUG
  private let isOptimised = false
#else
  private let isOptimised = true
#endif
