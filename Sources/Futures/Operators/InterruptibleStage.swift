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
        // The interruption is now the only producer. A cancellation, earlier or later, ends it, unless the stage needs a result.
        if stage.setProducer(.inputs(interruption)), stage.canRepresentCancellation { interruption.cancel() }
        // The break does not reach the consumers of the stage, so it is reported here. A cancelled stage needs no report, and
        // neither does a stage that is broken because its context dropped the work of the timer.
        if stage.breakReason == nil, !stage.wasCancelled { source.reportWaitForBrokenPromise() }
        return
      }
      stage.resolve(as: source, in: trampoline)
      interruption.cancel()
    }
  }

  /// Makes the orphan `source`, which no producer keeps alive, a weak input of the stage; a cancelled stage leaves the input.
  ///
  /// Returns the stage, as the next orphan, if its token can no longer cancel it; `nil` if a token or a timeout can still end it.
  override func stateToOrphan(from source: FutureState) -> FutureState? {
    setProducer(.inputs(OrphanedInputs(self, of: source, interruptedBy: interruption)))
    return !outlivesSource && interruption.hasEnded ? self : nil  // `outlivesSource` is `true` for a timeout
  }

  /// Ends the interruption, because the token can no longer cancel the stage; the stage becomes an orphan if its source is one.
  func tokenEnded() {
    interruption.fire()  // first, because `stateToOrphan` reads `hasEnded` last; not `cancel()`: no handler is left
    if let sources = underLock({ inputs as? OrphanedInputs }) { orphan(leaving: sources) }  // the source is an orphan
  }

  override func describe(into facts: inout NodeFacts, isListed: Bool) {
    facts.setOperation("timeout or cancellation token")
    facts.isInterruptible = true  // also for a token that only cancels the source, which can then resolve
    // A timeout, which outlives the source, has a result of its own. A token has only the failure of a cancelled future.
    facts.canEndWithoutSource = outlivesSource || Cancelled<Stored.Failure>.isExpressible && !interruption.isSurelyOver
  }

  override func dropCaptures() { interruption.cancel() }  // stops the timer, or leaves the token
}
