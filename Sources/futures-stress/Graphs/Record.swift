import Dispatch
import Futures

/// The calls and the removal of one closure of a graph.
///
/// Each record has a lock of its own: a common lock would order the threads, and hide races from ThreadSanitizer.
final class Record: Sendable {
  enum Runs: Sendable {
    /// Once, unless it is removed.
    case once
    /// Once, or not at all if the future is cancelled, or the context drops the work.
    case atMostOnce
    case anyNumber
  }

  private struct State {
    var runs = 0
    var wasRemoved = false
    var isReleased = false
    var mistakes: Set<String> = []
  }

  /// The closure, as a noun phrase.
  let role: String
  /// The number of the future that the closure belongs to.
  let node: Int
  private let allowed: Runs
  private let state = Locked(State())

  init(_ role: String, node: Int, _ allowed: Runs) {
    self.role = role
    self.node = node
    self.allowed = allowed
  }

  func noteRun() { state.withLock { $0.runs += 1 } }
  func noteRemoval() { state.withLock { $0.wasRemoved = true } }
  func noteMistake(_ mistake: String) { _ = state.withLock { $0.mistakes.insert(mistake) } }
  fileprivate func noteRelease() { state.withLock { $0.isReleased = true } }

  var runs: Int { state.withLock { $0.runs } }
  var wasRemoved: Bool { state.withLock { $0.wasRemoved } }
  var isReleased: Bool { state.withLock { $0.isReleased } }

  /// The expectations that the closure has violated, read after all threads have ended.
  var faults: [Fault] {
    let state = state.withLock { $0 }
    var mistakes = state.mistakes.sorted()
    if state.runs > 1, allowed != .anyNumber { mistakes.append("ran \(state.runs) times") }
    if state.runs > 0, state.wasRemoved { mistakes.append("ran although it was removed") }
    if state.runs == 0, allowed == .once, !state.wasRemoved {
      mistakes.append(state.isReleased ? "was released without running" : "has not run")
    }
    // A closure with another mistake is possibly still attached, so its release is not expected.
    if !state.isReleased, mistakes.isEmpty { mistakes.append("was not released") }
    return mistakes.map { Fault(sentence: "\(role) \($0)", node: node) }
  }
}

/// Counts the calls of the closure that captures the ticket, and notes the release of the closure.
final class Ticket: Sendable {
  let record: Record
  private let alive: DispatchGroup

  init(_ record: Record, _ alive: DispatchGroup) {
    self.record = record
    self.alive = alive
    alive.enter()
  }

  deinit {
    record.noteRelease()
    alive.leave()
  }

  /// Notes a run of the closure; a mistake if the closure does not run at `site`.
  func run(at site: Site? = nil) {
    record.noteRun()
    if let site, !site.isHere() { record.noteMistake("did not run on \(site.name)") }
  }

  /// Notes a run of the closure, and returns the value with `number` for the closure to return.
  func value(_ number: Int, at site: Site? = nil) -> TrackedValue {
    run(at: site)
    return TrackedValue(number, alive)
  }
}

/// A violated expectation.
struct Fault: Sendable {
  let sentence: String
  /// The number of the future with the fault; `nil` if the future is unknown.
  let node: Int?
}
