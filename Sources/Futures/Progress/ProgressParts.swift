/// How a state combines the progress of its inputs.
@usableFromInline
enum ProgressRule {
  case average
  /// The maximum, because one input decides.
  case furthest
}

/// The inputs of a state, as parts of its progress.
struct ProgressParts {
  var rule = ProgressRule.average
  /// The pending inputs.
  var states: [FutureState] = []
  /// The share of each input.
  var share = 0.0
  /// The sum of the shares of the ended inputs.
  var done = 0.0
  /// The number of inputs that have not ended, including inputs that have not started.
  var awaited = 0
}
