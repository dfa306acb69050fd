import Futures
import TestSupport
import Testing

/// Tests of events that meet a thread in the middle of notifying the listeners, in every order: R20.
///
/// Other code can interrupt such a thread only where it calls a listener. Everything else that the thread does is one
/// step under the lock. `ExplorationTests` has the events of other threads.
struct ProgressInterleavingTests {
  typealias Source = Future<Int, any Error>

  /// An event while a callback runs.
  enum Event: Sendable, CaseIterable {
    case reportMore, reportLess, attach, removeFirst, removeLast, end
  }

  enum End: CaseIterable, Sendable { case success, failure, cancel, drop, none }

  /// Three listeners of a future; one call of a listener is interrupted.
  final class Scene: Sendable {
    let promise: Locked<Promise<Int, any Error>?>
    let future: Source
    let reporter: ProgressReporter
    let end: End
    let logs = (0..<4).map { _ in ProgressLog() }
    let order = Recorder<String>()
    private let isCalling = Locked(false)
    let registrations = Recorder<Registration>()
    /// The number of calls of each removed listener before its removal.
    let removed = Locked<[Int: Int]>([:])

    /// Runs `interruption` once, in a call of listener `number`; `isDerived` puts a stage between the promise and the
    /// listeners.
    init(end: End, isDerived: Bool, at number: Int, _ interruption: @escaping @Sendable (Scene) -> Void) {
      let promise = Promise<Int, any Error>()
      self.promise = Locked(promise)
      self.end = end
      reporter = promise.progress
      future = isDerived ? promise.future.flatMap(progressShare: 1) { .succeeded($0) } : promise.future
      let hasRun = Recorder<Int>()
      for index in 0..<3 {
        registrations.record(
          future.whenProgressed(on: .immediate) { [weak self] progress in
            guard let self else { return }
            if isCalling.withLock({ $0 }) { order.record("overlap") }
            isCalling.withLock { $0 = true }
            defer { isCalling.withLock { $0 = false } }
            logs[index].note(progress)
            guard index == number, progress.fractionCompleted > 0, hasRun.events.isEmpty else { return }
            hasRun.record(1)
            interruption(self)
            order.record("returned")
          }
        )
      }
      future.whenResolved(on: .immediate) { [order] _ in order.record("end") }
    }

    func perform(_ event: Event) {
      switch event {
      case .reportMore: reporter.report(fraction: 0.75)
      case .reportLess: reporter.report(fraction: 0.6)
      case .attach: future.whenProgressed(on: .immediate) { [logs] in logs[3].note($0) }
      case .removeFirst: remove(0)
      case .removeLast: remove(2)
      case .end:
        switch end {
        case .success: promise.withLock { $0! }.succeed(1)
        case .failure: promise.withLock { $0! }.fail(TestError(1))
        case .cancel: future.cancel()
        case .drop:
          let dropped = promise.withLock { $0.take() }
          _ = dropped  // released here, outside the lock
        case .none: break
        }
      }
    }

    private func remove(_ number: Int) {
      let count = logs[number].events.count
      if registrations.events[number].remove() { removed.withLock { $0[number] = count } }
    }

    /// Whether the final state is correct, after all events.
    func isSound(attaches: Bool) -> Bool {
      let removed = removed.withLock { $0 }
      for (number, log) in logs.enumerated() where number < 3 || attaches {
        guard log.isSound else { return false }
        if let count = removed[number] {
          guard log.events.count == count else { return false }
        } else {
          guard log.events.last == future.currentProgress else { return false }
        }
      }
      let ends = order.events.filter { $0 == "end" }.count
      return !order.events.contains("overlap") && ends == (end == .none ? 0 : 1) && future.isResolved == (end != .none)
        && (end == .none || order.events.last == "end")
        && future.currentProgress.isFinished == (end == .success)
    }
  }

  @Test(
    "R7, R20: in every order of actions in a callback, all listeners get the newest state, and the end last",
    arguments: 0..<3
  )
  func callbackActionsInEveryOrder(number: Int) {
    for end in End.allCases {
      for isDerived in [false, true] {
        for events in permutations(of: Event.allCases) {
          let scene = Scene(end: end, isDerived: isDerived, at: number) { scene in
            for event in events { scene.perform(event) }
          }
          scene.reporter.report(fraction: 0.5)
          if !scene.isSound(attaches: true) {
            Issue.record("\(events), \(end), \(isDerived): \(scene.logs.map(\.fractions)), \(scene.order.events)")
            return
          }
        }
      }
    }
  }
}
