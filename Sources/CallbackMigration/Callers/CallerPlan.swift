/// The order in which the callers in a package can be converted: a function after the functions that it calls.
struct CallerPlan {
  /// Functions that can become async after those of the earlier steps.
  struct Step: Equatable {
    /// The indices of these functions.
    let functions: [Int]

    /// The number of calls in async code that can be converted after this step.
    let readyCount: Int
  }

  /// The number of calls that can be converted now.
  let readyCount: Int
  let steps: [Step]

  /// The functions that cannot become async, because a call in their bodies stays.
  let stuck: [Int]

  init(_ calls: [CallbackCall], _ functions: [AwaitableFunction]) {
    readyCount = calls.count { $0.callClass == .ready && functions[$0.target].hasCounterpart }
    var inside: [Int: [CallbackCall]] = [:]
    for call in calls {
      if let owner = call.owner, call.place == .next { inside[owner, default: []].append(call) }
    }
    var done = Set(functions.indices.filter { functions[$0].hasCounterpart })
    let called = Set(calls.map(\.target))
    var open = Set(
      functions.indices.filter { index in
        guard !done.contains(index), case .writable = functions[index].counterpart else { return false }
        return called.contains(index) || inside[index] != nil
      }
    )
    var steps: [Step] = []
    while !open.isEmpty {
      let leaves = open.filter { index in
        (inside[index] ?? []).allSatisfy { call in
          call.callClass == .next && (done.contains(call.target) || call.target == index)
        }
      }
      guard !leaves.isEmpty else { break }
      let count = calls.count { $0.callClass == .ready && leaves.contains($0.target) }
      steps.append(Step(functions: leaves.sorted(), readyCount: count))
      done.formUnion(leaves)
      open.subtract(leaves)
    }
    self.steps = steps
    stuck = open.sorted()
  }
}
