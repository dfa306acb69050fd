/// Finds the changes that compile together, with few builds.
enum Bisection {
  /// The outcome of a trial.
  enum Trial<Change> {
    case passes

    /// The changes to which the errors point; empty if the errors point to none.
    case fails(suspects: [Change], reason: String)
  }

  /// Keeps the changes that pass.
  ///
  /// Tries all changes first. After a failure it tries those to which no error points, and then the rest. If errors
  /// point to all changes, or to none, it tries halves.
  /// - Parameters:
  ///   - changes: The changes.
  ///   - trial: Tries changes together.
  /// - Returns: The changes that pass together, and the others with the reason.
  /// - Throws: An error of a trial.
  static func passing<Change: Hashable>(
    _ changes: [Change],
    _ trial: ([Change]) throws(MigrationError) -> Trial<Change>
  ) throws(MigrationError) -> (kept: [Change], refused: [(change: Change, reason: String)]) {
    var kept: [Change] = []
    var refused: [(change: Change, reason: String)] = []
    var open: [[Change]] = changes.isEmpty ? [] : [changes]
    while let candidates = open.popLast() {
      switch try trial(kept + candidates) {
      case .passes: kept += candidates
      case .fails(let suspects, let reason):
        if candidates.count == 1 {
          refused.append((candidates[0], reason))
          continue
        }
        let suspected = Set(suspects)
        let innocent = candidates.filter { !suspected.contains($0) }
        let guilty = candidates.filter(suspected.contains)
        if innocent.isEmpty || guilty.isEmpty {
          let middle = candidates.count / 2
          open.append(Array(candidates[middle...]))
          open.append(Array(candidates[..<middle]))
        } else {
          open.append(guilty)
          open.append(innocent)
        }
      }
    }
    let order = Dictionary(changes.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return (kept.sorted { (order[$0] ?? 0) < (order[$1] ?? 0) }, refused)
  }
}
