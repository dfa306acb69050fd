extension FuturesDiagnostics {
  /// A change of a node of the graph, for tracing.
  ///
  /// Each node has one `began`, then perhaps `cancelled`, then one event that ends it.
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
  /// the handler is set. Derived futures and callbacks have none. Recipes for swift-distributed-tracing, signposts and
  /// swift-log are in <doc:WhatIsStuck>.
  ///
  /// Without a handler, events cost nothing. With one, each promise costs four more allocations. While it is set, the library
  /// reports no unobserved failure of a promise that has events.
  /// - Parameter handler: Called on the thread that causes the event, outside every lock, after the callbacks of the future.
  ///   `nil` sets none.
  public static func setEventObserver(_ handler: (@Sendable (Event) -> Void)?) {
    _ = events.exchange(handler.map(EventHandler.init))  // the old one is released here, outside the lock
  }
}

/// Makes the events of a node from its entry and from the changes of its state.
private final class EventHandler: PendingEvents, @unchecked Sendable {
  // @unchecked: only a constant.
  private let handler: @Sendable (FuturesDiagnostics.Event) -> Void

  init(_ handler: @escaping @Sendable (FuturesDiagnostics.Event) -> Void) { self.handler = handler }

  private static func began(_ entry: PendingEntry, _ label: String?) -> FuturesDiagnostics.Event {
    FuturesDiagnostics.Event(
      kind: .began,
      id: entry.id,
      node: WaitForGraph.Node.Kind(entry.kind),
      label: label ?? entry.label,
      fileID: entry.fileID.map { String(cString: $0) },
      line: entry.fileID == nil ? nil : Int(entry.line)
    )
  }

  private func send(_ kind: FuturesDiagnostics.Event.Kind, after event: FuturesDiagnostics.Event) {
    var event = event
    event.kind = kind
    handler(event)
  }

  override func didAdd(_ entry: PendingEntry, _ object: AnyObject) {
    switch entry.kind {
    case .promise, .task, .request, .process, .timer: break
    case .wrappedCallback, .callbackStream:
      handler(Self.began(entry, nil))
      // After the handler, so that no other thread sends a later event first.
      _ = PendingFutures.shared.record(.began, of: object)
      return
    case .join, .work, .await, .state: return
    }
    guard let state = entry.state(object) else { return }
    let event = Self.began(entry, state.label)
    handler(event)
    // First the handler of the cancellation: the other observer can run at once.
    state.cancellationToken.register { self.send(.cancelled, after: event) }
    state.attach(EndObserver { kind in self.send(kind, after: event) })
  }

  override func didChange(_ object: AnyObject, _ change: Change) {
    let recorded = PendingFutures.shared.record(change == .cancelling ? .cancelled : .ended, of: object)
    guard let entry = recorded else { return }
    let event = Self.began(entry, nil)
    switch change {
    case .cancelling: send(.cancelled, after: event)
    case .cancelled:
      if entry.lastEvent < .cancelled { send(.cancelled, after: event) }
      send(.failed, after: event)
    case .resolved: send(.succeeded, after: event)
    case .released: send(.released, after: event)
    }
  }
}

/// Observes the end of a state, without being one of the consumers that keep the state running.
private final class EndObserver: Consumer, @unchecked Sendable {
  // @unchecked: the thread that delivers or releases the observer takes `send`, and these happen after each other.
  private var send: ((FuturesDiagnostics.Event.Kind) -> Void)?

  init(_ send: @escaping (FuturesDiagnostics.Event.Kind) -> Void) {
    self.send = send
    super.init(kind: .inline) { observer, source, _ in
      let observer = unsafeDowncast(observer, to: EndObserver.self)
      let kind: FuturesDiagnostics.Event.Kind =
        source.breakReason != nil ? .broken : source.hasSucceeded ? .succeeded : .failed
      let send = observer.send
      observer.send = nil
      send?(kind)
    }
    enter(.resultOnly)
  }

  deinit { send?(.released) }
}
