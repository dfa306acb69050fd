internal import Foundation

/// The numbers of `allocations.json`: the allocations of one operation, by row.
struct CommittedAllocations {
  let allocations: [String: Double]

  /// Reads the file beside this one.
  static func read() throws -> CommittedAllocations {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("allocations.json")
    return CommittedAllocations(
      allocations: try JSONDecoder().decode([String: Double].self, from: try Data(contentsOf: file))
    )
  }

  /// How much more than its number a row may have.
  ///
  /// 0.05 is what the runtime allocates for itself. Where Dispatch keeps items for its threads, or a task may or may not
  /// be suspended when its result comes, the count depends on which thread was there first.
  static func tolerance(of row: String) -> Double {
    switch row.prefix(while: { $0 != " " }) {
    case "B2", "B3": 1  // a work item of the queue, and a waiting task or none
    case "C8": 0.5  // the callback came first, or the value did
    case "B6": 0.5  // how often the reader had to wait
    default: 0.05
    }
  }

  /// What is wrong with what was measured, one sentence a row.
  func failures(of measured: MeasuredAllocations) -> [String] {
    Set(allocations.keys).union(measured.allocations.keys).sorted().compactMap { row in
      switch (allocations[row], measured.allocations[row]) {
      case (let committed?, let present?):
        present > committed + Self.tolerance(of: row)
          ? "\(row) allocates \(present) times an operation; allocations.json says \(committed)." : nil
      case (let committed?, nil):
        "\(row) is in allocations.json, with \(committed), and was not measured."
      case (nil, let present?):
        "\(row) allocates \(present) times an operation, and is not in allocations.json."
      case (nil, nil): nil
      }
    }
  }
}
