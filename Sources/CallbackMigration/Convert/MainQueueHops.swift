/// The hops to the main queue that `--allow main-queue` lets a counterpart leave out.
enum MainQueueHops {
  /// The queue whose hops the counterpart leaves out: that of a parameter, or the main queue.
  ///
  /// The main queue only if the user accepts it for a call, and if each hop only passes the result on.
  static func queue(
    of function: AwaitableFunction,
    in body: ClosedRange<Int>,
    _ calls: [CallbackCall],
    _ tokens: SourceTokens
  ) -> String? {
    if let own = function.called.queue?.name { return own }
    // The calls of a function that is converted have only refusals that the user accepts.
    guard calls.contains(where: { call in call.refusals.contains { $0.risk == .mainQueue } }) else { return nil }
    let names = [function.callbackName, function.failureName].compactMap(\.self)
    let check = ForwardingCheck(tokens: tokens, callbacks: names, queue: QueueHop.mainQueue)
    let hops = body.compactMap { QueueHop(at: $0, of: QueueHop.mainQueue, in: tokens) }
    return !hops.isEmpty && hops.allSatisfy { check.onlyForwards($0.content) } ? QueueHop.mainQueue : nil
  }
}
