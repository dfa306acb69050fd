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

  /// Returns the tolerance of a row above its number.
  ///
  /// The runtime allocates up to 0.05 for itself. Dispatch caches its items per thread, and a task is not always suspended when
  /// its result arrives. So some counts depend on the order of the threads. The file has the greatest possible number
  /// for B2: the await suspends, and Dispatch makes a new work item.
  static func tolerance(of row: String) -> Double {
    switch row.prefix(while: { $0 != " " }) {
    case "B3": 1  // a work item of the queue, and a waiting task or none
    case "C8": 0.5  // the callback came first, or the value did
    case "B6": 0.5  // the number of times that the reader had to wait
    default: 0.05
    }
  }

  /// Returns a sentence for each row that differs from the file.
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
