// A debug build detects a wait that its own thread prevents from ending. In a release build these functions do nothing.

extension Trampoline {
  /// Notes that the innermost delivery runs `consumer`.
  @inline(__always)
  func willRun(_ consumer: Unmanaged<Consumer>) {
    #if DEBUG
      storage.pointee.delivery?.pointee.consumer = consumer
    #endif
  }

  /// Notes that the innermost delivery has run its consumer.
  @inline(__always)
  func didRun() {
    #if DEBUG
      storage.pointee.delivery?.pointee.consumer = nil
    #endif
  }
}

#if DEBUG
  extension Trampoline.Delivery {
    /// Whether the running consumer delays the stage of `derivation`: it is that stage, or precedes it in the source's list.
    fileprivate func delays(_ derivation: Derivation) -> Bool {
      let (stage, source) = (derivation.stage, derivation.source)
      guard let consumer, delivers(source) else { return false }
      // If another consumer runs, it delays the stage while the stage is in the list.
      guard consumer.toOpaque() == Unmanaged.passUnretained(stage).toOpaque() else { return source.hasListed(stage) }
      // The stage runs: its transform waits for its own result. A context can run the transform on another thread instead.
      return stage.kind != .queued && stage.kind != .custom
    }
  }

  extension FutureState {
    /// Writes a sentence to standard error if a callback of this thread waits for a state that can resolve only after the
    /// callback has returned.
    final func reportWaitInOwnDelivery(in trampoline: Trampoline) {
      guard waitsForDelivery(in: trampoline) else { return }
      let origin = nearestLabel.map { " (label \"\($0.text)\", \(String(cString: $0.fileID)):\($0.line))" } ?? ""
      FuturesDiagnostics.write(
        """
        A callback waits for a future\(origin) that is derived from the future that runs the callback. The result comes \
        after the callback has returned, so the wait ends without it, or never. Attach a callback to the derived future, \
        or wait outside the callback.
        """
      )
    }

    /// Whether the state can resolve only after the callback that this thread runs now, cancellations aside.
    ///
    /// Walks from the state to its sources, through stages only, and not past a timeout or a token. These, and an input of
    /// a join, can resolve a state earlier.
    private final func waitsForDelivery(in trampoline: Trampoline) -> Bool {
      var state: FutureState = self
      var visited: Set<ObjectIdentifier> = []  // futures can follow each other in a circle
      while visited.insert(ObjectIdentifier(state)).inserted {
        guard let derivation = state.origin.derivation, !NodeFacts(of: derivation.stage).canEndWithoutSource else {
          return false
        }
        if trampoline.deliveries.contains(where: { $0.delays(derivation) }) { return true }
        state = derivation.source
      }
      return false
    }
  }
#endif
