extension FuturesDiagnostics {
  /// A change of a node of the graph, for tracing.
  ///
  /// Each node has one `began`, then perhaps `cancelled`, then one event that ends it, all for the observer that got `began`.
  public struct Event: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: String, Sendable, CaseIterable {
      /// The promise, the task, the timer or the wrapped callback was made. Begin the span.
      case began
      /// It was cancelled. It can go on until its work ends.
      case cancelled
      /// It ended with a value; of a wrapped callback, with any result.
      case succeeded
      /// It ended with a failure, also because it was cancelled.
      case failed
      /// It never ends, because its promise was released.
      case broken
      /// Its last reference was released before it ended.
      case released
    }

    /// The kind of the change.
    public internal(set) var kind: Kind

    /// The identity of the node in `WaitForGraph`: the same in all events of a node, and unique in the process.
    public let id: WaitForGraph.Node.ID

    /// The kind of the node.
    public let node: WaitForGraph.Node.Kind

    /// The label of the promise, or the name of the task.
    public let label: String?

    /// The file that made the node, as `#fileID`.
    public let fileID: String?

    /// The line that made the node.
    public let line: Int?

    /// Whether no other event of the node follows.
    public var isEnd: Bool { kind != .began && kind != .cancelled }
  }

  /// Sets the handler of events for the whole process.
  ///
  /// It gets the events of promises, tasks, timers and wrapped callbacks that are made while `tracksPendingFutures` is `true` and
  /// the handler is set. Derived futures and callbacks have none. The later events of a node go to the handler that got its
  /// `began`, also after `tracksPendingFutures` or the handler has changed. Recipes for swift-distributed-tracing, signposts and
  /// swift-log are in <doc:WhatIsStuck>.
  ///
  /// Without a handler, events cost nothing. With one, each promise costs four more allocations. While it is set, the library
  /// reports no unobserved failure of a promise that has events.
  /// A promise, a task or a timer that the handler itself makes, on its own thread, has no events: else the handler would be
  /// called for it, and make another one. The end of a node that began before is sent.
  /// - Parameter handler: Called on the thread that causes the event, outside every lock, after the callbacks of the future. If
  ///   another thread is in the handler with an event of the same node, that thread calls it next. `nil` sets none.
  public static func setEventObserver(_ handler: (@Sendable (Event) -> Void)?) {
    _ = events.exchange(handler.map(EventHandler.init))  // the old one is released here, outside the lock
  }
}
