import Futures

/// A future of a graph, and how it was made.
@available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
struct Node: Sendable {
  let number: Int
  private let name: String
  private let inputs: [Int]
  let future: GraphFuture
  private let expected: @Sendable (_ first: Outcome, _ second: Outcome) -> [Outcome]
  private let canBreak: Bool  // because the context of its operator drops work

  /// A future that an operator has derived from `first` and `second`.
  init(_ kind: Operator, from first: Node, _ second: Node, number: Int, _ worker: Worker) {
    let derivation = Derivation(kind.name, first.future, second.future, node: number, worker)
    future = kind.derive(derivation)  // before the lines below: sets `name` and `canBreak`
    (self.number, name, inputs) = (number, derivation.name, [first.number, second.number])
    expected = kind.expected
    canBreak = derivation.canBreak
  }

  /// A future without inputs, which can have any outcome.
  init(_ name: String, _ future: GraphFuture, number: Int) {
    self.future = future
    (self.number, self.name, inputs) = (number, name, [])
    expected = { outcome, _ in [outcome] }  // never called: there are no inputs to compare with
    canBreak = false
  }

  /// The name of the operator and the numbers of the inputs, for a report.
  var description: String { "\(name) of \(inputs.map { "#\($0)" })" }

  /// Checks the result against the results of the inputs, and the progress against the result.
  func faults(_ nodes: [Int: Node]) -> [Fault] {
    guard let outcome else { return [fault("has no result")] }
    var faults: [Fault] = []
    let progress = future.currentProgress
    let (hasSucceeded, isFull) = (outcome.number != nil, progress.fractionCompleted == 1)
    if progress.isFinished != hasSucceeded || isFull != hasSucceeded {
      faults.append(fault("ended as \(outcome) with the progress \(progress)"))
    }
    let ends = inputs.compactMap { nodes[$0]?.outcome }
    guard ends.count == 2 else { return faults }  // no inputs, or one has no result: a fault of that input
    var possible = expected(ends[0], ends[1]) + [.cancelled]  // the last consumer of any future can be cancelled
    if canBreak { possible.append(.broken) }
    if !possible.contains(outcome) {
      let list = possible.map { "\($0)" }.joined(separator: " or ")
      faults.append(fault("ended as \(outcome), but its inputs as \(ends[0]) and \(ends[1]): expected \(list)"))
    }
    return faults
  }

  private var outcome: Outcome? { future.peek().map(Outcome.init) }

  private func fault(_ sentence: String) -> Fault { Fault(sentence: "the future \(sentence)", node: number) }
}
