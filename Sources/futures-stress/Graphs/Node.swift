import Futures

/// A future of a graph, and how it was made.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Node: Sendable {
  /// The part that does not keep the future alive.
  struct Origin: Sendable {
    let number: Int
    let name: String
    let inputs: [Int]
  }

  let origin: Origin
  let future: GraphFuture
  private let expected: @Sendable (_ first: Outcome, _ second: Outcome) -> [Outcome]
  private let canBreak: Bool

  /// A future that an operator has derived from `first` and `second`.
  init(_ kind: Operator, from first: Node, _ second: Node, number: Int, _ worker: Worker) {
    let derivation = Derivation(kind.name, first.future, second.future, node: number, worker)
    future = kind.derive(derivation)
    origin = Origin(number: number, name: derivation.name, inputs: [first.origin.number, second.origin.number])
    expected = kind.expected
    canBreak = derivation.canBreak
  }

  /// A future without inputs, which can have any outcome.
  init(_ name: String, _ future: GraphFuture, number: Int) {
    self.future = future
    origin = Origin(number: number, name: name, inputs: [])
    expected = { outcome, _ in [outcome] }
    canBreak = false
  }

  /// Checks the result against the results of the inputs, and the progress against the result.
  func faults(_ nodes: [Int: Node]) -> [Fault] {
    guard let outcome else { return [fault("has no result")] }
    var faults: [Fault] = []
    let progress = future.currentProgress
    let hasSucceeded = outcome.number != nil
    if progress.isFinished != hasSucceeded || (progress.fractionCompleted == 1) != hasSucceeded {
      faults.append(fault("ended as \(outcome) with the progress \(progress)"))
    }
    let inputs = origin.inputs.compactMap { nodes[$0]?.outcome }
    guard inputs.count == 2, outcome != .cancelled, !(canBreak && outcome == .broken) else { return faults }
    let possible = expected(inputs[0], inputs[1])
    if !possible.contains(outcome) {
      let list = possible.map { "\($0)" }.joined(separator: " or ")
      faults.append(fault("ended as \(outcome), but its inputs as \(inputs[0]) and \(inputs[1]): expected \(list)"))
    }
    return faults
  }

  private var outcome: Outcome? { future.peek().map(Outcome.init) }

  private func fault(_ sentence: String) -> Fault { Fault("the future \(sentence)", node: origin.number) }
}

@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
extension [Int: Node.Origin] {
  /// The origins of a future and of all futures that it depends on, one in each line.
  func listing(of number: Int, limit: Int = 40) -> [String] {
    var found: Set<Int> = [number]
    var next = [number]
    while let number = next.popLast(), found.count < limit {
      for input in self[number]?.inputs ?? [] where found.insert(input).inserted { next.append(input) }
    }
    return found.sorted(by: >).compactMap { number in
      self[number].map { origin in
        let inputs = origin.inputs.map { "#\($0)" }.joined(separator: ", ")
        return "    #\(number) = \(origin.name)" + (inputs.isEmpty ? "" : " of \(inputs)")
      }
    }
  }
}
