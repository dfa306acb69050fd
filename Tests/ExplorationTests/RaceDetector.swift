/// The order of the steps of a run, and the races between them.
///
/// Two steps race if they do not commute, and no third step must come after the first and before the second. Another run
/// must make them in the reverse order. P. Abdulla, S. Aronis, B. Jonsson and K. Sagonas, *Optimal Dynamic Partial Order
/// Reduction* (2014): the algorithm with source sets.
struct RaceDetector {
  private struct PastStep {
    let thread: Int
    let step: Step

    /// This step, and the steps that have to come before it.
    let past: VectorClock

    /// The place in the path of the decision for this step.
    let decision: Int

    func mustPrecede(_ other: VectorClock) -> Bool { past[thread] <= other[thread] }
  }

  /// A race with an earlier step.
  struct Race {
    /// The place of the decision for the earlier step.
    let decision: Int

    /// The threads that can begin a run which reverses the race.
    let initials: ThreadSet
  }

  private var steps: [PastStep] = []

  /// For each thread the steps that have to come before its next step.
  private var pasts = [VectorClock](repeating: VectorClock(), count: VectorClock.maximumThreads)

  mutating func removeAll() {
    steps.removeAll(keepingCapacity: true)
    for thread in pasts.indices { pasts[thread] = VectorClock() }
  }

  /// Adds the next step of the run.
  /// - Parameters:
  ///   - step: The step.
  ///   - thread: The thread that makes the step.
  ///   - decision: The place in the path of the decision for the step.
  ///   - isNew: Whether no earlier run has made this step after the same steps.
  /// - Returns: The races of a new step with earlier steps.
  mutating func add(_ step: Step, of thread: Int, decision: Int, isNew: Bool) -> [Race] {
    let before = pasts[thread]
    var past = before
    // Unlocking is not a step. A thread that takes a lock comes after the steps under the lock. It could also take the lock
    // before the other thread takes it.
    var afterUnlock = before
    if step.kind == .lock { afterUnlock.merge(step.location.pastOfUnlock) }
    var races: [Race] = []
    for index in steps.indices.reversed() {
      let earlier = steps[index]
      guard !earlier.mustPrecede(past), !earlier.step.commutes(with: step) else { continue }
      let isSameLocation = earlier.step.location === step.location
      if !isSameLocation, earlier.mustPrecede(afterUnlock) { continue }
      past.merge(earlier.past)
      guard isNew else { continue }
      let initials = initials(reversing: index, step, of: thread, isSameLocation ? before : afterUnlock)
      races.append(Race(decision: earlier.decision, initials: initials))
    }
    past.merge(afterUnlock)
    past[thread] = before[thread] + 1
    pasts[thread] = past
    steps.append(PastStep(thread: thread, step: step, past: past, decision: decision))
    return races
  }

  /// Notes that `thread` unlocks a lock.
  func unlock(_ location: ExploredLocation, by thread: Int) { location.pastOfUnlock = pasts[thread] }

  /// Returns the threads that can make the first step of a run that continues before the step at `index`.
  ///
  /// That run makes the later steps that need not come after the step at `index`, and then `last`.
  private func initials(reversing index: Int, _ last: Step, of thread: Int, _ past: VectorClock) -> ThreadSet {
    var (initials, seen) = (ThreadSet(), ThreadSet())
    var others: [Int] = []
    for later in steps.indices[(index + 1)...] where !steps[index].mustPrecede(steps[later].past) {
      let step = steps[later]
      if !seen.contains(step.thread) {
        seen.insert(step.thread)
        if !others.contains(where: { steps[$0].mustPrecede(step.past) }) { initials.insert(step.thread) }
      }
      others.append(later)
    }
    let isFirst =
      !seen.contains(thread) && !others.contains { steps[$0].mustPrecede(past) || !steps[$0].step.commutes(with: last) }
    if isFirst { initials.insert(thread) }
    return initials
  }
}
