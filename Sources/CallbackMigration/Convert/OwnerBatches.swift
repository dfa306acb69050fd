/// The order of the commits of a conversion by owners: each commit has the steps of one owner.
package struct OwnerBatches {
  /// The indices of the steps of each commit.
  package private(set) var all: [[Int]] = []

  /// The first commits of a possible order.
  private struct Beginning {
    var done: Set<Int> = []
    var batches: [[Int]] = []
  }

  /// The number of beginnings that the search keeps; more exist only if many owners depend on each other.
  private static let limit = 200

  /// Finds the order with the fewest commits in which each step comes after those that it needs.
  init(_ steps: [ConversionStep]) {
    var beginnings = [Beginning()]
    while let best = beginnings.first, best.done.count < steps.count {
      var next: [Set<Int>: Beginning] = [:]
      for beginning in beginnings {
        for longer in Self.continuations(of: beginning, steps) where next[longer.done] == nil {
          next[longer.done] = longer
        }
      }
      // The order of a dictionary differs between runs.
      let sorted = next.values.sorted {
        $0.done.count != $1.done.count
          ? $0.done.count > $1.done.count : $0.batches.joined().lexicographicallyPrecedes($1.batches.joined())
      }
      beginnings = Array(sorted.prefix(Self.limit))
    }
    all = beginnings.first?.batches ?? []
  }

  /// The beginnings with one more commit, which takes all steps of an owner whose needed steps are done.
  private static func continuations(of beginning: Beginning, _ steps: [ConversionStep]) -> [Beginning] {
    let open = steps.indices.filter { !beginning.done.contains($0) }
    var found: [Beginning] = []
    var owners: Set<String?> = []
    for first in open where owners.insert(steps[first].owner).inserted {
      var longer = beginning
      var batch: [Int] = []
      let own = open.filter { steps[$0].owner == steps[first].owner }
      // A step needs only earlier steps, so one pass is enough.
      for index in own where steps[index].needed.isSubset(of: longer.done) {
        longer.done.insert(index)
        batch.append(index)
      }
      guard !batch.isEmpty else { continue }
      longer.batches.append(batch)
      // All steps of this owner fit into one commit, so no other order is better.
      if batch.count == own.count { return [longer] }
      found.append(longer)
    }
    return found
  }
}
