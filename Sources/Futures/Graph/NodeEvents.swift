/// The handler of events, for as long as it is set or a node that it saw begin has not ended.
final class EventHandler: PendingEvents, @unchecked Sendable {
  // @unchecked: only a constant.
  private let call: @Sendable (FuturesDiagnostics.Event) -> Void

  init(_ call: @escaping @Sendable (FuturesDiagnostics.Event) -> Void) { self.call = call }

  fileprivate func send(_ event: FuturesDiagnostics.Event) {
    let storage = Trampoline.current.storage
    let isNested = storage.pointee.isInEventObserver
    storage.pointee.isInEventObserver = true
    defer { storage.pointee.isInEventObserver = isNested }
    call(event)
  }

  /// Sends the begin of a node, and its later changes if a state has them.
  /// - Returns: The events of an object with its own state, which sends its changes.
  override func begin(_ entry: PendingEntry, _ object: AnyObject) -> NodeChanges? {
    // Else an observer that makes a promise would be called for it, and make another one.
    guard !Trampoline.current.storage.pointee.isInEventObserver else { return nil }
    switch entry.kind {
    case .promise, .task, .request, .process, .timer: break
    case .wrappedCallback, .callbackStream: return NodeEvents(entry, nil, self)
    case .join, .work, .await, .state: return nil
    }
    guard let state = entry.state(object) else { return nil }
    let events = NodeEvents(entry, state.label, self)
    // First the handler of the cancellation: the other observer can run at once.
    state.cancellationToken.register { events.didChange(.cancelling) }
    state.attach(EndObserver(events))
    return nil
  }
}

/// The events of one node, in their order, for the handler that saw its begin.
///
/// Two threads can cancel and resolve a node at the same time. The one that sends an event sends the other's, too, so that no
/// handler runs under a lock and none is called after the end.
final class NodeEvents: NodeChanges, @unchecked Sendable {
  // @unchecked: `sequence` is locked, and the others are constants.

  private struct Sequence {
    // No array, which would be an allocation for each event.
    var waitingCancellation: FuturesDiagnostics.Event.Kind?
    var waitingEnd: FuturesDiagnostics.Event.Kind?
    var isSending = false
    var isCancelled = false
    var isEnded = false
  }

  private let event: FuturesDiagnostics.Event
  private let handler: EventHandler
  private let sequence = Locked(Sequence())

  /// Sends the begin.
  init(_ entry: PendingEntry, _ label: String?, _ handler: EventHandler) {
    self.handler = handler
    event = FuturesDiagnostics.Event(
      kind: .began,
      id: entry.id,
      node: WaitForGraph.Node.Kind(entry.kind),
      label: label ?? entry.label,
      fileID: entry.fileID.map { String(cString: $0) },
      line: entry.fileID == nil ? nil : Int(entry.line)
    )
    handler.send(event)
  }

  override func didChange(_ change: Change) {
    switch change {
    case .cancelling: send(.cancelled)
    case .cancelled:
      send(.cancelled)
      send(.failed)
    case .resolved: send(.succeeded)
    case .released: send(.released)
    case .failed: send(.failed)
    case .broken: send(.broken)
    }
  }

  private func send(_ kind: FuturesDiagnostics.Event.Kind) {
    let isSender = sequence.withLock { sequence in
      guard !sequence.isEnded, kind != .cancelled || !sequence.isCancelled else { return false }
      if kind == .cancelled {
        (sequence.isCancelled, sequence.waitingCancellation) = (true, kind)
      } else {
        (sequence.isEnded, sequence.waitingEnd) = (true, kind)
      }
      defer { sequence.isSending = true }
      return !sequence.isSending
    }
    guard isSender else { return }
    var event = event
    while let kind = next() {
      event.kind = kind
      handler.send(event)
    }
  }

  private func next() -> FuturesDiagnostics.Event.Kind? {
    sequence.withLock { sequence in
      if let cancellation = sequence.waitingCancellation {
        sequence.waitingCancellation = nil
        return cancellation
      }
      defer { sequence.waitingEnd = nil }
      sequence.isSending = sequence.waitingEnd != nil
      return sequence.waitingEnd
    }
  }
}

/// Observes the end of a state, without being one of the consumers that keep the state running.
final class EndObserver: Consumer, @unchecked Sendable {
  // @unchecked: only a constant.
  private let events: NodeEvents

  init(_ events: NodeEvents) {
    self.events = events
    super.init(kind: .inline) { observer, source, _ in
      unsafeDowncast(observer, to: EndObserver.self).events
        .didChange(source.breakReason != nil ? .broken : source.hasSucceeded ? .resolved : .failed)
    }
    enter(.resultOnly)
  }

  override var isEventObserver: Bool { true }

  deinit { events.didChange(.released) }
}
