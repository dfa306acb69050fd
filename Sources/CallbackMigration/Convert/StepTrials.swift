/// Tries the steps of a conversion one after another, and keeps those that pass a check.
struct StepTrials {
  /// The texts of all steps, by path.
  let texts: [String: StepwiseText]
  let steps: [ConversionStep]

  /// The indices of the steps that are kept together, in the order in which they are tried.
  let batches: [[Int]]

  /// Whether the attributes that name counterparts stay.
  let isKeepingAttributes: Bool

  /// The steps that are left out, with the reasons.
  private(set) var left: [Int: String] = [:]

  /// Whether a kept step passes only without its attribute.
  private(set) var lacksAttributes = false

  /// The groups of changes of the kept steps.
  private var kept: Set<ConversionStep.Part> = []

  /// Why a step does not pass.
  enum Failure: Equatable {
    case build(String)
    case test(String)
  }

  init(
    _ texts: [String: StepwiseText],
    _ steps: [ConversionStep],
    isKeepingAttributes: Bool,
    batches: [[Int]]? = nil
  ) {
    self.texts = texts
    self.steps = steps
    self.batches = batches ?? steps.indices.map { [$0] }
    self.isKeepingAttributes = isKeepingAttributes
  }

  /// Tries all steps.
  /// - Parameters:
  ///   - check: Returns why the texts, by path, do not pass with the step at an index; `nil` if they pass.
  ///   - keep: Receives the kept steps of each batch at once, with the texts that they change.
  /// - Returns: The texts that the kept steps change, by path.
  /// - Throws: An error of a check.
  mutating func run(
    check: (_ texts: [String: String], _ step: Int) throws(MigrationError) -> Failure?,
    keep: (_ texts: [String: String], _ steps: [ConversionStep]) throws(MigrationError) -> Void
  ) throws(MigrationError) -> [String: String] {
    for batch in batches {
      let old = kept
      for index in batch { try run(index, check) }
      let passed = batch.filter { left[$0] == nil }
      if !passed.isEmpty { try keep(changed(from: old, to: kept), passed.map { steps[$0] }) }
    }
    return changed(from: [], to: kept)
  }

  private mutating func run(
    _ index: Int,
    _ check: (_ texts: [String: String], _ step: Int) throws(MigrationError) -> Failure?
  ) throws(MigrationError) {
    let step = steps[index]
    if let cause = step.needed.sorted().first(where: { left[$0] != nil }) {
      left[index] = "it needs the change of `\(steps[cause].title)`, which is left"
      return
    }
    let plain = kept.union([.step(index)])
    let named = isKeepingAttributes && step.isNaming ? plain.union([.attribute(function: step.function)]) : plain
    for parts in named == plain ? [plain] : [named, plain] {
      switch try check(texts.mapValues { Self.text($0, parts) }, index) {
      // The attribute can cause the failure, because it brings warnings, which can be errors.
      case .build(let reason)?: left[index] = "it does not build: \(reason)"
      case .test(let reason)?:
        left[index] = "with it, a test fails: \(reason)"
        return
      case nil:
        lacksAttributes = lacksAttributes || parts != named
        kept = parts
        left[index] = nil
        return
      }
    }
  }

  private func changed(
    from old: Set<ConversionStep.Part>,
    to new: Set<ConversionStep.Part>
  ) -> [String: String] {
    texts.filter { Self.text($1, old) != Self.text($1, new) }.mapValues { Self.text($0, new) }
  }

  private static func text(_ text: StepwiseText, _ parts: Set<ConversionStep.Part>) -> String {
    Annotations.removed(from: text.text(with: parts), isKeepingAttributes: true)
  }
}
