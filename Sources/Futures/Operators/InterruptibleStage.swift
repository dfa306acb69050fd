/// A stage that resolves as its source, unless an interruption resolves it before: a timeout, a token.
final class InterruptibleStage<Stored: OutcomeStorage>: Stage<Stored>, @unchecked Sendable {
  // @unchecked: as the base class says.
  private let interruption: Interruption
  private let outlivesSource: Bool

  /// - Parameters:
  ///   - source: The state to wait for, to which the caller attaches the stage.
  ///   - interruption: The interruption that can resolve the stage.
  ///   - outlivesSource: Whether the interruption can still resolve the stage after its source is broken.
  init(of source: Unmanaged<FutureState>, _ interruption: Interruption, outlivesSource: Bool) {
    self.interruption = interruption
    self.outlivesSource = outlivesSource
    super.init(of: source) { stage, source, trampoline in
      let stage = unsafeDowncast(stage, to: InterruptibleStage.self)
      if outlivesSource, source.breakReason != nil {
        // The stage now waits for the interruption alone. As the producer, the interruption is cancelled with the stage.
        stage.setProducer(.inputs(interruption))
        // The break does not reach the consumers of the stage, so it is reported here. No report if a context has broken the
        // stage, because it dropped the work of the timer, or if the stage was cancelled.
        if stage.breakReason == nil, !stage.wasCancelled { source.reportWaitForBrokenPromise() }
        return
      }
      stage.resolve(as: source, in: trampoline)
      interruption.cancel()
    }
  }

  /// Makes the orphan `source` an input, so that a cancelled stage leaves it; a weak one, because no producer keeps `source`.
  ///
  /// Returns `nil` while the interruption can still resolve the stage, which then is no orphan.
  override func stateToOrphan(from source: FutureState) -> FutureState? {
    setProducer(.inputs(OrphanedInputs(self, of: source, interruptedBy: interruption)))
    return !outlivesSource && interruption.hasEnded ? self : nil  // a timeout that has ended resolves the stage
  }

  /// Ends the interruption by a token, which cannot cancel the stage any more; makes an orphan of the stage if its source is one.
  func tokenEnded() {
    interruption.fire()
    if let sources = reading({ inputs as? OrphanedInputs }) { orphan(leaving: sources) }
  }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    facts.setOperation("timeout or cancellation token")
    facts.isInterruptible = true
    // A timeout, which outlives the source, has a result of its own. A token has only the failure of a cancelled future.
    facts.canEndWithoutSource = outlivesSource || Cancelled<Stored.Failure>.isExpressible
  }

  override func dropCaptures() { interruption.cancel() }  // stops the timer, or leaves the token
}
