internal import Dispatch
internal import Futures

/// Work that has left a run: for a Dispatch queue that no run controls, a run loop, or a thread.
///
/// Outside work runs in real time, so its place in the order is not a choice.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
final class OutsideWork: @unchecked Sendable {
  // @unchecked: `run` is set once.
  enum Kind: Int32 { case queue, timer, notification, source, thread, iterations, runLoopBlock, runLoopTimer, mainSync }

  let kind: Kind
  private let label: String?
  private let site: CallSite
  private(set) weak var run: OrderRun?

  /// The move that submitted the work; `nil` if other outside work did.
  let move: OrderRun.Move?

  init(_ kind: Kind, queue label: String?, site: CallSite, of run: OrderRun, during move: OrderRun.Move?) {
    (self.kind, self.label, self.site, self.run, self.move) = (kind, label, site, run, move)
  }

  /// Whether the run waits until the work has ended.
  ///
  /// A timer does not fire while the run lasts, and the end of the work of a source or a run loop is not known.
  var isWaitedFor: Bool {
    switch kind {
    case .queue, .notification, .thread: true
    case .timer, .source, .iterations, .runLoopBlock, .runLoopTimer, .mainSync: false
    }
  }

  /// Whether a body can wait for the work.
  var canComeLater: Bool { kind != .iterations && kind != .mainSync }

  /// Describes work that arrives after its run.
  static let late = "work that another thread has submitted to a run that was over"

  /// For example “work on the Dispatch queue “images”, submitted at App/Cache.swift:12”.
  var description: String {
    let place = site.description.map { "at \($0)" }
    switch kind {
    case .queue: return "work on \(queue)\(place.map { ", submitted \($0)" } ?? "")"
    case .timer: return "a timer of \(queue) in real time\(place.map { ", set \($0)" } ?? "")"
    case .notification: return "the notification of a Dispatch group on \(queue)\(place.map { ", set \($0)" } ?? "")"
    case .source: return "a Dispatch source on \(queue)\(place.map { ", made \($0)" } ?? "")"
    case .thread: return "a thread\(place.map { ", started \($0)" } ?? "")"
    case .runLoopBlock: return "a block of a run loop\(place.map { ", submitted \($0)" } ?? "")"
    case .runLoopTimer: return "a timer of a run loop\(place.map { ", added \($0)" } ?? "")"
    case .iterations: return "`concurrentPerform`\(place.map { ", called \($0)" } ?? "")"
    case .mainSync: return "`DispatchQueue.main.sync`\(place.map { ", called \($0)" } ?? "")"
    }
  }

  private var queue: String {
    guard let label, !label.isEmpty else { return "a Dispatch queue" }
    return label.hasPrefix("com.apple.root.") ? "a global Dispatch queue" : "the Dispatch queue “\(label)”"
  }
}

/// How long the runs of a search still wait for work that has left them and has not ended.
///
/// All runs of a search share one object, so work that never ends costs two seconds in all, not in each run. Work
/// that runs, or that a busy machine has not started, gets a minute.
final class OutsidePatience: Sendable {
  private let nanosecondsLeft: Locked<Int64>

  init(milliseconds: Int64 = 60_000) { nanosecondsLeft = Locked(milliseconds * 1_000_000) }

  /// Returns whether to wait once more.
  func allowsWait() -> Bool { nanosecondsLeft.withLock { $0 > 0 } }

  /// Counts the time since `start`, and begins the next wait.
  ///
  /// If the work sleeps, a wait counts as 300 ms, so such work gets two seconds and not a minute.
  func spend(since start: inout DispatchTime, isAsleep: Bool = false) {
    let now = DispatchTime.now()
    let waited = Int64(now.uptimeNanoseconds - start.uptimeNanoseconds)
    nanosecondsLeft.withLock { $0 -= isAsleep ? 300_000_000 : waited }
    start = now
  }
}
