/// A captured object that shows the release of its closure.
final class CapturedObject: @unchecked Sendable {
  // @unchecked: only one thread runs at a time, as in the worlds.
  private let report: (String) -> Void

  init(_ report: @escaping (String) -> Void) { self.report = report }

  deinit {
    if ExploredThread.current?.hasLock == true { report("a closure was released under a lock (R3)") }
  }

  func use() {}
}
